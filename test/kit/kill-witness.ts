import { expect } from "vitest";
import type {
  Cursor,
  DownFrame,
  DownFrameOf,
  Entry,
  EntryOf,
  SubmitAck,
  UpFrameOf,
} from "../../shared/protocol/index.ts";

type ChangeType = "submit" | "withdraw" | "cancel" | "update";
type Sent<T extends ChangeType> = Omit<UpFrameOf<T>, "ref">;

/** A changing request as it was sent; `ref` is given on sending. */
export type Change = { [T in ChangeType]: Sent<T> }[ChangeType];

/** A request that was answered with an ack, who sent it, and the ack's fields. */
export type Acknowledged = { user: string; frame: Change; fields: { seq: number; [field: string]: unknown } };

/** Refusals that are right whatever the moment of the kill; anything else is a fault. */
const MAY_SAY: Record<ChangeType, readonly string[]> = {
  submit: ["busy"],
  withdraw: ["gone"],
  cancel: ["not_running"],
  update: [],
};

/** What clients saw, over all rounds of kills: nothing in it may ever be missing or different. */
export class KillWitness {
  readonly entries = new Map<string, Map<number, string>>();
  readonly acked: Acknowledged[] = [];
  readonly cursors = new Map<string, Cursor>();
  /** Every title that was sent, acknowledged or not. */
  readonly titles = new Set<string>();

  /** Takes note of a frame that a client got. */
  see(frame: DownFrame): void {
    if (frame.type === "joined" && !frame.recovered) this.cursors.set(frame.thread, at(frame));
    if (frame.type === "snapshot") this.cursors.set(frame.thread, at(frame));
    if (frame.type !== "entries") return;
    const log = this.entries.get(frame.thread) ?? new Map<number, string>();
    this.entries.set(frame.thread, log);
    for (const entry of frame.items) log.set(entry.seq, JSON.stringify(entry));
    const { epoch = "" } = this.cursors.get(frame.thread) ?? {};
    this.cursors.set(frame.thread, { epoch, seq: frame.seq, mark: frame.mark });
  }

  /** Takes note of an answer. @throws AssertionError when it is a refusal that has no reason */
  answered(user: string, frame: Change, answer: DownFrameOf<"ack"> | DownFrameOf<"reject">): void {
    if (answer.type === "reject") {
      expect(MAY_SAY[frame.type], `${frame.type} was refused: ${answer.message}`).toContain(answer.code);
      return;
    }
    const { type: _type, ref: _ref, ...fields } = answer;
    this.acked.push({ user, frame, fields: fields as Acknowledged["fields"] });
  }

  /** How many requests of a type were acknowledged. */
  count(type: ChangeType): number {
    return this.acked.filter(({ frame }) => frame.type === type).length;
  }

  /** Compares a thread's whole log with everything that was seen and acknowledged. */
  check(thread: string, log: Entry[]): void {
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1));
    for (const [seq, json] of this.entries.get(thread) ?? [])
      expect(JSON.stringify(log[seq - 1]), `${thread} ${seq}: an entry that a client saw`).toBe(json);
    const read = new LogIndex(log);
    let titled = 0;
    for (const { frame, fields } of this.acked) {
      if (frame.thread !== thread) continue;
      expect(fields.seq, `${thread}: the log reaches what was acknowledged`).toBeLessThanOrEqual(log.length);
      if (frame.type === "submit") checkSubmit(read, frame, fields as SubmitAck);
      if (frame.type === "withdraw") checkWithdrawn(read, frame, fields.seq);
      if (frame.type === "cancel") checkCancelled(read, frame, fields.seq);
      if (frame.type !== "update") continue;
      expect(log[fields.seq - 1], `${thread}: acknowledged title`).toMatchObject({
        kind: "thread",
        title: frame.title,
      });
      titled = Math.max(titled, fields.seq);
    }
    if (titled === 0) return;
    // What stands in the end is the last acknowledged title, or one that was sent and stored after it.
    const last = log.findLast((entry) => entry.kind === "thread" && entry.title !== undefined);
    expect(last?.seq, `${thread}: the last title`).toBeGreaterThanOrEqual(titled);
    expect(this.titles).toContain((last as EntryOf<"thread">).title);
  }

  /** Once nothing is under way any more: every acknowledged input came to an end that stands. */
  checkEnded(thread: string, log: Entry[]): void {
    const read = new LogIndex(log);
    for (const { frame } of this.acked) {
      if (frame.type !== "submit" || frame.thread !== thread || frame.start === false) continue;
      const end = read.inputs.get(frame.inputId)?.at(-1)?.status;
      expect(["done", "failed", "withdrawn"], `${thread}: the end of input ${frame.inputId}`).toContain(end);
    }
  }
}

