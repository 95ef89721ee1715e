import type { Json, JsonPatch, JsonPatchOperation } from "../protocol/agui.ts";
import { type DiffOptions, diffJson } from "./diff.ts";
import { applyPatch } from "./patch.ts";
import { isMembers, valueAt } from "./place.ts";
import { formatPointer, parseIndex, parsePointer } from "./pointer.ts";
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
  const end = applyPatch(before, patch);
  const refining = new Refining(texts, options);
  let value = before;
  for (const [i, operation] of patch.entries()) {
    const next = i === patch.length - 1 ? end : applyPatch(value, [operation]);
    const simple = withoutMoves(value, operation);
    for (const [k, one] of simple.entries()) {
      const after = k === simple.length - 1 ? next : applyPatch(value, [one]);
      refining.operation(value, after, [], one);
      value = after;
    }
    value = next;
  }
  return { ops: refining.ops, after: end };
}

/** The changes of single places that make the state `before` the state `after`. */
export function fineDiff(before: Json, after: Json, texts: TextPaths, options?: DiffOptions): FinePatch {
  return finePatch(before, diffJson(before, after, options), texts, options);
}

/** What two operations without one another say. */
function withoutMoves(value: Json, operation: JsonPatchOperation): JsonPatch {
  const { op, from = "", path } = operation;
  if (op === "test" || (op === "move" && from === path)) return [];
  if (op !== "move" && op !== "copy") return [operation];
  const add = { op: "add" as const, path, value: valueAt(value, parsePointer(from)) as Json };
  return op === "copy" ? [add] : [{ op: "remove", path: from }, add];
}

class Refining {
  readonly ops: FineOp[] = [];
  private readonly texts: TextPaths;
  private readonly options: DiffOptions | undefined;

  constructor(texts: TextPaths, options: DiffOptions | undefined) {
    this.texts = texts;
    this.options = options;
  }

  /** @param value what stands at `base`, before the operation and after it */
  operation(value: Json, after: Json, base: readonly string[], operation: JsonPatchOperation): void {
    const { op, value: given } = operation as { op: string; value: Json };
    const path = parsePointer(operation.path);
    const key = path.at(-1);
    if (key === undefined) return this.root(value, after);
    const parent = valueAt(value, path.slice(base.length, -1)) as Json;
    if (Array.isArray(parent)) {
      const index = parseIndex(key, parent.length);
      const place = [...path.slice(0, -1), String(index)];
      if (op === "add") this.ops.push({ kind: "insert", path: place, value: given });
      else if (op === "remove") this.remove(place, parent[index] as Json, "array");
      else this.put(parent[index], given, place, "array");
      return;
    }
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
    if (was !== undefined && sameContainer(was, value)) return this.difference(was, value, path);
    if (typeof was === "string" && typeof value === "string" && this.texts.matches(path)) {
      const edits = diffText(was, value);
      if (edits.length > 0) this.ops.push({ kind: "text", path, edits, was });
      return;
    }
    this.ops.push({ kind: "set", path, value, in: within, ...(was !== undefined && { was }) });
  }

  /** Between two containers of one type: all of it lies below them, and is put only where the types differ. */
  private difference(was: Json, value: Json, path: string[]): void {
    const base = formatPointer(path);
    let inner = was;
    for (const operation of diffJson(was, value, this.options)) {
      const after = applyPatch(inner, [operation]);
      this.operation(inner, after, path, { ...operation, path: base + operation.path });
      inner = after;
    }
  }
}

function sameContainer(a: Json, b: Json): boolean {
  return (Array.isArray(a) && Array.isArray(b)) || (isMembers(a) && isMembers(b));
}
