import { useSyncExternalStore } from "react";
import type { ClientSnapshot } from "../index.ts";
import { useClient } from "./provider.ts";

const NOT_YET: ClientSnapshot = { status: "connecting", unsent: 0, user: null, server: null };

/**
 * The connection, for a line that tells people where they are: `status`, `retryAt` (ms since the epoch, for
 * "reconnecting in 3 s"), `reason`, `unsent`; and who the server says this is (`user`) and what it has
 * (`server.agents`), both `null` before the first welcome.
 */
export function useConnection(): ClientSnapshot {
  const client = useClient();
  return useSyncExternalStore(
    client.subscribe,
    () => client.snapshot,
    () => NOT_YET,
  );
}
