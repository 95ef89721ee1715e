import type { Json } from "../protocol/agui.ts";

/** Something that holds values. */
export type Holder = Json[] | { [key: string]: Json };

/** Whether a value is an object with members: neither a scalar nor an array. */
export function isMembers(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path; `undefined` when there is none. */
export function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const token of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, token)) return undefined;
    found = (found as { [key: string]: Json })[token];
  }
  return found;
}

/**
 * The state with another value at a path; what is not on the way there stays the same objects.
 * @param change gives what is to take the place of the holder of the last token
 */
export function updateAt(
  state: Json,
  path: readonly string[],
  change: (holder: Holder, key: string) => Holder,
): Json {
  const [key, ...rest] = path as [string, ...string[]];
  const holder = state as Holder;
  if (rest.length === 0) return change(holder, key);
  if (Array.isArray(holder))
    return holder.with(Number(key), updateAt(holder[Number(key)] as Json, rest, change));
  return { ...holder, [key]: updateAt(holder[key] as Json, rest, change) };
}

/** The state with another value in the place of one that is there. */
export function replaceAt(state: Json, path: readonly string[], value: Json): Json {
  return updateAt(state, path, (holder, key) =>
    Array.isArray(holder) ? holder.with(Number(key), value) : { ...holder, [key]: value },
  );
}
