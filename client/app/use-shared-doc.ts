import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import type { Text } from "yjs";
import type { ThreadDoc } from "../doc/index.ts";
import type { Thread } from "../react/index.ts";
import { peopleColours } from "./thread-context.ts";

/** What people write in together, once it was loaded. */
export type EditorParts = typeof import("./editor/index.ts");

/** A thread's document, and what it is edited with. */
export type SharedDoc = { readonly doc: ThreadDoc; readonly parts: EditorParts };

let loading: Promise<EditorParts> | undefined;

/** Loads the editor, once for all. Rejects where it cannot be had; the next one who asks tries again. */
function loadParts(): Promise<EditorParts> {
  loading ??= import("./editor/index.ts").catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/**
 * The document of a thread, for as long as the thread is shown.
 * @param me who sits in front of this window, as the server knows them
 * @returns `null` until the editor is loaded and everything the server has is here for the first time
 */
export function useSharedDoc(thread: Thread, me: { id: string; name: string } | undefined): SharedDoc | null {
  const [shared, setShared] = useState<SharedDoc | null>(null);
  useEffect(() => {
    let doc: ThreadDoc | undefined;
    let isOver = false;
    const begin = async () => {
      const parts = await loadParts();
      if (isOver) return;
      doc = parts.openDoc(thread);
      await doc.ready;
      if (!isOver) setShared({ doc, parts });
    };
    // Without it one writes as one does alone.
    begin().catch(() => {});
    return () => {
      isOver = true;
      setShared(null);
      doc?.close();
    };
  }, [thread]);

  const id = me?.id;
  const name = me?.name;
  const replica = useReplica(shared);
  useEffect(() => {
    if (!shared || !replica || id === undefined) return;
    const color = peopleColours.of(id);
    // For clients that take colours from others; this app gives its own.
    shared.doc.awareness.setLocalStateField("user", { id, name, color, colorLight: `${color}3d` });
  }, [shared, replica, id, name]);
  return shared;
}

/** The Yjs document of the moment: another one after the server has made it anew. */
export function useReplica(shared: SharedDoc | null): ThreadDoc["doc"] | undefined {
  return useSyncExternalStore(shared ? bound(shared.doc) : never, () => shared?.doc.doc);
}

/** Whether something that was written in it here is not stored yet. */
export function useUnsaved({ doc }: SharedDoc): boolean {
  return useSyncExternalStore(bound(doc), () => doc.unsaved);
}

/** The text at a pointer into the state; `undefined` where there is none that several can write in at once. */
export function useSharedText(shared: SharedDoc | null, pointer: string): Text | undefined {
  const replica = useReplica(shared);
  const subscribe = useCallback(
    (listener: () => void) => {
      replica?.on("update", listener);
      return () => replica?.off("update", listener);
    },
    [replica],
  );
  return useSyncExternalStore(subscribe, () => shared?.doc.text(pointer));
}

const never = () => () => {};

const subscribes = new WeakMap<ThreadDoc, (listener: () => void) => () => void>();

/** One function for each document, so that nobody subscribes anew whenever something is drawn. */
function bound(doc: ThreadDoc): (listener: () => void) => () => void {
  const known = subscribes.get(doc) ?? ((listener) => doc.subscribe(listener));
  subscribes.set(doc, known);
  return known;
}