const at = ({ epoch, seq, mark }: Cursor): Cursor => ({ epoch, seq, mark });

/** A log by what its entries are of. */
class LogIndex {
  readonly inputs = new Map<string, EntryOf<"input">[]>();
  readonly said = new Map<string, EntryOf<"message">[]>();
  readonly terminals = new Map<string, EntryOf<"event">[]>();
  /** Inputs that a run began with. */
  readonly run = new Set<string>();

  constructor(log: Entry[]) {
    for (const entry of log) {
      if (entry.kind === "input") push(this.inputs, entry.inputId, entry);
      if (entry.kind === "message") push(this.said, entry.turn, entry);
      if (entry.kind !== "event") continue;
      if (entry.start?.inputId !== undefined) this.run.add(entry.start.inputId);
      if (isTerminal(entry)) push(this.terminals, entry.run, entry);
    }
  }
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const list = map.get(key);
  if (list) list.push(item);
  else map.set(key, [item]);
}

const isTerminal = ({ event }: EntryOf<"event">) =>
  (event.type as string) === "RUN_FINISHED" || (event.type as string) === "RUN_ERROR";

function checkSubmit(read: LogIndex, frame: Sent<"submit">, ack: SubmitAck): void {
  const { thread, inputId } = frame;
  const stored = frame.start === false ? read.said.get(inputId) : read.inputs.get(inputId);
  const what = `${thread}: acknowledged ${frame.start === false ? "note" : "input"} ${inputId}`;
  expect(stored?.[0], what).toBeDefined();
  expect(stored?.[0]?.seq, what).toBeLessThanOrEqual(ack.seq);
}

function checkWithdrawn(read: LogIndex, frame: Sent<"withdraw">, seq: number): void {
  const what = `${frame.thread}: withdrawn input ${frame.inputId}`;
  const statuses = read.inputs.get(frame.inputId) ?? [];
  expect(
    statuses.map(({ status }) => status),
    what,
  ).toEqual(["queued", "withdrawn"]);
  expect(statuses[1]?.seq, what).toBe(seq);
  expect(read.said.has(frame.inputId), `${what} said nothing`).toBe(false);
  expect(read.run.has(frame.inputId), `${what} never ran`).toBe(false);
}

/** What the agent had sent before counts, so that a run may have ended by itself; but then it has ended. */
function checkCancelled(read: LogIndex, frame: Sent<"cancel">, seq: number): void {
  const what = `${frame.thread}: the end of cancelled run ${frame.runId}`;
  const terminals = read.terminals.get(frame.runId) ?? [];
  expect(terminals, what).toHaveLength(1);
  expect(terminals[0]?.seq, what).toBeLessThanOrEqual(seq);
  // Neither a restart nor a fault may have ended it first: the request would have been refused.
  expect(terminals[0]?.event.type, what).toBe("RUN_FINISHED");
}

/**
 * Checks that every run that began, or failed before it could, has exactly one terminal event.
 * @returns how many runs there are, and how many of them were cancelled
 */
export function checkRuns(thread: string, log: Entry[]): { runs: number; cancelled: number } {
  const terminals = new Map<string, number>();
  let cancelled = 0;
  for (const entry of log) {
    if (entry.kind !== "event") continue;
    if ((entry.event.type as string) === "RUN_STARTED")
      terminals.set(entry.run, terminals.get(entry.run) ?? 0);
    if (!isTerminal(entry)) continue;
    terminals.set(entry.run, (terminals.get(entry.run) ?? 0) + 1);
    if ((entry.event.outcome as { type?: string } | undefined)?.type === "cancelled") cancelled += 1;
  }
  for (const [run, count] of terminals) expect(count, `${thread}: terminals of run ${run}`).toBe(1);
  return { runs: terminals.size, cancelled };
}
