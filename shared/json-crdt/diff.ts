import type { Json, JsonPatch } from "../protocol/agui.ts";
import { commonRuns } from "./common-runs.ts";
import { jsonEqual } from "./patch.ts";
import { formatPointer } from "./pointer.ts";

/** How two values are compared. */
export type DiffOptions = {
  /** Members that may name an element of an array, the first that all have counts. */
  keys?: readonly string[];
  /** Time for finding what two arrays have in common, ms; beyond it the changed middle is replaced. Default 20. */
  budgetMs?: number;
  /** A clock, ms. */
  now?: () => number;
};

const KEYS = ["id", "key", "uuid", "name"];
const BUDGET_MS = 20;
/** Changed elements of two arrays above which the middle is replaced. */
const ELEMENTS = 5_000;

/**
 * The difference of two JSON values as a patch ([H4]), which applied in order to the first gives the second.
 *
 * Elements of arrays are matched by what names them (`id`, `key`, `uuid`, `name`) where all have a name of their
 * own, else by value, never by index: an index says nothing once somebody else has removed one. An element that
 * moved is removed and added.
 */
export function diffJson(from: Json, to: Json, options: DiffOptions = {}): JsonPatch {
  const differ = new Differ(options);
  differ.values(from, to, []);
  return differ.patch;
}

type Match = { a: number; b: number };

class Differ {
  readonly patch: JsonPatch = [];
  private readonly keys: readonly string[];
  private readonly now: () => number;
  private readonly end: number;

  constructor({ keys = KEYS, budgetMs = BUDGET_MS, now = () => performance.now() }: DiffOptions) {
    this.keys = keys;
    this.now = now;
    this.end = now() + budgetMs;
  }

  values(from: Json, to: Json, path: readonly (string | number)[]): void {
    if (from === to) return;
    if (Array.isArray(from) && Array.isArray(to)) return this.arrays(from, to, path);
    if (isObject(from) && isObject(to)) return this.objects(from, to, path);
    if (!jsonEqual(from, to)) this.patch.push({ op: "replace", path: formatPointer(path), value: to });
  }

  private objects(from: Members, to: Members, path: readonly (string | number)[]): void {
    for (const key of Object.keys(from))
      if (!Object.hasOwn(to, key)) this.patch.push({ op: "remove", path: formatPointer([...path, key]) });
    for (const [key, value] of Object.entries(to)) {
      if (Object.hasOwn(from, key)) this.values(from[key] as Json, value, [...path, key]);
      else this.patch.push({ op: "add", path: formatPointer([...path, key]), value });
    }
  }

  private arrays(from: readonly Json[], to: readonly Json[], path: readonly (string | number)[]): void {
    const shorter = Math.min(from.length, to.length);
    let start = 0;
    while (start < shorter && jsonEqual(from[start], to[start])) start += 1;
    let tail = 0;
    while (tail < shorter - start && jsonEqual(from.at(-1 - tail), to.at(-1 - tail))) tail += 1;
    const a = from.slice(start, from.length - tail);
    const b = to.slice(start, to.length - tail);
    const names = this.named(a, b);
    const matches = this.matches(a, b, names);
    let [index, ai, bi] = [start, 0, 0];
    for (const match of [...matches, { a: a.length, b: b.length }]) {
      index = this.gap(a.slice(ai, match.a), b.slice(bi, match.b), index, path, !names);
      if (match.a === a.length) break;
      this.values(a[match.a] as Json, b[match.b] as Json, [...path, index]);
      index += 1;
      [ai, bi] = [match.a + 1, match.b + 1];
    }
  }

  /** What lies between two matches. @returns the index behind it */
  private gap(
    a: readonly Json[],
    b: readonly Json[],
    index: number,
    path: readonly (string | number)[],
    pairs: boolean,
  ): number {
    if (pairs && a.length === b.length) {
      for (const [i, value] of b.entries()) this.values(a[i] as Json, value, [...path, index + i]);
      return index + b.length;
    }
    for (let i = 0; i < a.length; i += 1)
      this.patch.push({ op: "remove", path: formatPointer([...path, index]) });
    for (const [i, value] of b.entries())
      this.patch.push({ op: "add", path: formatPointer([...path, index + i]), value });
    return index + b.length;
  }

  /** What names the elements of both arrays; `null` when they have no names. */
  private named(a: readonly Json[], b: readonly Json[]): { a: unknown[]; b: unknown[] } | null {
    if (a.length === 0 || b.length === 0) return null;
    for (const key of this.keys) {
      const names = { a: namesOf(a, key), b: namesOf(b, key) };
      if (names.a && names.b) return names as { a: unknown[]; b: unknown[] };
    }
    return null;
  }

  private matches(
    a: readonly Json[],
    b: readonly Json[],
    names: { a: unknown[]; b: unknown[] } | null,
  ): Match[] {
    if (a.length === 0 || b.length === 0) return [];
    if (a.length + b.length > ELEMENTS || this.now() > this.end) return [];
    const [left, right] = names ? [names.a, names.b] : [a.map(canonical), b.map(canonical)];
    const found: Match[] = [];
    let compared = 0;
    try {
      commonRuns(
        a.length,
        b.length,
        (i, j) => {
          compared += 1;
          if (compared % 4_096 === 0 && this.now() > this.end) throw TOO_LONG;
          return left[i] === right[j];
        },
        (length, i, j) => {
          for (let k = 0; k < length; k += 1) found.push({ a: i + k, b: j + k });
        },
      );
    } catch (error) {
      if (error !== TOO_LONG) throw error;
      return [];
    }
    return found;
  }
}

const TOO_LONG = new Error("too long");

type Members = { [key: string]: Json };

function isObject(value: Json): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The names of all elements under one key; `null` when one has none, or two have the same. */
function namesOf(list: readonly Json[], key: string): unknown[] | null {
  const names: unknown[] = [];
  for (const one of list) {
    const name = isObject(one) && Object.hasOwn(one, key) ? one[key] : undefined;
    if (typeof name !== "string" && typeof name !== "number") return null;
    names.push(name);
  }
  return new Set(names).size === names.length ? names : null;
}

/** Equal for equal values, whatever the order of keys. */
function canonical(value: Json): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "string" ? `"${value}` : value;
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner as Json) ? Object.fromEntries(Object.entries(inner as Members).sort(byKey)) : inner,
  );
}

function byKey([a]: [string, Json], [b]: [string, Json]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
