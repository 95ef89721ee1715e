import type { AGUIEvent, Entry, Snapshot } from "../../shared/protocol/index.ts";
import {
  type FoldRow,
  type FoldRows,
  fromFold,
  fromSnapshot,
  prelude,
  StockTail,
  Timeline,
  takeFold,
  takeSnapshot,
} from "../../shared/timeline/index.ts";

/** What a value is after it was sent or stored. */
export const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** A new timeline with entries applied. */
export function folded(entries: readonly Entry[], onto = new Timeline()): Timeline {
  for (const entry of entries) onto.apply(entry);
  return onto;
}

/** A snapshot of a timeline as it arrives at a client. */
export function sent(timeline: Timeline, history?: number, thread = "t"): Snapshot {
  const place = { thread, epoch: "e", seq: timeline.seq, mark: "m" };
  return throughJson(takeSnapshot(timeline, place, history));
}

/** All that a server knows of a thread beyond its snapshot: hidden messages, places, usage, calls of runs. */
export function inner(timeline: Timeline): unknown {
  return throughJson({
    slots: timeline.messages.slots,
    turns: [...timeline.turns.all()],
    runs: timeline.runs.all().map((run) => ({ ...run, open: [...run.open], calls: [...run.calls] })),
    usage: timeline.usage,
  });
}

/** A thread's stored fold, kept as a store keeps it. */
export class StoredFold {
  private rest = "";
  private seq = 0;
  private readonly messages = new Map<string, FoldRow>();
  private readonly turns = new Map<string, FoldRow>();

  take(timeline: Timeline): void {
    const { rest, messages, turns, dropped }: FoldRows = takeFold(timeline);
    this.rest = rest;
    this.seq = timeline.seq;
    for (const row of messages) this.messages.set(row.id, row);
    for (const row of turns) this.turns.set(row.id, row);
    for (const id of dropped) this.messages.delete(id);
  }

  load(): Timeline {
    const inOrder = (rows: Map<string, FoldRow>) => [...rows.values()].sort((a, b) => a.place - b.place);
    const { rest, seq } = this;
    return fromFold({ rest, seq, messages: inOrder(this.messages), turns: inOrder(this.turns) });
  }
}

/** The events a stock client gets that joins behind the first `cut` entries and stays to the end. */
export function joinedAt(entries: readonly Entry[], cut: number, thread: string): AGUIEvent[] {
  const snapshot = sent(folded(entries.slice(0, cut)), undefined, thread);
  const tail = new StockTail(thread, fromSnapshot(snapshot));
  return [...prelude(snapshot), ...entries.slice(cut).flatMap((entry) => tail.push(throughJson(entry)))];
}
