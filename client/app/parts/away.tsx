import { useEffect, useState } from "react";
import { useClient } from "../../react/index.ts";
import { useSeenConnection } from "../use-seen-connection.ts";
import { words } from "../words.ts";
import { Notice } from "./notice.tsx";

/** A short break is over before one could read this, ms. */
const SHORT_MS = 1_000;

/** Says under the header that the server is away, what becomes of what one writes, and how to try again. */
export function Away() {
  const client = useClient();
  const away = isAway(useSeenConnection().status);
  const [long, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    if (!away) return;
    const timer = setTimeout(() => setLong(true), SHORT_MS);
    return () => clearTimeout(timer);
  }, [away]);
  if (!away || !long) return null;
  return (
    <Notice
      text={words.connection.what.away}
      actions={[{ text: words.connection.now, onClick: () => client.reconnect() }]}
    />
  );
}

/** Stands where a conversation will be: what one waits for, and a way to try again at once. */
export function Waiting() {
  const client = useClient();
  const { status, reason, retryAt } = useSeenConnection();
  const live = status === "live";
  return (
    <div className="waiting" role="status">
      <p>{live ? words.thread.loading : words.thread.waiting}</p>
      {!live && reason && <p className="marginal">{reason}</p>}
      {(isAway(status) || retryAt !== undefined) && (
        <button type="button" onClick={() => client.reconnect()}>
          {words.connection.now}
        </button>
      )}
    </div>
  );
}

const isAway = (status: string) => status === "reconnecting" || status === "offline";
