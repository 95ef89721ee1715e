import type { ConnectionStatus } from "./connection.ts";

/**
 * - `idle`: nobody holds it, it is not joined
 * - `loading`: on its way; what was known before can be shown
 * - `live`: everything the server has is here
 * - `offline`: the connection is down; what was known before can be shown, and what is sent is kept
 * - `failed`: it cannot be had; `error` says why, `retry()` tries again
 */
export type ThreadStatus = "idle" | "loading" | "live" | "offline" | "failed";

/** The status of something that is wanted, by how far it is and how the connection is. */
export function statusOf(phase: string, connection: ConnectionStatus): ThreadStatus {
  if (phase === "live" || phase === "failed") return phase;
  if (connection === "refused" || connection === "closed") return "failed";
  return connection === "live" || connection === "connecting" ? "loading" : "offline";
}
