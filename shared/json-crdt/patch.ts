import type { Json, JsonPatch, JsonPatchOperation } from "../protocol/agui.ts";
import { isReservedKey, PointerError, parseIndex, parsePointer } from "./pointer.ts";

/** What the `copy` operations of one patch, and each value it brings, may add, in characters of JSON. */
export const COPY_LIMIT = 10_485_760;

/** A patch that does not apply. The document it was meant for is as it was. */
export class PatchError extends Error {
  override name = "PatchError";
  /** Index of the operation that failed. */
  readonly index: number;
  constructor(message: string, index: number, cause?: unknown) {
    super(message, { cause });
    this.index = index;
  }
}

/**
 * Applies an RFC 6902 patch to an immutable JSON value: all of it or nothing.
 *
 * Stricter than the RFC in three points: `__proto__`, `constructor` and `prototype` are refused as keys, in
 * paths and in values; what JSON cannot write (NaN, BigInt, undefined, functions) is refused as a value; and
 * the copies of one patch may add {@link COPY_LIMIT}, because a few of them can double a document thirty
 * times over. How deep or large the result is, and whether its strings are well-formed, is for `checkState`
 * to say.
 *
 * @param document any JSON value; never changed
 * @param patch the operations in order
 * @returns the new value; unchanged parts are the same objects as in `document`
 * @throws PatchError naming the operation that did not apply
 */
export function applyPatch(document: unknown, patch: JsonPatch): Json {
  const patching = new Patching(document as Json);
  for (let i = 0; i < patch.length; ) i += patching.applyRun(patch, i);
  return patching.value;
}

/** Most operations of a run; their values become arguments of one call. */
const RUN = 10_000;

/**
 * How many operations from one on take what lies side by side out of an array, or put it there: made one by one, each
 * would move all that lies behind.
 */
export function runLength(patch: JsonPatch, from: number): number {
  const { op, path } = patch[from]!;
  const [, holder, first] = /^(.*\/)(0|[1-9]\d*)$/s.exec(path) ?? [];
  if (!holder || !/^(add|remove)$/.test(op)) return 1;
  let count = 1;
  for (; count < RUN; count++) {
    const next = patch[from + count];
    if (next?.op !== op || next.path !== (op === "add" ? holder + (+first! + count) : path)) break;
  }
  return count;
}

type Container = Json[] | { [key: string]: Json };

/**
 * A document while operations are applied to it one by one. A container is copied when it is first changed
 * and then changed in place: a patch of many operations on a large one would otherwise copy it for each.
 */
export class Patching {
  /** The document so far. Parts of it change with the next operation, so none may be kept before the last. */
  value: Json;
  private own = new Set<unknown>();
  private copies = { left: COPY_LIMIT };
  /** Sizes of values that were looked through; they do not change any more. */
  private sizes = new Map<object, number>();
  private index = 0;

  /** @param document any JSON value; never changed */
  constructor(document: Json) {
    this.value = document;
  }

