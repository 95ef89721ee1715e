import type { Batch, CommitResult } from "./store.ts";
import { StoreError } from "./store-error.ts";

/** What a store knows of a thread when a batch for it arrives; `createdMark` is of the batch that made it. */
export type Standing = { seq: number; createdMark: string; ownerEpoch: number; generation: number };

/** What to do with a batch: write it (as a new thread, or behind the log), or answer without writing. */
export type Verdict = "create" | "append" | { answer: CommitResult };

/** UTF-8 has no half of a surrogate pair: an id with one would come back as another id. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * The rules of `Store.commit`, the same for every store that keeps its threads in one place.
 *
 * @param batch what shall be committed
 * @param standing where the thread stands; `undefined` when there is no such thread
 * @param endsAt the mark of the commit whose last entry is exactly `seq`, if there is one
 */
export function judge(
  batch: Batch,
  standing: Standing | undefined,
  endsAt: (seq: number) => string | undefined,
): Verdict {
  const fault = faultOf(batch);
  if (fault) return refuse("failed", new StoreError("bad_batch", `The batch ${fault}; nothing was written.`));
  if (!standing) {
    if (!batch.create) return conflict("there is no such thread");
    if (batch.after !== 0) return conflict("a new thread's log begins behind 0");
    return "create";
  }
  if (batch.ownerEpoch < standing.ownerEpoch) {
    return refuse(
      "fenced",
      new StoreError("fenced", "Another owner has taken over the thread; nothing was written."),
    );
  }
  const { generation = standing.generation + 1 } = batch.state ?? {};
  if (generation !== standing.generation + 1)
    return conflict(
      `the document is of generation ${standing.generation}, and the next one is no ${generation}`,
    );
  if (!batch.create && batch.after === standing.seq) return "append";
  return isRepeat(batch, standing, endsAt)
    ? { answer: { ok: true, duplicate: true } }
    : conflict(batch.create ? "the thread exists" : `the log stands at ${standing.seq}, not ${batch.after}`);
}

/** A batch without entries left no mark in the log, except the one that made a thread that is still empty. */
function isRepeat(batch: Batch, standing: Standing, endsAt: (seq: number) => string | undefined): boolean {
  if (batch.entries.length > 0) return endsAt(batch.after + batch.entries.length) === batch.mark;
  return batch.create !== undefined && standing.seq === 0 && standing.createdMark === batch.mark;
}

function faultOf(batch: Batch): string | null {
  const { key, after, entries, fold, inputs = [], acks = [], reads = [], state } = batch;
  if (!Number.isSafeInteger(after) || after < 0) return "does not name a place in the log";
  if (entries.some((entry, i) => entry.seq !== after + 1 + i)) return "has entries that are not dense";
  if (entries.some((entry) => entry.json.includes("\n"))) return "has an entry that is not one line of JSON";
  if (state?.generation !== undefined && (!state.whole || batch.create))
    return "makes a document anew without having one";
  const rows = fold ? [...fold.messages, ...fold.turns] : [];
  if (!rows.every((row) => Number.isFinite(row.place))) return "has a fold row without a place";
  const wellFormed =
    isId(key.tenant) &&
    isId(key.thread) &&
    rows.every((row) => isId(row.id)) &&
    inputs.every((input) => isId(input.inputId)) &&
    acks.every((ack) => isId(ack.user) && isId(ack.key)) &&
    reads.every((read) => isId(read.user));
  return wellFormed ? null : "has an id that is empty or not well-formed Unicode";
}

/** Whether every store can keep this id as it is: not empty, and well-formed Unicode. */
export function isId(id: string): boolean {
  return id.length > 0 && !LONE_SURROGATE.test(id);
}

function conflict(why: string): Verdict {
  return refuse("conflict", new StoreError("conflict", `Nothing was written: ${why}.`));
}

function refuse(code: "fenced" | "conflict" | "failed", error: StoreError): Verdict {
  return { answer: { ok: false, code, error } };
}
