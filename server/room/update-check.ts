import * as Y from "yjs";
/** What was found out about an update. */
export type UpdateVerdict =
  | { ok: true; ids: number[]; deletes: boolean; empty: boolean }
  | {
      ok: false;
      kind:
        | "malformed"
        | "too_big"
        | "not_json"
        | "bad_key"
        | "too_deep"
        | "too_costly"
        | "reserved_id"
        | "missing";
      reason: string;
    };
/** Checks an update. */
export function checkUpdate(_doc: Y.Doc, update: Uint8Array): UpdateVerdict {
  try {
    Y.decodeUpdate(update);
    return { ok: true, ids: [], deletes: true, empty: false };
  } catch {
    return { ok: false, kind: "malformed", reason: "That was no update." };
  }
}