  /**
   * Applies an operation of a patch, with those behind it that can be made at once. After an error `value` is of no
   * use.
   * @returns how many that were
   * @throws PatchError with how many were applied before
   */
  applyRun(patch: JsonPatch, from: number): number {
    const before = this.index;
    try {
      const count = runLength(patch, from);
      if (count === 1 || !this.changeRun(patch, from, count)) {
        this.change(patch[from]!);
        this.index++;
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const { op, path } = patch[from + this.index - before] ?? {};
      const where = `${op} ${path}`.slice(0, 200);
      throw new PatchError(`operation ${this.index} (${where}): ${reason}`, this.index, error);
    }
    return this.index - before;
  }

  /** @returns false where there is no array that the whole run fits */
  private changeRun(patch: JsonPatch, from: number, count: number): boolean {
    const { op, path } = patch[from]!;
    const tokens = parsePointer(path);
    const holder = this.holder(tokens);
    const at = Number(tokens.at(-1));
    const taken = op === "add" ? 0 : count;
    if (!Array.isArray(holder) || at + taken > holder.length) return false;
    const values: Json[] = [];
    for (const end = this.index + count; this.index < end; this.index++)
      if (!taken) values.push(this.spend(member(patch[from + values.length]!, "value")));
    holder.splice(at, taken, ...values);
    return true;
  }

  private change(operation: JsonPatchOperation): void {
    const path = parsePointer(operation.path);
    switch (operation.op) {
      case "add":
      case "replace": {
        const value = this.spend(member(operation, "value"));
        return this.put(path, operation.op === "add" ? 0 : 1, value);
      }
      case "remove":
        return this.put(path, 1);
      case "move": {
        const from = parsePointer(member(operation, "from"));
        const value = read(this.value, from);
        if (from.every((token, i) => token === path[i])) {
          if (path.length === from.length) return;
          throw new PointerError("a value cannot be moved into itself");
        }
        this.put(from, 1);
        return this.put(path, 0, value);
      }
      case "copy": {
        const value = read(this.value, parsePointer(member(operation, "from")));
        return this.put(path, 0, this.spend(value, this.copies));
      }
      case "test":
        if (!jsonEqual(read(this.value, path), member(operation, "value")))
          throw new PointerError("the value is another one");
        return;
      default:
        throw new PointerError(`"${(operation as { op: string }).op}" is not an operation`);
    }
  }

  /**
   * Looks through a value that comes to the document, and stops where it is not JSON or too large. Whatever
   * is in it may be elsewhere too and is no longer changed in place. No recursion: it may be nested deeper
   * than the stack allows.
   */
  private spend(value: Json, budget = { left: COPY_LIMIT }): Json {
    const before = budget.left;
    const ahead = [value];
    while (ahead.length > 0) {
      const next = ahead.pop() as Json;
      if (!isContainer(next)) {
        if (!/^(bo|ob|st)/.test(typeof next) && !Number.isFinite(next))
          throw new PointerError("its value is not JSON");
        budget.left -= typeof next === "string" ? next.length + 2 : 5;
      } else if (this.sizes.has(next)) budget.left -= this.sizes.get(next)!;
      else {
        this.own.delete(next);
        budget.left -= 2;
        if (Array.isArray(next)) for (const inner of next) ahead.push(inner);
        else
          for (const key in next) {
            if (isReservedKey(key)) throw new PointerError(`"${key}" is a reserved key`);
            budget.left -= key.length + 3;
            ahead.push(next[key] as Json);
          }
      }
      if (budget.left < 0) throw new PointerError(`it adds more than ${COPY_LIMIT} characters`);
    }
    this.sizes.set(value as object, before - budget.left);
    return value;
  }

  /** The container whose child `path` names, as a copy of this patch, in place like all around it. */
  private holder(path: string[]): Container {
    let holder = this.copied(this.value, path[0]!);
    this.value = holder;
    for (let i = 1; i < path.length; i++) {
      const token = path[i - 1]!;
      const inner = this.copied(child(holder, token), path[i]!);
      (holder as { [key: string]: Json })[token] = inner;
      holder = inner;
    }
    return holder;
  }

  private copied(value: Json, token: string): Container {
    if (!isContainer(value)) throw new PointerError(`there is no "${token}"`);
    if (this.own.has(value)) return value;
    const copy = Array.isArray(value) ? value.slice() : { ...value };
    this.own.add(copy);
    return copy;
  }

  /** Puts a value at a path, or none; `over` is 1 where one has to be there already. */
  private put(path: string[], over: 0 | 1, ...value: [] | [Json]): void {
    // The RFC leaves open what stands in place of a removed document; AG-UI clients put null.
    if (path.length === 0) this.value = value[0] ?? null;
    else {
      const holder = this.holder(path);
      const token = path.at(-1)!;
      if (over) child(holder, token);
      if (Array.isArray(holder)) holder.splice(placeIn(holder, token, holder.length), over, ...value);
      else if (value.length > 0) holder[token] = value[0]!;
      else delete holder[token];
    }
  }
}

const isContainer = (value: unknown): value is Container => value !== null && typeof value === "object";

/** A member that an operation of its kind must have. */
function member<Name extends "from" | "value">(operation: JsonPatchOperation, name: Name) {
  const value = operation[name];
  if (value === undefined) throw new PointerError(`it has no "${name}"`);
  return value as Name extends "from" ? string : Json;
}

function read(document: Json, path: string[]): Json {
  return path.reduce(child, document);
}

function child(value: Json, token: string): Json {
  if (Array.isArray(value)) return value[placeIn(value, token, value.length - 1)] as Json;
  if (isContainer(value) && Object.hasOwn(value, token)) return value[token] as Json;
  throw new PointerError(`there is no "${token}"`);
}

function placeIn(array: Json[], token: string, last: number): number {
  const index = parseIndex(token, array.length);
  if (index > last) throw new PointerError(`index ${token} is behind the end`);
  return index;
}

/**
 * Equality of two JSON values; the order of keys does not count.
 * @param a any JSON value, nested as deep as you like
 * @param b another one
 */
export function jsonEqual(a: unknown, b: unknown): boolean {
  const ahead = [a, b];
  while (ahead.length > 0) {
    const one = ahead.pop();
    const other = ahead.pop();
    if (one === other) continue;
    if (!isContainer(one) || !isContainer(other)) return false;
    const keys = Object.keys(one);
    if (Array.isArray(one) !== Array.isArray(other) || keys.length !== Object.keys(other).length)
      return false;
    for (const key of keys) {
      if (!Object.hasOwn(other, key)) return false;
      ahead.push((other as Record<string, Json>)[key], (one as Record<string, Json>)[key]);
    }
  }
  return true;
}
