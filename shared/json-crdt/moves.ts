import type { Json, JsonPatch, JsonPatchOperation } from "../protocol/agui.ts";
import type { FineOp } from "./fine-patch.ts";
import { valueAt } from "./place.ts";
import { formatPointer, parsePointer } from "./pointer.ts";

/**
 * Where a value is after a change of another place.
 * @param path where it was before the change
 * @returns where it is; `null` when it is gone, alone or with what held it
 */
export function moveValue(path: readonly string[], over: FineOp): string[] | null {
  if (over.kind === "text") return [...path];
  if (over.kind === "root") return null;
  const place = over.path;
  if (over.kind === "set" || (over.kind === "remove" && over.in === "object")) {
    const isAbove = startsWith(path, place) && (over.kind === "remove" || path.length > place.length);
    return isAbove ? null : [...path];
  }
  if (over.kind === "remove" && startsWith(path, place)) return null;
  return shifted(path, place, over.kind === "insert" ? 0 : 1, over.kind === "insert" ? 1 : -1);
}

/**
 * Where something that is to be put somewhere goes after a change of another place: into the same gap of an
 * array, or under the same key, whatever is there now.
 * @returns `null` when what should hold it is gone
 */
export function moveGap(path: readonly string[], over: FineOp): string[] | null {
  const holder = path.slice(0, -1);
  const moved = over.kind === "root" ? null : moveValue(holder, over);
  if (!moved) return null;
  const key = path.at(-1) as string;
  // An array took the place of another: behind its end is no gap.
  if (
    over.kind === "set" &&
    Array.isArray(over.value) &&
    isPlace(over.path, holder) &&
    Number(key) > over.value.length
  )
    return [...moved, String(over.value.length)];
  if (over.kind !== "insert" && !(over.kind === "remove" && over.in === "array")) return [...moved, key];
  const place = over.path;
  if (place.length !== path.length || !startsWith(path, place.slice(0, -1)) || key === "-")
    return [...moved, key];
  // Behind what another has put into the same gap.
  return over.kind === "insert" ? shifted(path, place, 0, 1) : shifted(path, place, 1, -1);
}

/** @param from how far behind the place of the change an index must be to be shifted */
function shifted(path: readonly string[], place: readonly string[], from: number, by: number): string[] {
  const depth = place.length - 1;
  if (path.length <= depth || !startsWith(path, place.slice(0, -1))) return [...path];
  const index = Number(path[depth]);
  if (!(index >= Number(place[depth]) + from)) return [...path];
  return path.with(depth, String(index + by)) as string[];
}

function isPlace(path: readonly string[], place: readonly string[]): boolean {
  return path.length === place.length && startsWith(path, place);
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return path.length >= start.length && start.every((token, i) => token === path[i]);
}

/** The operations of JSON Patch that say what changes of places do; texts cannot be said in it. */
export function toPatch(ops: readonly FineOp[]): JsonPatch {
  return ops.flatMap((op) => toOperation(op) ?? []);
}

function toOperation(op: FineOp): JsonPatchOperation | null {
  switch (op.kind) {
    case "root":
      return { op: "replace", path: "", value: op.value };
    case "set":
      return { op: op.was === undefined ? "add" : "replace", path: formatPointer(op.path), value: op.value };
    case "insert":
      return { op: "add", path: formatPointer(op.path), value: op.value };
    case "remove":
      return { op: "remove", path: formatPointer(op.path) };
    case "text":
      return null;
  }
}

/** A patch moved to another state, and what its operations did to indexes where it was made. */
export type MovedPatch = { patch: JsonPatch; shapes: FineOp[] };

/**
 * Moves a patch that was made for an older state over what has changed since ([H14]).
 * @param state the state now: tells arrays from objects
 * @param over what has changed, in order
 * @returns the patch for `state`; `null` when something it names is gone
 */
export function movePatch(patch: JsonPatch, over: readonly FineOp[], state: Json): MovedPatch | null {
  const moved: JsonPatch = [];
  const shapes: FineOp[] = [];
  let others: FineOp[] = [...over];
  for (const operation of patch) {
    const path = parsePointer(operation.path);
    const puts = operation.op === "add" || operation.op === "move" || operation.op === "copy";
    const to = path.length === 0 ? path : moveAll(path, others, puts ? moveGap : moveValue);
    const from =
      operation.from === undefined ? undefined : moveAll(parsePointer(operation.from), others, moveValue);
    if (!to || from === null) return null;
    moved.push({ ...operation, path: formatPointer(to), ...(from && { from: formatPointer(from) }) });
    // What comes next in the patch was made after this operation: the changes of others, too, as after it.
    const own = shapeOf(operation, path, to, state);
    if (!own) continue;
    shapes.push(own);
    others = moveOps(others, own);
  }
  return { patch: moved, shapes };
}

/** Changes as they are where another one was made before them; those of what it removed are gone. */
export function moveOps(ops: readonly FineOp[], over: FineOp): FineOp[] {
  return ops.flatMap((op) => movedOp(op, over));
}

type Move = (path: readonly string[], over: FineOp) => string[] | null;

function moveAll(path: readonly string[], over: readonly FineOp[], move: Move): string[] | null {
  let at: string[] | null = [...path];
  for (const op of over) {
    at = move(at, op);
    if (!at) return null;
  }
  return at;
}

/** What an operation does to the indexes of the state it was made for; `null` when nothing. */
function shapeOf(operation: JsonPatchOperation, path: string[], to: string[], state: Json): FineOp | null {
  if (path.length === 0) return null;
  const holder = valueAt(state, to.slice(0, -1));
  if (!Array.isArray(holder) || path.at(-1) === "-") return null;
  if (operation.op === "add" || operation.op === "copy") return { kind: "insert", path, value: null };
  if (operation.op === "remove") return { kind: "remove", path, was: null, in: "array" };
  return null;
}

function movedOp(op: FineOp, over: FineOp): FineOp[] {
  if (op.kind === "root") return [op];
  const path = op.kind === "insert" ? moveGap(op.path, over) : moveValue(op.path, over);
  return path ? [{ ...op, path } as FineOp] : [];
}
