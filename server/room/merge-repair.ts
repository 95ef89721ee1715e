import * as Y from "yjs";
import { STATE } from "../../shared/json-crdt/y-json.ts";
import { itemOf } from "../../shared/json-crdt/y-read.ts";
import type { Written } from "../../shared/json-crdt/y-write.ts";

/** Ids of elements that were gone from a document before a merge. */
export type GoneBefore = ReadonlySet<string>;

/** Which of the elements that an agent replaces are gone from the document already; to be asked before the merge. */
export function goneBefore(doc: Y.Doc, written: readonly Written[]): GoneBefore {
  const gone = new Set<string>();
  for (const one of written) if (one.kind === "element" && isGone(doc, one.gone)) gone.add(nameOf(one.gone));
  return gone;
}

/**
 * Sets right what Yjs decides by client ids where an agent and somebody else wrote one place ([H5]); call within
 * the transaction of the merge. A scalar the agent set last stands, a container that somebody else put stays,
 * and an element the agent put in the place of one that was gone goes too.
 */
export function repairMerge(doc: Y.Doc, written: readonly Written[], gone: GoneBefore): void {
  for (const one of written) {
    if (one.kind === "member") reassert(doc, one.map, one.key);
    else if (gone.has(nameOf(one.gone))) takeOut(doc, one.made);
  }
}

function reassert(doc: Y.Doc, source: Y.Map<unknown>, key: string): void {
  const target = sameMap(doc, source);
  if (!target) return;
  const [mine, theirs] = [memberItem(source, key), memberItem(target, key)];
  // Taken out again by the agent itself, or a container was put there in the end.
  if (!mine || mine.deleted || mine.content instanceof Y.ContentType) return;
  if (theirs && theirs.id.client === mine.id.client && theirs.id.clock === mine.id.clock) return;
  target.set(key, source.get(key));
}

/** The map of the document that a replica's map is a copy of; none when it is no longer there. */
function sameMap(doc: Y.Doc, source: Y.Map<unknown>): Y.Map<unknown> | null {
  const carrier = itemOf(source);
  if (!carrier) return doc.getMap(STATE);
  const item = Y.getItem(doc.store, carrier.id);
  if (!(item instanceof Y.Item) || !isAlive(item)) return null;
  const { type } = item.content as Y.ContentType;
  return type instanceof Y.Map ? type : null;
}

function takeOut(doc: Y.Doc, id: Y.ID): void {
  const item = Y.getItem(doc.store, id);
  if (!(item instanceof Y.Item) || item.deleted || !(item.parent instanceof Y.Array)) return;
  const position = Y.createAbsolutePositionFromRelativePosition(new Y.RelativePosition(null, null, id), doc);
  if (position) item.parent.delete(position.index, 1);
}

function isAlive(item: Y.Item): boolean {
  for (let at: Y.Item | null = item; at; at = itemOf(at.parent as object)) if (at.deleted) return false;
  return true;
}

function isGone(doc: Y.Doc, id: Y.ID): boolean {
  return Y.getItem(doc.store, id).deleted;
}

function memberItem(map: Y.Map<unknown>, key: string): Y.Item | undefined {
  return map._map.get(key);
}

const nameOf = ({ client, clock }: Y.ID) => `${client}:${clock}`;
