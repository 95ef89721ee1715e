import type { CommitResult } from "../store/store.ts";
import { Rejection } from "./port.ts";

/** What somebody is told whose request was not stored, or may have been. */
export function notStored(code: (CommitResult & { ok: false })["code"]): Rejection {
  const sentence =
    code === "unknown"
      ? "The server cannot tell whether this was stored. Try again: what was stored is not done twice."
      : "The server could not store this. Nothing was changed; try again.";
  return new Rejection("store_failed", sentence);
}
