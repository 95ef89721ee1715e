import type { Json } from "../shared/protocol/index.ts";
import { PlainState } from "../shared/timeline/plain-state.ts";
import type { Thread } from "./thread.ts";

/** A thread's state in two ways. */
export type PlainAndMerged = {
  /** By plain rules; the same object as `merged` as long as nothing would have been lost. */
  readonly plain: Json;
  /** As it is, without changes of this client that are under way. */
  readonly merged: Json;
};

/**
 * A thread's state as a stock AG-UI client would show it: a snapshot takes the place of everything, and a patch goes
 * to whatever stands at its index. Beside the state itself it tells what would have been lost. It knows what has
 * happened since it follows the thread; whenever the server sends everything anew, both are the same again.
 */
export interface PlainStateView {
  /** Both at this moment, as one object; the same one until either changes. */
  readonly snapshot: PlainAndMerged;
  /** Begins anew with the thread's state of now. @returns stops that; what was learnt stays until then */
  follow(): () => void;
  /** Calls the listener when either has changed. Returns the way out. */
  subscribe(listener: () => void): () => void;
}

/** Makes a {@link PlainStateView}; it learns nothing until it follows. */
export function createPlainState(thread: Thread): PlainStateView {
  const listeners = new Set<() => void>();
  let fold = new PlainState({});
  let snapshot: PlainAndMerged = { plain: {}, merged: {} };
  const look = () => {
    if (fold.state === snapshot.plain && fold.merged === snapshot.merged) return;
    snapshot = { plain: fold.state, merged: fold.merged };
    for (const listener of listeners) listener();
  };
  const begin = (state: Json) => {
    fold = new PlainState(state);
    look();
  };
  return {
    get snapshot() {
      return snapshot;
    },
    follow() {
      begin(thread.state);
      const ends = [
        thread.on("snapshot", begin),
        thread.on("entries", (items) => {
          for (const entry of items) fold.apply(entry);
          look();
        }),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
