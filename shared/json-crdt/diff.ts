import type { Json, JsonPatch } from "../protocol/agui.ts";
import { jsonEqual } from "./patch.ts";
import { formatPointer } from "./pointer.ts";
import { commonSequence, TimeBudget } from "./sequence-diff.ts";
import { ValueIds } from "./value-ids.ts";

/** How {@link diffJson} compares. */
export type DiffOptions = {
  /**
   * Members that may tell the objects of an array apart, in the order in which they are tried. Default
   * `id, key, uuid, name`.
   */
  keys?: readonly string[];
  /** Time for telling which array elements stay, all arrays together, in milliseconds; default 20. */
  milliseconds?: number;
  /** Most elements of one array that may be added, removed or paired before it counts as new; default 5,000. */
  elements?: number;
  /** A clock in milliseconds; default `performance.now`. */
  now?: () => number;
};

type JsonObject = { [key: string]: Json };
/** Two values at one place, which may differ; the path is the one in the new value. */
type Pair = { from: Json; to: Json; path: string };

/**
 * The smallest patch we can tell quickly that makes one JSON value of another, written so that it meets as
 * little as possible of what others changed meanwhile.
 *
 * - Objects are compared by key, and what both sides have as object or as array is compared inside.
 * - Arrays: equal elements at both ends stay. If all elements between are objects with a string or number of
 *   their own under one of `keys`, those with the same one are the same element, and are compared inside.
 *   Else equal elements stay, and where as many elements are gone as are new between two that stay, they are
 *   compared inside, in order. Others are removed and added, a moved one as well. Never by index.
 * - When time or `elements` is exceeded, all between the equal ends of an array is removed and added, element
 *   by element, so the cost stays linear. Edits that others made there are then lost.
 *
 * @param from any JSON value; time grows with the square of how deep arrays are nested, the stack does not
 * @param to another one
 * @returns operations add, remove and replace, for `applyPatch` in order; none when the values are equal
 *   (the order of keys does not count). Their values are parts of `to`, not copies.
 */
export function diffJson(from: Json, to: Json, options: DiffOptions = {}): JsonPatch {
  const diff = new Diff(options);
  diff.pairs.push({ from, to, path: "" });
  // What an array loses and gains is told before what changes inside its elements, so their paths are those
  // of the new value, and the loop needs no stack.
  for (let i = 0; i < diff.pairs.length; i++) diff.compare(diff.pairs[i]!);
  return diff.patch;
}

class Diff {
  readonly patch: JsonPatch = [];
  /** Grows while it is worked on. */
  readonly pairs: Pair[] = [];
  private readonly keys: readonly string[];
  private readonly elements: number;
  private readonly budget: TimeBudget;

  constructor(options: DiffOptions) {
    this.keys = options.keys ?? ["id", "key", "uuid", "name"];
    this.elements = options.elements ?? 5_000;
    this.budget = new TimeBudget(options.milliseconds ?? 20, options.now);
  }

  compare({ from, to, path }: Pair): void {
    if (from === to) return;
    if (Array.isArray(from) && Array.isArray(to)) this.arrays(from, to, path);
    else if (isObject(from) && isObject(to)) this.objects(from, to, path);
    else this.patch.push({ op: "replace", path, value: to });
  }

  private objects(from: JsonObject, to: JsonObject, path: string): void {
    for (const key of Object.keys(from))
      if (!Object.hasOwn(to, key)) this.patch.push({ op: "remove", path: path + formatPointer([key]) });
    for (const key of Object.keys(to)) {
      const value = to[key] as Json;
      const isKnown = Object.hasOwn(from, key);
      if (isKnown && from[key] === value) continue;
      const place = path + formatPointer([key]);
      if (isKnown) this.pairs.push({ from: from[key] as Json, to: value, path: place });
      else this.patch.push({ op: "add", path: place, value });
    }
  }

  private arrays(from: Json[], to: Json[], path: string): void {
    const shorter = Math.min(from.length, to.length);
    let start = 0;
    while (start < shorter && jsonEqual(from[start], to[start])) start++;
    let end = 0;
    while (end < shorter - start && jsonEqual(from.at(-1 - end), to.at(-1 - end))) end++;
    const before = from.slice(start, from.length - end);
    const after = to.slice(start, to.length - end);
    const key = this.keyOf(before, after);
    const kept = this.kept(before, after, key);
    this.gaps(before, after, kept ?? [], { path, start, mayPair: key === undefined && kept !== null, key });
  }

  /** The pairs of elements that stay, as indexes; `null` when it would take too long to tell. */
  private kept(before: Json[], after: Json[], key: string | undefined): [number, number][] | null {
    if (before.length === 0 || after.length === 0) return [];
    // The most frequent change needs no search, so it is told however late it is.
    if (before.length === 1 && after.length === 1)
      return key !== undefined && keyOf(before[0], key) === keyOf(after[0], key) ? [[0, 0]] : [];
    if (this.budget.left <= 0) return null;
    const ids = new ValueIds();
    const idsOf = (list: Json[]): unknown[] | null => {
      if (key !== undefined) return list.map((item) => keyOf(item, key));
      const found: number[] = [];
      for (const item of list) {
        if (found.length % 64 === 63 && this.budget.left <= 0) return null;
        found.push(ids.of(item));
      }
      return found;
    };
    const one = this.budget.spend(() => idsOf(before));
    const other = one && this.budget.spend(() => idsOf(after));
    const common = other && commonSequence(one, other, this.budget);
    if (!common || before.length + after.length - 2 * common.length > this.elements) return null;
    return common;
  }

  private gaps(
    before: Json[],
    after: Json[],
    kept: [number, number][],
    at: { path: string; start: number; mayPair: boolean; key: string | undefined },
  ): void {
    const place = (j: number) => `${at.path}/${at.start + j}`;
    const pair = (i: number, j: number) =>
      this.pairs.push({ from: before[i] as Json, to: after[j] as Json, path: place(j) });
    let i = 0;
    let j = 0;
    for (const [nextI, nextJ] of [...kept, [before.length, after.length] as const]) {
      if (at.mayPair && nextI - i === nextJ - j) while (i < nextI) pair(i++, j++);
      for (; i < nextI; i++) this.patch.push({ op: "remove", path: place(j) });
      for (; j < nextJ; j++) this.patch.push({ op: "add", path: place(j), value: after[j] as Json });
      if (nextI < before.length && nextJ < after.length) {
        if (at.key !== undefined) pair(i, j);
        i++;
        j++;
      }
    }
  }

  /** The first member that tells the elements of both lists apart. */
  private keyOf(before: Json[], after: Json[]): string | undefined {
    return this.keys.find((key) => isKeyOf(key, before) && isKeyOf(key, after));
  }
}

function isKeyOf(key: string, list: Json[]): boolean {
  const seen = new Set<Json>();
  for (const item of list) {
    if (!isObject(item) || !Object.hasOwn(item, key)) return false;
    const value = item[key] as Json;
    if ((typeof value !== "string" && typeof value !== "number") || seen.has(value)) return false;
    seen.add(value);
  }
  return true;
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function keyOf(item: Json | undefined, key: string): Json {
  return (item as JsonObject)[key] as Json;
}
