import * as Y from "yjs";
import type { Json, JsonPatch } from "../protocol/agui.ts";
import { formatPointer } from "./pointer.ts";
import { editsOfDelta, type TextEdit } from "./text-edits.ts";
import { AGUI, ROOT, STATE, stateOf, toJson } from "./y-json.ts";

/** What one transaction did to the state: a patch, then edits of text fields at the paths behind it. */
export type StateChange = { patch: JsonPatch; texts: { path: string; edits: TextEdit[] }[] };

/** From so many elements on an array that lost all it had is said to be empty, not each of them to be gone. */
const EMPTIED = 1_000;

type AnyEvent = Y.YEvent<Y.AbstractType<unknown>>;

/**
 * Reads what a transaction changed of the state out of its events ([H10]), in time that grows with the change,
 * not with the state. (Yjs itself walks an array to find the index of a change in it.)
 */
export function readChange(transaction: Y.Transaction): StateChange {
  const { doc } = transaction;
  const change: StateChange = { patch: [], texts: [] };
  const rootChanged = transaction.changed.get(doc.getMap(AGUI) as never)?.has(ROOT) ?? false;
  if (rootChanged) return { patch: [{ op: "replace", path: "", value: stateOf(doc) }], texts: [] };
  if (doc.getMap(AGUI).has(ROOT)) return change;
  const state = doc.getMap(STATE);
  const events = (transaction.changedParentTypes.get(state as never) ?? []) as unknown as AnyEvent[];
  // Containers first: with what they gained and lost applied, the path Yjs gives for what lies in them holds.
  const known = events.filter(({ target }) => !isNew(target, transaction, state));
  const indexes = indexesOf(known, state);
  const placed = known
    .map((event) => ({ event, path: pathOf(event, state, indexes) }))
    .sort((a, b) => a.path.length - b.path.length);
  for (const { event, path } of placed) readEvent(event, path, change);
  return change;
}

function readEvent(event: AnyEvent, path: (string | number)[], change: StateChange): void {
  const { target } = event;
  if (target instanceof Y.Text) {
    const edits = editsOfDelta(event.delta as never);
    if (edits.length > 0) change.texts.push({ path: formatPointer(path), edits });
  } else if (target instanceof Y.Map) {
    for (const [key, { action }] of event.changes.keys) {
      const place = formatPointer([...path, key]);
      if (action === "delete") change.patch.push({ op: "remove", path: place });
      else {
        const op = action === "add" ? "add" : "replace";
        change.patch.push({ op, path: place, value: toJson(target.get(key)) });
      }
    }
  } else readArray(event, path, change.patch);
}

function readArray(event: AnyEvent, path: (string | number)[], patch: JsonPatch): void {
  const { delta } = event.changes;
  const isEmpty = (event.target as Y.Array<unknown>).length === 0;
  if (isEmpty && delta.length === 1 && (delta[0]!.delete ?? 0) >= EMPTIED) {
    patch.push({ op: "replace", path: formatPointer(path), value: [] });
    return;
  }
  let index = 0;
  for (const part of delta) {
    if (part.retain !== undefined) index += part.retain;
    else if (part.delete !== undefined) {
      const place = formatPointer([...path, index]);
      for (let i = 0; i < part.delete; i += 1) patch.push({ op: "remove", path: place });
    } else {
      for (const value of part.insert as unknown[]) {
        patch.push({ op: "add", path: formatPointer([...path, index]), value: toJson(value) as Json });
        index += 1;
      }
    }
  }
}

/** Whether a type came with the transaction, alone or inside another: then it is part of a value that was put. */
function isNew(type: Y.AbstractType<unknown>, transaction: Y.Transaction, state: object) {
  for (let at: object | null = type; at && at !== state; at = parentOf(at)) {
    const item = itemOf(at);
    if (!item || item.deleted) return true;
    const known = transaction.beforeState.get(item.id.client) ?? 0;
    if (item.id.clock >= known) return true;
  }
  return false;
}

/** Where a type stands below the state, after the transaction. */
function pathOf(
  { target }: AnyEvent,
  state: object,
  indexes: ReadonlyMap<Y.Item, number>,
): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: object = target; at !== state; ) {
    const item = itemOf(at) as Y.Item;
    path.unshift(item.parentSub ?? (indexes.get(item) as number));
    at = item.parent as object;
  }
  return path;
}

/** The indexes of all elements on the way from the state to what changed; each array is walked once. */
function indexesOf(events: readonly AnyEvent[], state: object): Map<Y.Item, number> {
  const wanted = new Map<object, Set<Y.Item>>();
  for (const { target } of events) {
    for (let at: object = target; at !== state; ) {
      const item = itemOf(at) as Y.Item;
      at = item.parent as object;
      if (item.parentSub !== null) continue;
      const items = wanted.get(at);
      if (items) items.add(item);
      else wanted.set(at, new Set([item]));
    }
  }
  const indexes = new Map<Y.Item, number>();
  for (const [array, items] of wanted) {
    let index = 0;
    let left = items.size;
    for (let at = (array as { _start: Y.Item | null })._start; at && left > 0; at = at.right) {
      if (items.has(at)) {
        indexes.set(at, index);
        left -= 1;
      }
      if (!at.deleted && at.countable) index += at.length;
    }
  }
  return indexes;
}

/** The item that carries a type; root types have none. */
export function itemOf(type: object): Y.Item | null {
  return (type as { _item: Y.Item | null })._item;
}

function parentOf(type: object): object | null {
  return (itemOf(type)?.parent ?? null) as object | null;
}
