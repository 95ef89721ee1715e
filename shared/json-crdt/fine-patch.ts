import type { Json, JsonPatch, JsonPatchOperation } from "../protocol/agui.ts";
import { type DiffOptions, diffJson } from "./diff.ts";
import { applyPatch, Patching, runLength } from "./patch.ts";
import { isMembers, valueAt } from "./place.ts";
import { parseIndex, parsePointer } from "./pointer.ts";
import { diffText } from "./text-diff.ts";
import type { TextEdit } from "./text-edits.ts";
import type { TextPaths } from "./text-paths.ts";

/**
 * One change of one place. `was` is what stood there, so that the change can be taken back.
 *
 * - `set`: a member of an object, new or not, or an element of an array in place of another
 * - `insert`, `remove`: an element of an array; `remove` also a member of an object
 * - `text`: edits of a text field, each on the result of the one before
 * - `root`: the whole state, when it is no object before or after
 */
export type FineOp =
  | { kind: "set"; path: string[]; value: Json; was?: Json; in: "object" | "array" }
  | { kind: "insert"; path: string[]; value: Json }
  | { kind: "remove"; path: string[]; was: Json; in: "object" | "array" }
  | { kind: "text"; path: string[]; edits: TextEdit[]; was: string }
  | { kind: "root"; value: Json; was: Json };

/** What a patch means, place by place, and what the state is after it. */
export type FinePatch = { ops: FineOp[]; after: Json };

/**
 * Takes a patch apart into changes of single places ([H3], [H4]): where a container is put in the place of one
 * of the same type, into the difference of both; where a text takes the place of a text in a text field, into
 * edits; `move` and `copy` into removing and adding. All of it applies, or nothing does.
 *
 * @param before the state the patch is meant for; never changed
 * @throws PatchError when the patch does not apply
 */
export function finePatch(
  before: Json,
  patch: JsonPatch,
  texts: TextPaths,
  options?: DiffOptions,
): FinePatch {
  // All of it first: a late operation that does not apply must not cost the diffs of those before it.
  const after = applyPatch(before, patch);
  const refining = new Refining(texts, options);
  refining.patch(before, patch, []);
  return { ops: refining.ops, after };
}

/**
 * As {@link finePatch}, of a patch that says what has been done already: an array that was emptied is one change then,
 * as nobody's work in it is left that writing it so could harm.
 */
export function doneChanges(
  before: Json,
  patch: JsonPatch,
  texts: TextPaths,
  options?: DiffOptions,
): FineOp[] {
  const refining = new Refining(texts, options, true);
  refining.patch(before, patch, []);
  return refining.ops;
}

/** The changes of single places that make the state `before` the state `after`. */
export function fineDiff(before: Json, after: Json, texts: TextPaths, options?: DiffOptions): FinePatch {
  return finePatch(before, diffJson(before, after, options), texts, options);
}

/** What an operation other than `add`, `remove` and `replace` says in these; `null` of one of them. */
function withoutMoves(value: Json, operation: JsonPatchOperation): JsonPatch | null {
  const { op, from = "", path } = operation;
  if (op === "add" || op === "remove" || op === "replace") return null;
  if (op === "test" || (op === "move" && from === path)) return [];
  const add = { op: "add" as const, path, value: valueAt(value, parsePointer(from)) as Json };
  return op === "copy" ? [add] : [{ op: "remove", path: from }, add];
}

class Refining {
  readonly ops: FineOp[] = [];
  private readonly texts: TextPaths;
  private readonly options: DiffOptions | undefined;
  private readonly isDone: boolean;

  constructor(texts: TextPaths, options: DiffOptions | undefined, isDone = false) {
    this.texts = texts;
    this.options = options;
    this.isDone = isDone;
  }

  /**
   * Takes note of what a patch does.
   * @param value what stands at `base`; the patch applies to it
   */
  patch(value: Json, patch: JsonPatch, base: readonly string[]): void {
    const patching = new Patching(value);
    for (let from = 0; from < patch.length; ) {
      const simple = withoutMoves(patching.value, patch[from]!);
      if (simple === null) {
        const count = this.run(patching.value, patch, from, base);
        // Behind the last one nobody looks.
        if (from + count < patch.length) patching.applyRun(patch, from);
        from += count;
        continue;
      }
      for (const [k] of simple.entries()) {
        this.run(patching.value, simple, k, base);
        patching.applyRun(simple, k);
      }
      from += 1;
    }
  }

  /** @returns how many operations from one on it took note of: those that {@link Patching.applyRun} makes at once */
  private run(value: Json, patch: JsonPatch, from: number, base: readonly string[]): number {
    const path = parsePointer(patch[from]!.path);
    const key = path.at(-1);
    const parent = key === undefined ? value : (valueAt(value, path.slice(0, -1)) as Json);
    if (key === undefined || !Array.isArray(parent)) {
      this.elsewhere(parent, [...base, ...path], key, patch[from]!);
      return 1;
    }
    const count = runLength(patch, from);
    const index = parseIndex(key, parent.length);
    const holder = [...base, ...path.slice(0, -1)];
    for (let i = 0; i < count; i++) this.inArray(parent, index, i, holder, patch[from + i]!);
    return count;
  }

  private inArray(
    array: Json[],
    index: number,
    nth: number,
    holder: string[],
    { op, value: given }: JsonPatchOperation,
  ): void {
    if (op === "remove") this.remove([...holder, String(index)], array[index + nth] as Json, "array");
    else if (op === "add")
      this.ops.push({ kind: "insert", path: [...holder, String(index + nth)], value: given as Json });
    else this.put(array[index], given as Json, [...holder, String(index)], "array");
  }

  private elsewhere(
    parent: Json,
    path: string[],
    key: string | undefined,
    { op, value }: JsonPatchOperation,
  ): void {
    const given = value as Json;
    // Where a document is taken out, null stands.
    if (key === undefined) return this.root(parent, op === "remove" ? null : given);
    const members = parent as { [key: string]: Json };
    const was = Object.hasOwn(members, key) ? members[key] : undefined;
    if (op === "remove") this.remove(path, was as Json, "object");
    else this.put(was, given, path, "object");
  }

  private root(was: Json, value: Json): void {
    if (isMembers(was) && isMembers(value)) this.difference(was, value, []);
    else this.ops.push({ kind: "root", value, was });
  }

  private remove(path: string[], was: Json, within: "object" | "array"): void {
    this.ops.push({ kind: "remove", path, was, in: within });
  }

  /** One value in the place of another. */
  private put(was: Json | undefined, value: Json, path: string[], within: "object" | "array"): void {
    const isEmptied = this.isDone && Array.isArray(value) && value.length === 0;
    if (was !== undefined && sameContainer(was, value) && !isEmptied)
      return this.difference(was, value, path);
    if (typeof was === "string" && typeof value === "string" && this.texts.matches(path)) {
      const edits = diffText(was, value);
      if (edits.length > 0) this.ops.push({ kind: "text", path, edits, was });
      return;
    }
    this.ops.push({ kind: "set", path, value, in: within, ...(was !== undefined && { was }) });
  }

  /** Between two containers of one type: all of it lies below them, and is put only where the types differ. */
  private difference(was: Json, value: Json, path: string[]): void {
    this.patch(was, diffJson(was, value, this.options), path);
  }
}

function sameContainer(a: Json, b: Json): boolean {
  return (Array.isArray(a) && Array.isArray(b)) || (isMembers(a) && isMembers(b));
}
