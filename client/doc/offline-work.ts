import * as Y from "yjs";
import { carryOver } from "../../shared/json-crdt/carry-over.ts";
import { valueAt } from "../../shared/json-crdt/place.ts";
import { parsePointer } from "../../shared/json-crdt/pointer.ts";
import { diffText } from "../../shared/json-crdt/text-diff.ts";
import { deltaOfEdits } from "../../shared/json-crdt/text-edits.ts";
import { NO_TEXTS } from "../../shared/json-crdt/text-paths.ts";
import { DRAFT, STATE, stateOf } from "../../shared/json-crdt/y-json.ts";
import type { Json } from "../../shared/protocol/index.ts";
import type { Thread } from "../index.ts";

/** What a document was before it was edited without a connection. */
export type OfflineWork = { state: Json; draft: string };

/**
 * Notes what a document is, to tell later what was done in it without a connection.
 * @param state what the server has of the state
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
  const mine = stateOf(old);
  const patch = carryOver(before.state, mine, thread.state, NO_TEXTS);
  const left = now.transact(() => {
    retype(before.draft, old.getText(DRAFT).toString(), now.getText(DRAFT));
    return patch.filter(({ path, value }) => {
      const tokens = parsePointer(path);
      const [from, to] = [valueAt(before.state, tokens), valueAt(mine, tokens)];
      const text = textAt(now, tokens);
      if (!text || typeof from !== "string" || typeof to !== "string" || to !== value) return true;
      retype(from, to, text);
      return false;
    });
  });
  if (left.length > 0) thread.patch(left).catch(() => {});
}

/** The text field at a path that leads through objects only: one through an array may mean another element now. */
function textAt(doc: Y.Doc, tokens: readonly string[]): Y.Text | undefined {
  let found: unknown = doc.getMap(STATE);
  for (const token of tokens) found = found instanceof Y.Map ? found.get(token) : undefined;
  return found instanceof Y.Text ? found : undefined;
}

/** Changes a text, as others have left it, as it was changed here. */
function retype(from: string, to: string, text: Y.Text): void {
  const theirs = text.toString();
  text.applyDelta(deltaOfEdits(diffText(theirs, mergeTexts(from, to, theirs))));
}

/** What becomes of a text that two have changed at once. */
function mergeTexts(before: string, mine: string, theirs: string): string {
  if (theirs === before) return mine;
  const [one, other] = [new Y.Doc(), new Y.Doc()];
  one.getText().insert(0, before);
  Y.applyUpdate(other, Y.encodeStateAsUpdate(one));
  one.getText().applyDelta(deltaOfEdits(diffText(before, mine)));
  other.getText().applyDelta(deltaOfEdits(diffText(before, theirs)));
  Y.applyUpdate(other, Y.encodeStateAsUpdate(one));
  return other.getText().toString();
}
