import { isReservedKey } from "../../shared/json-crdt/pointer.ts";
import type { UpdateBytes } from "./update-bytes.ts";
import { malformed, UpdateRefusal } from "./update-refusal.ts";

/** Levels within each other beyond which nothing is applied, wherever it lies: Yjs recurses. */
export const NESTING_HARD = 500;

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [34, 92, 44, 91, 123];
const HALF = "half a surrogate pair";
const LONE_SURROGATE = /\p{Surrogate}/u;
/** Each value that stands in an update as JSON text takes about as long as this many others. */
const JSON_WEIGHT = 4;

/** How many more plain values an update may have, wherever they lie. */
export class ValueBudget {
  private left: number;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
    this.left = limit;
  }

  /** @throws UpdateRefusal too_big when nothing is left */
  spend(values: number): void {
    this.left -= values;
    if (this.left < 0)
      throw new UpdateRefusal("too_big", `The update has more than ${this.limit} values; send it in parts.`);
  }
}

/** What plain values in an update are, for the places that hold JSON only ([H13]). */
export class ValueFacts {
  /** The first thing that is no finite JSON, or a reserved key; `null` when there is none. */
  fault: UpdateRefusal | null = null;
  /** Containers within each other at most; 0 for scalars. */
  depth = 0;
  /** Containers and scalars together. */
  values = 0;
  private readonly budget: ValueBudget;

  constructor(budget: ValueBudget) {
    this.budget = budget;
  }

  /** Reads a value in the encoding of lib0. */
  readAny(from: UpdateBytes, depth = 0): void {
    this.values += 1;
    this.budget.spend(1);
    const kind = from.byte();
    switch (kind) {
      case 127:
        return this.blame("not_json", "a value that is undefined");
      case 126:
      case 121:
      case 120:
        return;
      case 125:
        // A signed integer: of its bytes all but the last have the high bit.
        for (let n = 1; from.byte() >= 128; n += 1) if (n >= 8) throw malformed("a number in it is too long");
        return;
      case 124:
      case 123:
        if (!Number.isFinite(from.float(kind === 124 ? 4 : 8)))
          this.blame("not_json", "a number that is not finite");
        return;
      case 122:
        from.skip(8);
        return this.blame("not_json", "a BigInt");
      case 119:
        from.text();
        return;
      case 118:
        return this.readObject(from, this.enter(depth));
      case 117: {
        const inside = this.enter(depth);
        for (let n = from.count(1); n > 0; n -= 1) this.readAny(from, inside);
        return;
      }
      case 116:
        from.skip(from.uint());
        return this.blame("not_json", "binary data");
      default:
        throw malformed("it holds a value of an unknown kind");
    }
  }

  /** Looks at a value as old versions of Yjs write it: as JSON text, or the word `undefined`. */
  lookAtLegacy(text: string): void {
    if (text !== "undefined") return this.lookAtJson(text);
    this.budget.spend(1);
    this.look(undefined);
  }

  /**
   * Looks at a value that stands in an update as JSON text.
   * @throws SyntaxError for what is no JSON
   */
  lookAtJson(text: string): void {
    this.budget.spend(JSON_WEIGHT * valuesIn(text));
    this.look(JSON.parse(text));
  }

  private look(root: unknown): void {
    const open: [value: unknown, depth: number][] = [[root, 0]];
    for (let next = open.pop(); next; next = open.pop()) {
      const [value, depth] = next;
      this.values += 1;
      if (value === undefined) this.blame("not_json", "a value that is undefined");
      else if (typeof value === "string") this.lookAtText(value);
      else if (typeof value === "number" && !Number.isFinite(value))
        // JSON text may hold 1e999.
        this.blame("not_json", "a number that is not finite");
      else if (typeof value === "object" && value !== null) {
        const inside = this.enter(depth);
        if (!Array.isArray(value)) for (const key of Object.keys(value)) this.lookAtKey(key);
        for (const item of Object.values(value)) open.push([item, inside]);
      }
    }
  }

  private lookAtKey(key: string): void {
    this.fault ??= faultOfKey(key);
  }

  private readObject(from: UpdateBytes, inside: number): void {
    for (let n = from.count(2); n > 0; n -= 1) {
      this.lookAtKey(from.text());
      this.readAny(from, inside);
    }
  }

  private lookAtText(text: string): void {
    if (LONE_SURROGATE.test(text)) this.blame("not_json", HALF);
  }

  private enter(depth: number): number {
    if (depth >= NESTING_HARD)
      throw new UpdateRefusal("too_deep", `The update nests values deeper than ${NESTING_HARD} levels.`);
    if (depth >= this.depth) this.depth = depth + 1;
    return depth + 1;
  }

  private blame(kind: "not_json" | "bad_key", what: string): void {
    this.fault ??= faultOf(kind, what);
  }
}

/** What keeps a key out of objects that are JSON; `null` when nothing does. */
export function faultOfKey(key: string): UpdateRefusal | null {
  if (isReservedKey(key)) return faultOf("bad_key", `the reserved key "${key}"`);
  return LONE_SURROGATE.test(key) ? faultOf("not_json", HALF) : null;
}

function faultOf(kind: "not_json" | "bad_key", what: string): UpdateRefusal {
  return new UpdateRefusal(kind, `The update puts ${what} where only JSON may stand.`);
}

/** How many values JSON text holds at most, without parsing it. */
function valuesIn(text: string): number {
  let values = 1;
  let isString = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) isString = !isString;
    else if (isString) i += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA || code === BRACKET || code === BRACE) values += 1;
  }
  return values;
}
