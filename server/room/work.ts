import type { CommitResult } from "../store/store.ts";
import type { StoredState } from "./stored-state.ts";
import type { Turn } from "./turn.ts";

/** A piece of work in a room's turn; `done` is called when the turn is committed, and gives the answer. */
export type Work = {
  prepare: (() => Promise<void>) | undefined;
  apply(turn: Turn): () => unknown;
  resolve(value: unknown): void;
  reject(error: Error): void;
};

/** Why a turn was not stored. */
export type CommitFailure = CommitResult & { ok: false };

/** The turn that is being committed. */
export type Current = {
  turn: Turn;
  mark: string;
  work: { item: Work; done: () => unknown }[];
  state: ReturnType<StoredState["take"]>;
  broken?: Error;
};
