import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import {
  CothreadProvider,
  createClient,
  useConnection,
  useHeldThread,
  useMessage,
  useMessageIds,
  useThread,
  useThreads,
} from "../client/react/index.ts";
import { scene } from "./kit/scripted-client.ts";

function Page() {
  const { status } = useConnection();
  const thread = useThread("a");
  const ids = useMessageIds(useHeldThread("a"));
  const message = useMessage(thread, "m1");
  const { items } = useThreads({ archived: false });
  return `${status} ${thread.status} ${thread.messages.length} ${ids.length} ${message} ${items.length}`;
}

test("everything renders on a server, where there is no window, and connects to nothing", () => {
  expect(typeof window).toBe("undefined");
  const html = renderToString(
    <CothreadProvider url="http://server.test" user={{ name: "Ann" }}>
      <Page />
    </CothreadProvider>,
  );
  expect(html).toBe("connecting idle 0 0 undefined 0");
  // Without an address too: the page's own is known in the browser only.
  expect(
    renderToString(
      <CothreadProvider>
        <Page />
      </CothreadProvider>,
    ),
  ).toBe(html);
});

test("a server renders the same whatever its client has seen", async () => {
  const { client, server, settle, clock } = scene();
  server.thread("a").message("m1", "one");
  client.thread("a");
  await settle();
  const timers = clock.pending;
  expect(client.peek("a").messages).toHaveLength(1);
  const html = renderToString(
    <CothreadProvider client={client}>
      <Page />
    </CothreadProvider>,
  );
  expect(html).toBe("connecting idle 0 0 undefined 0");
  expect(clock.pending).toBe(timers);
});

test("a client that nobody uses needs nothing of its surroundings", () => {
  const client = createClient();
  expect(client.status).toBe("connecting");
  expect(client.peek("a").status).toBe("idle");
});
