import type { Json, JsonPatch, JsonPatchOperation } from "../protocol/agui.ts";
import { Patching } from "./patch.ts";
import { parsePointer } from "./pointer.ts";

/**
 * Finds a value again after a patch.
 *
 * - In arrays the index follows what is added, removed, copied or moved before it.
 * - A value that is moved, alone or with what it is in, is where it was moved to.
 * - A value that is replaced, or overwritten by an add, a copy or a move, is still at its place: it is
 *   another value there, and whoever meant the place means that one now.
 * - A value that is removed, or in something that is removed, replaced or overwritten, is gone.
 *
 * @param path where the value is in the document before `over`; the value has to be there
 * @param over a patch that applies to that document
 * @param document the document before `over`. Without it a token that is written like an index is taken for
 *   one where the patch has one, too, and `-` in the patch for a place behind all others; a value moved to
 *   a `-` cannot be found again then
 * @returns the path after `over`; `null` when the value is gone
 * @throws PatchError when `document` is given and `over` does not apply to it; PointerError when a path of
 *   it is none
 */
export function movePath(path: string[], over: JsonPatch, document?: Json): string[] | null {
  const patching = document === undefined ? null : new Patching(document);
  let moved: string[] | null = path;
  for (const operation of over) {
    // Where an operation leads depends on the document before it.
    const next: string[] | null = moved && moveOver(moved, operation, (at) => lengthAt(at, patching));
    patching?.apply(operation);
    moved = next;
  }
  return moved;
}

/** The length of the array at a path, `null` for anything else, `undefined` when nobody knows. */
type LengthAt = (path: string[]) => number | null | undefined;

function lengthAt(path: string[], patching: Patching | null): number | null | undefined {
  if (patching === null) return undefined;
  let value: Json | undefined = patching.value;
  for (const token of path) {
    if (value === null || typeof value !== "object") return null;
    value = Array.isArray(value)
      ? value[Number(token)]
      : Object.hasOwn(value, token)
        ? value[token]
        : undefined;
    if (value === undefined) return null;
  }
  return Array.isArray(value) ? value.length : null;
}

function moveOver(path: string[], operation: JsonPatchOperation, length: LengthAt): string[] | null {
  const at = parsePointer(operation.path);
  switch (operation.op) {
    case "add":
    case "copy":
      return afterAdd(path, at, length);
    case "remove":
      return afterRemove(path, at, length);
    case "replace":
      return beginsWith(path, at) && path.length > at.length ? null : path;
    case "move": {
      const from = parsePointer(operation.from ?? "");
      if (at.length === from.length && beginsWith(at, from)) return path;
      // The target counts in what is left when the value is taken out.
      const left = afterTaking(from, length);
      if (beginsWith(path, from)) {
        const target = resolved(at, left);
        return target && [...target, ...path.slice(from.length)];
      }
      const rest = afterRemove(path, from, length);
      return rest && afterAdd(rest, at, left);
    }
    default:
      return path;
  }
}

function afterAdd(path: string[], at: string[], length: LengthAt): string[] | null {
  const target = resolved(at, length) ?? at;
  const depth = target.length - 1;
  if (depth >= 0 && isElement(target, path, length)) {
    const index = Number(path[depth]);
    if (target[depth] === "-" || index < Number(target[depth])) return path;
    return path.with(depth, String(index + 1));
  }
  return beginsWith(path, target) && path.length > target.length ? null : path;
}

function afterRemove(path: string[], at: string[], length: LengthAt): string[] | null {
  if (beginsWith(path, at)) return null;
  const depth = at.length - 1;
  if (!isElement(at, path, length)) return path;
  const index = Number(path[depth]);
  return index > Number(at[depth]) ? path.with(depth, String(index - 1)) : path;
}

/** Whether `at` is a place in an array, and `path` leads through a place in the same one. */
function isElement(at: string[], path: string[], length: LengthAt): boolean {
  const depth = at.length - 1;
  if (path.length <= depth || !beginsWith(path, at.slice(0, -1))) return false;
  const count = length(at.slice(0, -1));
  if (count !== undefined) return count !== null;
  return /^(0|[1-9]\d*)$/.test(path[depth]!) && /^(0|[1-9]\d*|-)$/.test(at[depth]!);
}

/** A path that does not end in `-` for the place behind the last element; `null` when that is not known. */
function resolved(at: string[], length: LengthAt): string[] | null {
  if (at.at(-1) !== "-") return at;
  const count = length(at.slice(0, -1));
  if (count === null) return at;
  return count === undefined ? null : at.with(-1, String(count));
}

/** The lengths of arrays once the value at `from` is taken out, by the paths they have then. */
function afterTaking(from: string[], length: LengthAt): LengthAt {
  const depth = from.length - 1;
  return (path) => {
    const parent = from.slice(0, -1);
    const count = length(parent);
    if (typeof count !== "number") return length(path);
    if (path.length === depth && beginsWith(path, parent)) return count - 1;
    if (path.length > depth && beginsWith(path, parent)) {
      const index = Number(path[depth]);
      return length(index >= Number(from[depth]) ? path.with(depth, String(index + 1)) : path);
    }
    return length(path);
  };
}

function beginsWith(path: string[], start: string[]): boolean {
  return start.length <= path.length && start.every((token, i) => token === path[i]);
}
