import { formatPointer, isReservedKey } from "./pointer.ts";

/** What a value may have at most to stand under the shared state. */
export type StateLimits = {
  /** Length as JSON text, in UTF-16 units; default 1 MiB, at most {@link STATE_CHARACTERS_HARD}. */
  characters?: number;
  /** Containers inside each other; default 100. */
  depth?: number;
  /** Containers and scalars together; default 100,000. */
  values?: number;
};

/** The default limits of a state. */
export const STATE_LIMITS: Required<StateLimits> = { characters: 1_048_576, depth: 100, values: 100_000 };

/** What no limit of an application can exceed, in characters of JSON. */
export const STATE_CHARACTERS_HARD = 10_485_760;

/** Longest pointer a sentence names whole, characters. */
const POINTER_SHOWN = 200;

type Frame = { container: unknown[] | Record<string, unknown>; keys: string[] | null; next: number };

/**
 * Says why a value may not stand under the shared state: anything but finite JSON, a reserved key, half a
 * surrogate pair (it does not survive UTF-8), or more than the limits allow. Looks at each value once and
 * stops at the first fault, so a hostile value costs no more than one at the limits; no recursion.
 *
 * @param value anything
 * @param limits where they differ from {@link STATE_LIMITS}
 * @returns `null` when it may; else a sentence with the place as a JSON Pointer, and never the value itself
 */
export function checkState(value: unknown, limits: StateLimits = {}): string | null {
  const { depth, values } = { ...STATE_LIMITS, ...limits };
  const characters = Math.min(limits.characters ?? STATE_LIMITS.characters, STATE_CHARACTERS_HARD);
  const frames: Frame[] = [];
  let seen = 0;
  let size = 0;

  const place = () => {
    const pointer = formatPointer(frames.map((f) => f.keys?.[f.next - 1] ?? f.next - 1));
    const shown = pointer.length > POINTER_SHOWN ? `${pointer.slice(0, POINTER_SHOWN)}…` : pointer;
    return pointer === "" ? "The state" : `The state at "${shown.replace(/\p{Surrogate}/gu, "\ufffd")}"`;
  };

  /** Counts a string as JSON text; the faults it has are not worth looking for when it is too long. */
  const measure = (text: string) => {
    size += text.length + 2;
    if (size <= characters && NEEDS_ESCAPE.test(text)) size += JSON.stringify(text).length - text.length - 2;
  };

  const tooLarge = () =>
    size > characters ? `The state has more than ${characters} characters as JSON.` : null;

  /** The fault of one value; a container is put on the stack. */
  const look = (at: unknown): string | null => {
    seen += 1;
    if (at === null || at === true) size += 4;
    else if (at === false) size += 5;
    else if (typeof at === "string") {
      measure(at);
      if (size <= characters && LONE_SURROGATE.test(at)) return `${place()} has half a surrogate pair.`;
    } else if (typeof at === "number") {
      if (!Number.isFinite(at)) return `${place()} is a number that is not finite.`;
      size += String(at).length;
    } else if (typeof at !== "object") return `${place()} is of type ${typeof at}, which JSON does not have.`;
    else return enter(at);
    return tooLarge();
  };

  const enter = (at: object): string | null => {
    if (frames.length >= depth) return `${place()} is nested deeper than ${depth} levels.`;
    if (!Array.isArray(at) && !isPlain(at)) return `${place()} is not plain JSON but an object of a class.`;
    const keys = Array.isArray(at) ? null : Object.keys(at);
    const length = keys === null ? (at as unknown[]).length : keys.length;
    // Each has at least one character, and all but the last one a comma: no need to look at a million.
    size += 2 + Math.max(0, length - 1);
    if (seen + length > values) return `The state has more than ${values} values.`;
    if (size > characters) return tooLarge();
    for (const key of keys ?? []) {
      if (isReservedKey(key)) return `${place()} has the reserved key "${key}".`;
      measure(key);
      size += 1;
      if (size > characters) return tooLarge();
      if (LONE_SURROGATE.test(key)) return `${place()} has a key with half a surrogate pair.`;
    }
    frames.push({ container: at as Frame["container"], keys, next: 0 });
    return null;
  };

  let fault = look(value);
  while (fault === null && frames.length > 0) {
    const frame = frames.at(-1)!;
    const length = frame.keys?.length ?? (frame.container as unknown[]).length;
    if (frame.next >= length) frames.pop();
    else {
      const key = frame.keys?.[frame.next] ?? frame.next;
      frame.next += 1;
      fault = look((frame.container as Record<string | number, unknown>)[key]);
    }
  }
  return fault;
}

// All but control characters, quote and backslash; told by what they are not, as a pattern may not have them.
const NEEDS_ESCAPE = /[^ !#-[\]-\uffff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** An object as a literal or JSON.parse makes it, of this realm or another. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "hasOwnProperty");
}
