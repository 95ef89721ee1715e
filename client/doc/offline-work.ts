import type * as Y from "yjs";
import { carryOver } from "../../shared/json-crdt/carry-over.ts";
import { diffText } from "../../shared/json-crdt/text-diff.ts";
import { NO_TEXTS } from "../../shared/json-crdt/text-paths.ts";
import { DRAFT, stateOf } from "../../shared/json-crdt/y-json.ts";
import type { Json } from "../../shared/protocol/index.ts";
import type { Thread } from "../index.ts";

/** What a document was when the connection was lost. */
export type OfflineWork = { state: Json; draft: string };

/**
 * Notes what a document is, to tell later what was done in it without a connection.
 * @param state the thread's state, as the server has it
 */
export function takeOfflineWork(state: Json, doc: Y.Doc): OfflineWork {
  return { state, draft: doc.getText(DRAFT).toString() };
}

/**
 * Does again in a new document what was done in an old one without a connection. What names
 * something that is gone is not done again.
 * @param old the document they were done in
 */
export function replayWork(before: OfflineWork, old: Y.Doc, thread: Thread, now: Y.Doc): void {
  const patch = carryOver(before.state, stateOf(old), thread.state, NO_TEXTS);
  if (patch.length > 0) thread.patch(patch).catch(() => {});
  const draft = now.getText(DRAFT);
  now.transact(() => {
    for (const [at, deleted, inserted] of diffText(before.draft, old.getText(DRAFT).toString())) {
      const place = Math.min(at, draft.length);
      draft.delete(place, Math.min(deleted, draft.length - place));
      draft.insert(place, inserted);
    }
  });
}
