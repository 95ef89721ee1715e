import * as Y from "yjs";
import type { Json } from "../protocol/agui.ts";
import type { FineOp } from "./fine-patch.ts";
import { deltaOfEdits } from "./text-edits.ts";
import type { TextPaths } from "./text-paths.ts";
import { AGUI, ROOT, STATE, toY } from "./y-json.ts";

/**
 * What was written where two writers may meet, by the ids Yjs gave it: what a merge may have to repair ([H5]).
 *
 * - `member`: a scalar in a map
 * - `element`: an element put in the place of another one, which is gone
 */
export type Written =
  | { kind: "member"; map: Y.Map<unknown>; key: string }
  | { kind: "element"; gone: Y.ID; made: Y.ID };

/**
 * Writes changes into the Y types of a document; call within a transaction. They must apply to the state the
 * document holds: Yjs cannot take back half of them.
 * @returns what was written where another writer may have written too, in order
 */
export function writeFine(doc: Y.Doc, ops: readonly FineOp[], texts: TextPaths): Written[] {
  const written: Written[] = [];
  for (const op of ops) write(doc, op, texts, written);
  return written;
}

function write(doc: Y.Doc, op: FineOp, texts: TextPaths, written: Written[]): void {
  if (op.kind === "root") return writeRoot(doc, op.value, texts);
  const { path } = op;
  const parent = typeAt(doc, path.slice(0, -1));
  const key = path.at(-1) as string;
  if (op.kind === "text") {
    const text = child(parent, key);
    if (!(text instanceof Y.Text)) throw new Error("there is no text where one is edited");
    text.applyDelta(deltaOfEdits(op.edits));
    return;
  }
  if (parent instanceof Y.Map) {
    if (op.kind === "remove") return parent.delete(key);
    const value = toY(op.value, path, texts);
    parent.set(key, value);
    if (!(value instanceof Y.AbstractType)) written.push({ kind: "member", map: parent, key });
    return;
  }
  if (!(parent instanceof Y.Array)) throw new Error("there is nothing that could hold this");
  const index = Number(key);
  if (op.kind === "remove") return parent.delete(index, 1);
  if (op.kind === "insert") return parent.insert(index, [toY(op.value, path, texts)]);
  const gone = idAt(parent, index);
  parent.delete(index, 1);
  parent.insert(index, [toY(op.value, path, texts)]);
  written.push({ kind: "element", gone, made: idAt(parent, index) });
}

function writeRoot(doc: Y.Doc, value: Json, texts: TextPaths): void {
  const [agui, state] = [doc.getMap(AGUI), doc.getMap(STATE)];
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    agui.set(ROOT, value);
    return;
  }
  agui.delete(ROOT);
  for (const key of [...state.keys()]) if (!Object.hasOwn(value, key)) state.delete(key);
  for (const [key, item] of Object.entries(value)) state.set(key, toY(item, [key], texts));
}

/** The Y type at a path below the state. */
function typeAt(doc: Y.Doc, path: readonly string[]): unknown {
  let found: unknown = doc.getMap(STATE);
  for (const token of path) found = child(found, token);
  return found;
}

function child(parent: unknown, token: string): unknown {
  if (parent instanceof Y.Map) return parent.get(token);
  if (parent instanceof Y.Array) return parent.get(Number(token));
  return undefined;
}

function idAt(array: Y.Array<unknown>, index: number): Y.ID {
  const { item } = Y.createRelativePositionFromTypeIndex(array, index);
  if (!item) throw new Error("there is no such element");
  return item;
}
