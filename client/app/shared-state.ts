import type { Json, Thread } from "../react/index.ts";

export { useSharedState } from "../react/index.ts";

/** One operation of a JSON Patch, as far as the app makes any. */
export type StateOp = { op: "add" | "replace"; path: string; value: Json };

/** Changes the state. Rejects with a CothreadError. */
export async function changeState(thread: Thread, ops: readonly StateOp[]): Promise<void> {
  await thread.patch([...ops]);
}

/** Takes back what a run changed. @returns how many things were left. Rejects with a CothreadError */
export async function revertRun(thread: Thread, runId: string): Promise<number> {
  const { skipped } = await thread.revert(runId);
  return skipped.length;
}

/** Whether a state has something to show. */
export function hasState(state: Json): boolean {
  if (state === null) return false;
  return typeof state === "object" ? Object.keys(state).length > 0 : state !== "";
}

/** A key as a token of a JSON pointer. */
export function token(key: string | number): string {
  return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
}

/** What stands at a path of keys; `undefined` where nothing does. */
export function at(state: Json, keys: readonly string[]): Json | undefined {
  let value: Json | undefined = state;
  for (const key of keys) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Whether a value is an object with members. */
export function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
