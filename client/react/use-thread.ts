import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import type { Json, MessageView, Thread, ThreadOptions, ThreadSnapshot } from "../index.ts";
import { emptySnapshot } from "../thread-snapshot.ts";
import { useClient } from "./provider.ts";

/** What hooks take as a thread: the thread itself, or what `useThread` gave. */
export type ThreadLike = Thread | ThreadView;

/** Everything a thread shows, and what one can do with it. */
export type ThreadView = ThreadSnapshot &
  Pick<
    Thread,
    | ("send" | "note" | "edit" | "move" | "withdraw" | "cancel" | "answer" | "update" | "earlier")
    | ("read" | "setTyping" | "setPresence" | "retry" | "view" | "about" | "on")
  > & {
    /** The thread itself, the same object as long as the id is. */
    readonly thread: Thread;
  };

/**
 * Keeps a thread joined while the component is there, and renders anew only when the id changes. The thread
 * is left two seconds after the last such component is gone. Before the first effect its status is `idle`.
 * Give the result to the hooks below for the parts a component shows.
 */
export function useHeldThread(id: string, options?: ThreadOptions): Thread {
  const client = useClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: options count for the next join, whatever object they are in
  const thread = useMemo(() => client.peek(id, options), [client, id]);
  useEffect(() => thread.hold(), [thread]);
  return thread;
}

/**
 * A thread with all it shows, joined while the component is there. The component renders anew with every
 * change, each word of an answer included; for long conversations take {@link useHeldThread} with
 * `useMessageIds` and `useMessage`.
 */
export function useThread(id: string, options?: ThreadOptions): ThreadView {
  const thread = useHeldThread(id, options);
  const snapshot = useThreadValue(thread, itself);
  return useMemo(() => {
    const { send, note, edit, move, withdraw, cancel, answer, update, earlier } = thread;
    const { read, setTyping, setPresence, retry, view, about, on } = thread;
    const doing = { send, note, edit, move, withdraw, cancel, answer, update, earlier };
    return { ...snapshot, ...doing, read, setTyping, setPresence, retry, view, about, on, thread };
  }, [snapshot, thread]);
}

/**
 * One value of a thread; the component renders anew only when that value is another one.
 * @param select takes the value from a snapshot, e.g. `({ title }) => title`
 * @param equal whether two values are the same; default `Object.is`
 */
export function useThreadValue<T>(
  thread: ThreadLike,
  select: (snapshot: ThreadSnapshot) => T,
  equal: (a: T, b: T) => boolean = Object.is,
): T {
  const source = threadOf(thread);
  const shown = useRef<{ value: T } | null>(null);
  const [read, readEmpty] = useMemo(() => {
    const reader = (now: () => ThreadSnapshot) => {
      let last: { snapshot: ThreadSnapshot; value: T } | undefined;
      // A snapshot gives one value, however often React asks.
      return () => {
        const snapshot = now();
        if (last?.snapshot !== snapshot) {
          const next = select(snapshot);
          const old = last ?? shown.current;
          last = { snapshot, value: old && equal(old.value, next) ? old.value : next };
        }
        return last.value;
      };
    };
    const empty = emptySnapshot(source.id);
    return [reader(() => source.snapshot), reader(() => empty)];
  }, [source, select, equal]);
  const value = useSyncExternalStore(source.subscribe, read, readEmpty);
  useEffect(() => {
    shown.current = { value };
  });
  return value;
}

/** The conversation. Renders anew with every change of a message. */
export function useMessages(thread: ThreadLike): ThreadSnapshot["messages"] {
  return useThreadValue(thread, ({ messages }) => messages);
}

const NO_IDS: readonly string[] = [];

/** Ids of the messages in order. Renders anew only when a message comes, goes or moves. */
export function useMessageIds(thread: ThreadLike): readonly string[] {
  const source = threadOf(thread);
  return useSyncExternalStore(
    source.subscribe,
    () => source.messageIds,
    () => NO_IDS,
  );
}

/**
 * One message with what is known about it (author, time, run, whether it streams or is pending). Renders anew
 * only when this message changes, so that an answer that streams costs one component.
 * @returns `undefined` when the conversation does not have it
 */
export function useMessage(thread: ThreadLike, messageId: string): MessageView | undefined {
  const source = threadOf(thread);
  return useSyncExternalStore(
    source.subscribe,
    () => source.view(messageId),
    () => undefined,
  );
}

/**
 * A part of the shared state. Renders anew only when that part changes: what did not change keeps its identity.
 * @param select takes the part out of the state
 * @param equal whether two parts are the same; default: by identity
 */
export function useSharedState<T>(
  thread: ThreadLike,
  select: (state: Json) => T,
  equal?: (a: T, b: T) => boolean,
): T {
  return useThreadValue(thread, ({ state }) => select(state), equal);
}

/** What agents ask and nobody has answered yet. */
export function useInterrupts(thread: ThreadLike): ThreadSnapshot["interrupts"] {
  return useThreadValue(thread, unanswered, sameItems);
}

const unanswered = ({ interrupts }: ThreadSnapshot) => interrupts.filter(({ answered }) => !answered);
const sameItems = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((item, i) => item === b[i]);

/** Who is here now; one item for each of their clients. */
export function usePeople(thread: ThreadLike): ThreadSnapshot["people"] {
  return useThreadValue(thread, ({ people }) => people);
}

const itself = (snapshot: ThreadSnapshot) => snapshot;
/** The thread behind what hooks take. */
export const threadOf = (thread: ThreadLike) => ("thread" in thread ? thread.thread : thread);
