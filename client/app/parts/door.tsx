import { type ReactNode, useEffect, useState } from "react";
import { useClient, useConnection } from "../../react/index.ts";
import { refusalOf } from "../refusal.ts";
import { Refused } from "./refused.tsx";

/** So long one waits for the server's first word before one is asked for a name, ms. */
const PATIENCE_MS = 500;

/** Asks nobody for a name whom the server would not let in with it. */
export function Door(props: { join: string | null; onCode: (code: string) => void; children: ReactNode }) {
  const { join, onCode, children } = props;
  const client = useClient();
  const connection = useConnection();
  const [late, setLate] = useState(false);
  // Nothing here is in a thread, which would do it.
  useEffect(() => client.connect(), [client]);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  const error = refusalOf(connection);
  if (error) return <Refused error={error} join={join} onAgain={() => client.reconnect()} onCode={onCode} />;
  return late || connection.status !== "connecting" || connection.reason ? children : null;
}
