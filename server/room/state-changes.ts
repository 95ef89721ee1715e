import type { FineOp } from "../../shared/json-crdt/fine-patch.ts";
import { moveGap, moveValue } from "../../shared/json-crdt/moves.ts";
import { jsonEqual } from "../../shared/json-crdt/patch.ts";
import { updateAt, valueAt } from "../../shared/json-crdt/place.ts";
import { formatPointer } from "../../shared/json-crdt/pointer.ts";
import { diffText } from "../../shared/json-crdt/text-diff.ts";
import {
  applyTextEdits,
  invertTextEdits,
  moveTextEdits,
  type TextEdit,
} from "../../shared/json-crdt/text-edits.ts";
import type { Json } from "../../shared/protocol/index.ts";

/**
 * One change of one place of the state, with what takes it back. As {@link FineOp}, but that an edited text is not
 * kept whole.
 */
export type StateOp =
  | Exclude<FineOp, { kind: "text" }>
  | { kind: "text"; path: string[]; edits: TextEdit[]; back: TextEdit[] };

/** What one entry changed of the state ([H9]): stored beside the log. */
export type StateChangeRow = {
  seq: number;
  run: string | null;
  ops: StateOp[];
  /** The run whose changes it took back. */
  reverts?: string;
};

/** What a revert does, and what it leaves because others have changed it since. */
export type Reverting = { ops: FineOp[]; skipped: string[] };

/** A change of a text field, kept with what takes it back. @param text what it was before */
export function textOp(path: string[], edits: TextEdit[], text: string): StateOp {
  return { kind: "text", path, edits, back: invertTextEdits(text, edits) };
}

/** The same change in the form that paths are moved over. */
export function asFine(op: StateOp): FineOp {
  return op.kind === "text" ? { ...op, was: "" } : op;
}

/**
 * Works out what takes a run's changes back ([H9]): from the last to the first, each only where the value is
 * still what the run left. What was taken back before is not taken back again.
 * @param rows all changes of the state from the run's first one to now, in order
 * @param state what the state is now
 */
export function revertRun(rows: readonly StateChangeRow[], run: string, state: Json): Reverting {
  const skipped = new Set<string>();
  const undone: FineOp[] = [];
  /** What came after the change that is looked at, in order; what has been undone comes last. */
  let later: FineOp[] = [];
  let now = state;
  const done = rows.findLast(({ reverts }) => reverts === run)?.seq ?? 0;
  for (const row of rows.toReversed()) {
    for (const op of row.ops.toReversed()) {
      if (row.run === run && row.seq > done) {
        const back = undo(op, [...later, ...undone], now);
        if (back === null) skipped.add(formatPointer(op.kind === "root" ? [] : op.path));
        else
          for (const one of back) {
            undone.push(one);
            now = afterOp(now, one);
          }
      }
      if (matters(op)) later = [asFine(op), ...later];
    }
  }
  return { ops: undone, skipped: [...skipped] };
}

/**
 * What the state was before some changes.
 * @param rows all changes since, in order
 * @param state what it is now
 */
export function stateBefore(rows: readonly StateChangeRow[], state: Json): Json {
  let now = state;
  for (const { ops } of rows.toReversed()) for (const op of ops.toReversed()) now = afterOp(now, inverse(op));
  return now;
}

/** What takes a change back, in the state right behind it. */
function inverse(op: StateOp): FineOp {
  switch (op.kind) {
    case "root":
      return { kind: "root", value: op.was, was: op.value };
    case "text":
      return { kind: "text", path: op.path, edits: op.back, was: "" };
    case "insert":
      return { kind: "remove", path: op.path, was: op.value, in: "array" };
    case "remove":
      return op.in === "array"
        ? { kind: "insert", path: op.path, value: op.was }
        : { kind: "set", path: op.path, value: op.was, in: "object" };
    case "set":
      return op.was === undefined
        ? { kind: "remove", path: op.path, was: op.value, in: "object" }
        : { kind: "set", path: op.path, value: op.was, was: op.value, in: op.in };
  }
}

