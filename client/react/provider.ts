import { createContext, createElement, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { type Client, type ClientOptions, createClient } from "../index.ts";

const ClientContext = createContext<Client | null>(null);

/**
 * Give a `client`, which the application then closes itself, or the options for one, which is made here,
 * connects with the first hook that needs it, and is closed two seconds after the provider is gone. Another
 * `url` makes another client; another `user.name` renames the guest; `token` may be a new function each time.
 */
export type CothreadProviderProps = { children?: ReactNode } & (
  | { client: Client }
  | ({ client?: undefined } & ClientOptions)
);

/** Makes a client available to the hooks below it. Renders on a server too, where nothing connects. */
export function CothreadProvider({ children, ...props }: CothreadProviderProps): ReactNode {
  const own = useOwnClient(props.client ? undefined : props);
  return createElement(ClientContext.Provider, { value: props.client ?? own }, children);
}

/** The client of the nearest provider. @throws Error when there is none */
export function useClient(): Client {
  const client = useContext(ClientContext);
  if (!client) throw new Error("There is no CothreadProvider above this component. Put one around your app.");
  return client;
}

/** A client that the provider made, and for what. */
type Own = { client: Client; url: string | undefined; name: string | undefined };
type Latest = { current: ClientOptions | undefined };

function makeOwn(options: ClientOptions, latest: Latest): Own {
  const client = createClient({
    ...options,
    // Asked for at each connection: by then the application may have given another function.
    ...(options.token && { token: () => latest.current?.token?.() ?? "" }),
  });
  return { client, url: options.url, name: options.user?.name };
}

function useOwnClient(options: ClientOptions | undefined): Client | null {
  const latest = useRef(options);
  const [own, setOwn] = useState(() => (options ? makeOwn(options, latest) : null));
  if (options && (!own || own.url !== options.url)) setOwn(makeOwn(options, latest));

  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    if (!own) return;
    // Effects may come back after a long time, as when a hidden part of the page is shown again.
    if (own.client.status === "closed" && latest.current) setOwn(makeOwn(latest.current, latest));
    return own.client.hold();
  }, [own]);
  const { id, name } = options?.user ?? {};
  useEffect(() => {
    if (!own || name === undefined || own.name === name) return;
    own.name = name;
    own.client.setUser({ name, ...(id !== undefined && { id }) });
  }, [own, id, name]);
  return own?.client ?? null;
}
