import { byteSize } from "../../shared/byte-size.ts";
import type { AGUIEvent, Entry, NewEntry } from "../../shared/protocol/index.ts";
import { type Timeline, takeFold } from "../../shared/timeline/index.ts";
import { RunFailure } from "../run/failure.ts";
import type { LogWriter } from "../run/ingest.ts";
import type {
  AckRow,
  Batch,
  EncodedEntry,
  InputRow,
  ReadRow,
  StateWrite,
  ThreadChange,
} from "../store/store.ts";
import type { LoggedText } from "./port.ts";
import type { SdkLane } from "./sdk-lane.ts";

/** Where a room's log stands, as far as it is committed. */
export type LogPlace = { epoch: string; seq: number; mark: string; generation: number; ownerEpoch: number };

/**
 * What a room gathers between two commits ([L3]): entries, rows and acks, and what is to be done when they
 * are committed. Entries are applied to the timeline at once, so that what follows in the same turn sees
 * them; nobody outside does.
 */
export class Turn implements LogWriter {
  readonly timeline: Timeline;
  readonly at: number;
  readonly entries: EncodedEntry[] = [];
  readonly acks: AckRow[] = [];
  private readonly inputs = new Map<string, InputRow>();
  private readonly reads = new Map<string, ReadRow>();
  readonly committed: (() => void)[] = [];
  private readonly lane: SdkLane;
  private readonly sdk: string[] = [];
  private seq: number;
  private info: ThreadChange | undefined;
  /** Set when the stored fold should be brought up to this turn. */
  foldDue = false;
  /** Set by the turn that creates the thread. */
  create: { epoch: string; at: number } | undefined;

  /**
   * @param at time of the turn, ms; every entry of a turn has it
   * @param lane what the SDK is sent of the log so far
   */
  constructor(timeline: Timeline, at: number, lane: SdkLane) {
    this.timeline = timeline;
    this.lane = lane;
    this.at = at;
    this.seq = timeline.seq;
  }

  /** Seq of the last entry logged so far. */
  get lastSeq(): number {
    return this.seq;
  }

  log(entry: NewEntry, maxBytes = Number.POSITIVE_INFINITY): void {
    const placed = { seq: this.seq + 1, at: this.at, ...entry } as Entry;
    const json = encode(placed);
    refuseLarge(json, maxBytes);
    this.timeline.apply(placed);
    this.seq += 1;
    this.entries.push({ seq: placed.seq, json });
    if (this.lane.carries(placed)) this.sdk.push(json);
  }

  /** What was logged, for those who listen. */
  text(): LoggedText {
    return { json: this.entries.map(({ json }) => json), sdk: this.sdk };
  }

  /** Has something done once this turn is committed, before anybody is told. */
  onCommitted(work: () => void): void {
    this.committed.push(work);
  }

  /** Upserts an input's row. */
  input(row: InputRow): void {
    this.inputs.set(row.inputId, row);
  }

  /** Upserts how far somebody has read. */
  read(row: ReadRow): void {
    this.reads.set(row.user, row);
  }

  /** Whether a thread list shows something else after this turn. */
  get listed(): boolean {
    return this.entries.length + this.reads.size > 0 || this.create !== undefined;
  }

  /** Changes what thread lists show. */
  setInfo(change: ThreadChange): void {
    this.info = { ...this.info, ...change };
  }

  /**
   * @param state what the turn does to the shared document; `null` when nothing
   * @returns the batch to commit, or `null` when nothing is to be stored
   */
  batch(place: LogPlace, key: Batch["key"], mark: string, state: StateWrite | null): Batch | null {
    const empty =
      !state &&
      this.entries.length + this.acks.length + this.inputs.size + this.reads.size === 0 &&
      !this.info &&
      !this.create &&
      !this.foldDue;
    if (empty) return null;
    return {
      key,
      ownerEpoch: place.ownerEpoch,
      mark,
      after: place.seq,
      entries: this.entries,
      acks: this.acks,
      inputs: [...this.inputs.values()],
      reads: [...this.reads.values()],
      ...(this.info && { info: this.info }),
      ...(this.create && { create: this.create }),
      ...(state && { state }),
      ...(this.foldDue && { fold: { seq: this.seq, ...takeFold(this.timeline) } }),
    };
  }
}

/** @throws RunFailure AGENT_INVALID when JSON cannot hold it */
export function encode(value: Entry | AGUIEvent): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new RunFailure("AGENT_INVALID", "The agent sent a value that JSON cannot hold.", error);
  }
}

/** @throws RunFailure AGENT_TOO_BIG when an event, as JSON, is over its limit */
export function refuseLarge(json: string, maxBytes: number): void {
  // UTF-16 length first: it is free, and most entries are far below any limit.
  if (json.length * 3 > maxBytes && Buffer.byteLength(json) > maxBytes)
    throw new RunFailure("AGENT_TOO_BIG", `The agent sent an event of more than ${byteSize(maxBytes)}.`);
}