/**
 * What a text that was rewritten as a whole is to be now that others have edited it meanwhile ([H8]): the edits it
 * meant, made in the text as it is.
 * @param rewritten made of the text before `rows`
 * @param rows what has changed since
 * @returns `rewritten` itself when nobody has edited that text
 */
export function rewriteOver(
  rewritten: string,
  path: readonly string[],
  text: string,
  rows: readonly StateChangeRow[],
): string {
  const later: StateOp[] = rows.flatMap(({ ops }) => ops);
  const edits = later.filter((op, i): op is StateOp & { kind: "text" } => {
    if (op.kind !== "text") return false;
    let at: string[] | null = op.path;
    for (const next of later.slice(i + 1)) at = at && moveValue(at, asFine(next));
    return at !== null && samePath(at, path);
  });
  if (edits.length === 0) return rewritten;
  const before = edits.reduceRight((now, { back }) => applyTextEdits(now, back), text);
  const over = edits.flatMap((op) => op.edits);
  return applyTextEdits(text, moveTextEdits(diffText(before, rewritten), over));
}

/** Whether a change can move other places, or a text that other edits are of. */
function matters(op: StateOp): boolean {
  if (op.kind !== "set") return true;
  return [op.was, op.value].some((value) => typeof value === "object" && value !== null);
}

/** What takes one change back now; `null` when that is not to be done. */
function undo(op: StateOp, over: readonly FineOp[], now: Json): FineOp[] | null {
  if (op.kind === "root")
    return jsonEqual(now, op.value) ? [{ kind: "root", value: op.was, was: op.value }] : null;
  if (op.kind === "remove") return putBack(op, over, now);
  let path: string[] | null = op.path;
  let back = op.kind === "text" ? op.back : [];
  for (const other of over) {
    if (op.kind === "text" && other.kind === "text" && samePath(other.path, path))
      back = moveTextEdits(back, other.edits);
    path = moveValue(path, other);
    if (!path) return null;
  }
  const value = valueAt(now, path);
  if (op.kind === "text") {
    if (typeof value !== "string") return null;
    const edits = back.filter(([, del, ins]) => del > 0 || ins !== "");
    return edits.length > 0 ? [{ kind: "text", path, edits, was: value }] : [];
  }
  if (value === undefined || !jsonEqual(value, op.value)) return null;
  if (op.kind === "insert") return [{ kind: "remove", path, was: value, in: "array" }];
  if (op.was === undefined) return [{ kind: "remove", path, was: value, in: "object" }];
  return [{ kind: "set", path, value: op.was, was: value, in: op.in }];
}

function putBack(op: StateOp & { kind: "remove" }, over: readonly FineOp[], now: Json): FineOp[] | null {
  let path: string[] | null = op.path;
  for (const other of over) {
    path = moveGap(path, other);
    if (!path) return null;
  }
  const holder = valueAt(now, path.slice(0, -1));
  const key = path.at(-1) as string;
  if (op.in === "array")
    return Array.isArray(holder) && Number(key) <= holder.length
      ? [{ kind: "insert", path, value: op.was }]
      : null;
  const isFree =
    typeof holder === "object" && holder !== null && !Array.isArray(holder) && !Object.hasOwn(holder, key);
  return isFree ? [{ kind: "set", path, value: op.was, in: "object" }] : null;
}

/** The state after one change. */
function afterOp(state: Json, op: FineOp): Json {
  if (op.kind === "root") return op.value;
  return updateAt(state, op.path, (holder, key) => {
    if (Array.isArray(holder)) {
      const index = Number(key);
      if (op.kind === "insert") return holder.toSpliced(index, 0, op.value);
      if (op.kind === "remove") return holder.toSpliced(index, 1);
      return holder.with(index, newValue(op, holder[index]));
    }
    const { [key]: was, ...rest } = holder;
    return op.kind === "remove" ? rest : { ...holder, [key]: newValue(op, was) };
  });
}

function newValue(op: Exclude<FineOp, { kind: "root" | "remove" }>, was: Json | undefined): Json {
  return op.kind === "text" ? applyTextEdits(String(was), op.edits) : op.value;
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((token, i) => token === b[i]);
}
