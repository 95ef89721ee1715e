import { isMembers, valueAt } from "../../shared/json-crdt/place.ts";
import { isWithin, parsePointer } from "../../shared/json-crdt/pointer.ts";
import type { Json, JsonPatch } from "../../shared/protocol/index.ts";

/** Parts of an agent's state that are its own, by pointer. */
export type Hidden = Readonly<Record<string, Json>>;

type Members = { [key: string]: Json };

/**
 * Bookkeeping that agent frameworks put into their state ([H7]), and how to tell it from what an application
 * may keep under the same name.
 */
const FRAMEWORKS: readonly { pointer: string; isIt: (value: Json) => boolean }[] = [
  // LangChain messages have a `type` where AG-UI's have a `role`.
  {
    pointer: "/messages",
    isIt: (value) => isListOf(value, (one) => typeof one.type === "string" && "content" in one),
  },
  { pointer: "/tools", isIt: (value) => isListOf(value, isTool) },
  { pointer: "/copilotkit", isIt: (value) => isMembers(value) },
  { pointer: "/ag-ui", isIt: (value) => isMembers(value) },
];

/** Which parts of an agent's state are private. */
export class PrivateParts {
  private readonly pointers: readonly { pointer: string; path: string[]; isIt: (value: Json) => boolean }[];

  /** @param pointers as configured; default: what is known of frameworks, where it looks like theirs */
  constructor(pointers?: readonly string[]) {
    const parts = pointers?.map((pointer) => ({ pointer, isIt: () => true })) ?? FRAMEWORKS;
    this.pointers = parts.map((part) => ({ ...part, path: parsePointer(part.pointer) }));
  }

  /**
   * Takes the private parts out of a whole state.
   * @param before what was hidden of the agent's last one: an empty list shows no shape
   */
  split(state: Json, before: Hidden = {}): { shown: Json; hidden: Hidden } {
    let shown = state;
    const hidden: Record<string, Json> = {};
    for (const { pointer, path, isIt } of this.pointers) {
      const value = valueAt(shown, path);
      if (value === undefined) continue;
      const isEmpty = Array.isArray(value) && value.length === 0;
      if (isEmpty ? !Object.hasOwn(before, pointer) : !isIt(value)) continue;
      hidden[pointer] = value;
      shown = without(shown, path);
    }
    return { shown, hidden };
  }

  /** Whether a patch names something at, in or above a private part. */
  concerns(patch: JsonPatch): boolean {
    return patch.some(({ path, from }) =>
      [path, from].some(
        (given) =>
          given !== undefined &&
          this.pointers.some(({ pointer }) => isWithin(given, pointer) || isWithin(pointer, given)),
      ),
    );
  }
}

/** The state as the agent has it: with its private parts, where there is something to hold them. */
export function withHidden(shown: Json, hidden: Hidden): Json {
  return Object.entries(hidden).reduce(
    (state, [pointer, value]) => put(state, parsePointer(pointer), value),
    shown,
  );
}

function put(state: Json, path: readonly string[], value: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined || !isMembers(state)) return state;
  if (rest.length === 0) return { ...state, [key]: value };
  return Object.hasOwn(state, key) ? { ...state, [key]: put(state[key] as Json, rest, value) } : state;
}

function without(state: Json, path: readonly string[]): Json {
  const [key, ...rest] = path;
  if (key === undefined || !isMembers(state)) return state;
  if (rest.length > 0) return { ...state, [key]: without(state[key] as Json, rest) };
  const { [key]: _taken, ...left } = state;
  return left;
}

function isTool(one: Members): boolean {
  return "function" in one || ("name" in one && ("description" in one || "parameters" in one));
}

function isListOf(value: Json, isOne: (one: Members) => boolean): boolean {
  return Array.isArray(value) && value.every((one) => isMembers(one) && isOne(one));
}
