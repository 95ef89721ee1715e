import * as Y from "yjs";

/** The server's own client id is this and the document's generation. */
const SERVER_IDS = 64;
/** The first id of peers; those below are the server's. */
const FOREIGN_IDS = 1024;
/** The last generation for which the server has an id. */
export const LAST_GENERATION = FOREIGN_IDS - SERVER_IDS - 1;

/** The Yjs client id the server writes with in a document of a generation. */
export function serverId(generation: number): number {
  return SERVER_IDS + generation;
}

/**
 * [Y8] Puts one struct of the server's id at the beginning of a document that has none. It holds nothing; whoever
 * has had anything of the document has it too, so that a state vector says of which generation a copy is. It is the
 * same one each time: a document that was sent before it was stored may be made again.
 */
export function markGeneration(doc: Y.Doc, generation: number): void {
  const id = serverId(generation);
  if (Y.getState(doc.store, id) > 0) return;
  doc.transact((transaction) => new Y.GC(Y.createID(id, 0), 1).integrate(transaction, 0));
}

/**
 * Whether a peer's document is one of another generation, or has something of the server's that was lost: nothing
 * of it may come in.
 * @param doc what there is
 * @param clocks the peer's state vector
 */
export function isOfOtherGeneration(
  doc: Y.Doc,
  generation: number,
  clocks: ReadonlyMap<number, number>,
): boolean {
  const own = serverId(generation);
  return [...clocks].some(
    ([id, clock]) =>
      id < FOREIGN_IDS &&
      clock > 0 &&
      ((id >= SERVER_IDS && id !== own) || clock > Y.getState(doc.store, id)),
  );
}
