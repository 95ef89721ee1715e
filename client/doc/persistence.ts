import type * as Y from "yjs";

/** What keeps a document in the browser. */
export interface Persistence {
  destroy(): unknown;
}

/** Makes a {@link Persistence}: the class `IndexeddbPersistence` of y-indexeddb, for one. */
export type PersistenceConstructor = new (name: string, doc: Y.Doc) => Persistence;

const key = (thread: string) => `cothread.generation ${thread}`;

/** The generation a thread's document had when it was last kept in this browser; `undefined` when it never was. */
export function keptGeneration(thread: string): number | undefined {
  try {
    const kept = globalThis.localStorage?.getItem(key(thread));
    return kept ? Number(kept) : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers it, where the browser lets us. */
export function keepGeneration(thread: string, generation: number): void {
  try {
    globalThis.localStorage?.setItem(key(thread), String(generation));
  } catch {
    // Without it the document comes from the server.
  }
}
