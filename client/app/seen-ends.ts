import { useSyncExternalStore } from "react";
import type { Author, EntryOf, Thread, TurnEnd } from "../react/index.ts";
import { nameOf } from "./people.ts";

/** A run that ended without a message, as this window has seen it. */
export type SeenEnd = {
  run: { id: string; agent: string };
  by: Author;
  end: TurnEnd;
  /** The message it stands behind. */
  after: string | undefined;
};

/** What this window has seen of the ends of runs. Values are new ones when they changed. */
export type SeenEnds = {
  silent(): readonly SeenEnd[];
  stoppedBy(runId: string): string | undefined;
  subscribe(listener: () => void): () => void;
};

/**
 * Follows the ends of a thread's runs for what the messages cannot tell: runs that ended before they said
 * anything, and who stopped a run.
 */
export function createSeenEnds(thread: Pick<Thread, "on" | "messageIds" | "about">): SeenEnds {
  const stops = new Map<string, string>();
  const starts = new Map<string, NonNullable<EntryOf<"event">["start"]>>();
  /** Input → its last message. */
  const asked = new Map<string, string>();
  const listeners = new Set<() => void>();
  let silent: readonly SeenEnd[] = [];

  const ended = ({ run, at, by, event }: EntryOf<"event">) => {
    const { type, code, message, outcome } = event as {
      type: string;
      code?: string;
      message?: string;
      outcome?: { type: TurnEnd["outcome"] };
    };
    const end: TurnEnd =
      type === "RUN_ERROR"
        ? { outcome: "error", at, ...(code && { code }), ...(message && { message }) }
        : { outcome: outcome?.type ?? "success", at };
    if (end.outcome === "cancelled" && by) stops.set(run, nameOf(by));
    const start = starts.get(run);
    const { messageIds } = thread;
    if (!start || messageIds.some((id) => thread.about(id)?.runId === run)) return;
    const after = asked.get(start.inputId ?? "") ?? messageIds.at(-1);
    silent = [...silent, { run: { id: run, agent: start.agent }, by: start.by, end, after }];
  };

  thread.on("entries", (items) => {
    for (const entry of items) {
      if (entry.kind === "message") asked.set(entry.turn, entry.message.id);
      if (entry.kind !== "event") continue;
      if (entry.start) starts.set(entry.run, entry.start);
      if (["RUN_ERROR", "RUN_FINISHED"].includes(entry.event.type)) ended(entry);
    }
    for (const listener of listeners) listener();
  });
  return {
    silent: () => silent,
    stoppedBy: (runId) => stops.get(runId),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const byThread = new WeakMap<Thread, SeenEnds>();

function seenEndsOf(thread: Thread): SeenEnds {
  const known = byThread.get(thread) ?? createSeenEnds(thread);
  byThread.set(thread, known);
  return known;
}

/** Runs that ended without a word while this window was looking. */
export function useSilentEnds(thread: Thread): readonly SeenEnd[] {
  const seen = seenEndsOf(thread);
  return useSyncExternalStore(seen.subscribe, seen.silent);
}

/** The name of who stopped a run, where this window has seen it. */
export function useStoppedBy(thread: Thread, runId: string): string | undefined {
  const seen = seenEndsOf(thread);
  return useSyncExternalStore(seen.subscribe, () => seen.stoppedBy(runId));
}
