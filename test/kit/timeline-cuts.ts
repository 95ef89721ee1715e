import type { AGUIEvent, Entry, Message, Snapshot } from "../../shared/protocol/index.ts";
import {
  addEarlier,
  type FoldRow,
  type FoldRows,
  fromFold,
  fromSnapshot,
  prelude,
  StockTail,
  Timeline,
  takeEarlier,
  takeFold,
  takeSnapshot,
  windowStart,
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

  take(timeline: Timeline): FoldRows {
    const rows = takeFold(timeline);
    const { rest, messages, turns, dropped } = rows;
    this.rest = rest;
    this.seq = timeline.seq;
    for (const row of messages) this.messages.set(row.id, row);
    for (const row of turns) this.turns.set(row.id, row);
    for (const id of dropped) this.messages.delete(id);
    return rows;
  }

  /** Breaks the row of a message. */
  spoil(id: string): void {
    const row = this.messages.get(id);
    if (row) row.json = row.json.slice(1);
  }

  load(): Timeline {
    const inOrder = (rows: Map<string, FoldRow>) => [...rows.values()].sort((a, b) => a.place - b.place);
    const { rest, seq } = this;
    return fromFold({ rest, seq, messages: inOrder(this.messages), turns: inOrder(this.turns) });
  }
}

/** The events a stock client gets that joins behind the first `cut` entries and stays to the end. */
export function joinedAt(entries: readonly Entry[], cut: number, thread: string): AGUIEvent[] {
  const timeline = folded(entries.slice(0, cut));
  const snapshot = sent(timeline, undefined, thread);
  const headMoves = entries.some(({ kind }) => kind === "head");
  const tail = new StockTail(thread, headMoves ? timeline : fromSnapshot(snapshot));
  return [...prelude(snapshot), ...entries.slice(cut).flatMap((entry) => tail.push(entry))];
}

/** A thread and those who read it, as a server and its clients keep it. */
export class Room {
  readonly timeline = new Timeline();
  readonly readers: Reader[] = [];

  join(history?: number): Reader {
    const reader = new Reader(this.timeline, history);
    this.readers.push(reader);
    return reader;
  }

  /** Applies the next entry and tells everybody: by the entry, or by a new snapshot where it says too little. */
  take(entry: Entry): void {
    const { timeline } = this;
    const shows = entry.kind === "head" && entry.turn !== null && !timeline.turns.visible(entry.turn);
    timeline.apply(entry);
    const { reach } = timeline.messages;
    timeline.messages.reach = Number.POSITIVE_INFINITY;
    for (const reader of this.readers) reader.hear(entry, shows || reach < reader.window);
  }
}

/** A client that may hold only the newest messages, and may be behind. */
export class Reader {
  private readonly server: Timeline;
  private readonly history: number | undefined;
  private kept: (() => void)[] = [];
  timeline!: Timeline;
  /** From which place on it holds the thread's messages, as the server knows it. */
  window = 0;
  /** The same after `earlier` pages. */
  from = 0;
  snapshots = 0;

  constructor(server: Timeline, history?: number) {
    this.server = server;
    this.history = history;
    this.reload();
    this.catchUp();
  }

  hear(entry: Entry, isTooLittle: boolean): void {
    if (isTooLittle) return this.reload();
    this.kept.push(() => this.timeline.apply(entry));
  }

  /** Reads the oldest `count` frames that have not been read yet; all of them by default. */
  catchUp(count = this.kept.length): void {
    for (const read of this.kept.splice(0, count)) read();
  }

  /** Asks for older messages; the answer overtakes the frames that were not read yet. */
  page(limit: number): void {
    const before = this.timeline.slots[0]?.message.id;
    const page = before === undefined ? null : takeEarlier(this.server, before, limit);
    if (!page) return;
    addEarlier(this.timeline, throughJson(page), this.server.seq);
    const first = page.messages[0];
    if (first) this.from = Math.min(this.from, this.server.messages.get(first.id)?.place ?? 0);
  }

  /** What it must show when it is not behind: the thread's messages from its window on. */
  get expected(): Message[] {
    return this.server.slots.filter(({ place }) => place >= this.from).map(({ message }) => message);
  }

  private reload(): void {
    this.snapshots += 1;
    const snapshot = sent(this.server, this.history);
    const window = windowStart(this.server, snapshot);
    // From now on entries are judged by what this snapshot holds, read or not.
    this.window = window;
    this.kept.push(() => {
      this.timeline = fromSnapshot(snapshot);
      this.from = window;
    });
  }
}
