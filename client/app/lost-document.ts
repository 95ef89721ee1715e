import { useSyncExternalStore } from "react";
import type { Thread } from "../react/index.ts";

/** What stood in documents that were removed while they were edited in this window. */
const lost = new WeakMap<Thread, string>();
const watchers = new Set<() => void>();

/** Keeps what stood in a document that was removed while one was in it; `null` forgets it. */
export function keepLostDocument(thread: Thread, text: string | null): void {
  if (text === null) lost.delete(thread);
  else lost.set(thread, text);
  for (const watcher of watchers) watcher();
}

/** What stood in the document of a thread that was removed while one was in it; `null` when none was. */
export function useLostDocument(thread: Thread): string | null {
  return useSyncExternalStore(watch, () => lost.get(thread) ?? null);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
