import { isReservedKey } from "../../shared/json-crdt/pointer.ts";
import type { UpdateBytes } from "./update-bytes.ts";
import { malformed, UpdateRefusal } from "./update-refusal.ts";

/** Levels within each other beyond which nothing is applied, wherever it lies: Yjs recurses. */
export const NESTING_HARD = 500;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** What plain values in an update are, for the places that hold JSON only ([H13]). */
export class ValueFacts {
  /** The first thing that is no finite JSON, or a reserved key; `null` when there is none. */
  fault: UpdateRefusal | null = null;
  /** Containers within each other at most; 0 for scalars. */
  depth = 0;
  /** Containers and scalars together. */
  values = 0;

  /** Reads a value in the encoding of lib0. */
  readAny(from: UpdateBytes, depth = 0): void {
    this.values += 1;
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

  /** Looks at a value that stood in an update as JSON text, or at the `undefined` that Yjs writes so. */
  look(root: unknown): void {
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

  /** Looks at a key of an object. */
  lookAtKey(key: string): void {
    if (isReservedKey(key)) this.blame("bad_key", `the reserved key "${key}"`);
    else this.lookAtText(key);
  }

  private readObject(from: UpdateBytes, inside: number): void {
    for (let n = from.count(2); n > 0; n -= 1) {
      this.lookAtKey(from.text());
      this.readAny(from, inside);
    }
  }

  private lookAtText(text: string): void {
    if (LONE_SURROGATE.test(text)) this.blame("not_json", "half a surrogate pair");
  }

  private enter(depth: number): number {
    if (depth >= NESTING_HARD)
      throw new UpdateRefusal("too_deep", `The update nests values deeper than ${NESTING_HARD} levels.`);
    if (depth >= this.depth) this.depth = depth + 1;
    return depth + 1;
  }

  private blame(kind: "not_json" | "bad_key", what: string): void {
    this.fault ??= new UpdateRefusal(kind, `The update puts ${what} where only JSON may stand.`);
  }
}
