import type { Json, JsonPatch } from "../protocol/index.ts";
import { type DiffOptions, diffJson } from "./diff.ts";
import { type FineOp, fineDiff } from "./fine-patch.ts";
import { movePatch } from "./moves.ts";
import { applyPatch } from "./patch.ts";
import { isMembers, valueAt } from "./place.ts";
import { formatPointer, isWithin, parsePointer } from "./pointer.ts";
import type { TextPaths } from "./text-paths.ts";

/**
 * What leads from one state to its next, as a patch of a state that others have changed meanwhile ([H6]). What it
 * names and is gone stays gone; what it removes and others have edited stays; what it adds and is there is not added.
 * @param view the state of the others; both began with `from`
 */
export function carryOver(from: Json, to: Json, view: Json, texts: TextPaths, diff?: DiffOptions): JsonPatch {
  const carried: JsonPatch = [];
  let [own, others] = [from, view];
  for (const operation of diffJson(from, to, diff)) {
    const over: FineOp[] = fineDiff(own, others, texts, diff).ops;
    const left = isLeft(operation, over) && !isThere(operation, others);
    const moved = left ? movePatch([operation], over, others) : null;
    own = applyPatch(own, [operation]);
    if (!moved || !applies(others, moved.patch)) continue;
    others = applyPatch(others, moved.patch);
    carried.push(...moved.patch);
  }
  return carried;
}

/** Whether others have left alone what an operation takes away. */
function isLeft({ op, path }: JsonPatch[number], over: readonly FineOp[]): boolean {
  return (
    op !== "remove" || !over.some((one) => one.kind !== "root" && isWithin(formatPointer(one.path), path))
  );
}

/** Whether an element that is to be added to a list stands in it, by its name. */
function isThere({ op, path, value }: JsonPatch[number], state: Json): boolean {
  if (op !== "add") return false;
  const list = valueAt(state, parsePointer(path).slice(0, -1));
  const [name] = namesIn([value as Json]);
  return Array.isArray(list) && isMembers(value as Json) && namesIn(list).includes(name as string);
}

/** What tells the elements of a list apart. */
export function namesIn(list: Json | undefined): string[] {
  if (!Array.isArray(list)) return [];
  return list.map((item) =>
    JSON.stringify((isMembers(item) && (item.id ?? item.key ?? item.uuid ?? item.name)) || item),
  );
}

/** Whether a patch applies to a state. */
export function applies(state: Json, patch: JsonPatch): boolean {
  try {
    applyPatch(state, patch);
    return true;
  } catch {
    return false;
  }
}
