import type { Json } from "../react/index.ts";
import { at, isObject, type StateOp, token } from "./shared-state.ts";

/** How far a step is. */
export type StepStatus = "open" | "active" | "done";

/** A step of a plan as it is shown. */
export type Step = {
  /** The same one as long as the step is; told apart by its id, or by its text. */
  readonly key: string;
  readonly text: string;
  readonly status: StepStatus;
};

/** A plan that lies in the state. */
export type Plan = {
  readonly title: string;
  /** Pointer of the array. */
  readonly path: string;
  readonly items: readonly Json[];
  readonly steps: readonly Step[];
};

type Item = { [key: string]: Json };

const TEXTS = ["title", "text", "name"] as const;
const FLAGS = ["done", "completed", "checked"] as const;
const DONE = /^(?:done|completed?|success|finished)$/i;
const ACTIVE = /^(?:active|running|in[ _-]?progress|doing|started)$/i;
const OPEN = /^(?:pending|open|to[ _-]?do|waiting|not[ _-]?started|queued|planned)$/i;

/** How deep in the state a plan is looked for. */
const DEPTH = 4;

/** The plan of a state: `/plan/steps`, or the first array of things with a text that are done or are not. */
export function readPlan(state: Json): Plan | null {
  const found =
    [["plan", "steps"], ["plan"]].find((keys) => isPlan(at(state, keys))) ?? findPlan(state, [], DEPTH);
  if (!found) return null;
  const items = at(state, found) as Item[];
  const holder = at(state, found.slice(0, -1));
  const title = [holder, state].map((each) => (isObject(each) ? each.title : undefined));
  const seen = new Map<string, number>();
  const steps = items.map((item) => {
    const name = stepKey(item);
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return {
      key: before === 0 ? name : `${name} ${before}`,
      text: textOf(item) ?? "",
      status: statusOf(item),
    };
  });
  const named = title.find((each) => typeof each === "string" && each !== "");
  return {
    title: typeof named === "string" ? named : "",
    path: `/${found.map(token).join("/")}`,
    items,
    steps,
  };
}

/** What tells a step from the others of its plan. */
export function stepKey(item: Json | undefined): string {
  if (!isObject(item)) return "";
  const id = [item.id, item.key, item.uuid].find(
    (each) => typeof each === "string" || typeof each === "number",
  );
  return id === undefined ? `text ${textOf(item) ?? ""}` : `id ${id}`;
}

/** The patch that ticks a step, or takes the tick away, in the words of the plan it stands in. */
export function tick(plan: Plan, index: number, isDone: boolean): StateOp[] {
  const item = plan.items[index] as Item;
  const flag =
    FLAGS.find((each) => typeof item[each] === "boolean") ??
    (typeof item.status === "string" ? undefined : flagOf(plan));
  const field = flag ?? "status";
  const value = flag ? isDone : wordFor(plan, isDone);
  return [{ op: field in item ? "replace" : "add", path: `${plan.path}/${index}/${field}`, value }];
}

function findPlan(value: Json, keys: readonly string[], depth: number): readonly string[] | null {
  if (isPlan(value)) return keys.length > 0 ? keys : null;
  if (!isObject(value) || depth === 0) return null;
  for (const [key, child] of Object.entries(value)) {
    const found = findPlan(child, [...keys, key], depth - 1);
    if (found) return found;
  }
  return null;
}

function isPlan(value: Json | undefined): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((item) => textOf(item) !== undefined) && value.some(isStep);
}

function isStep(item: Json): boolean {
  if (!isObject(item)) return false;
  const { status } = item;
  const known = (word: string) => DONE.test(word) || ACTIVE.test(word) || OPEN.test(word);
  return (
    FLAGS.some((flag) => typeof item[flag] === "boolean") || (typeof status === "string" && known(status))
  );
}

function textOf(item: Json): string | undefined {
  if (!isObject(item)) return undefined;
  const text = TEXTS.map((key) => item[key]).find((each) => typeof each === "string");
  return typeof text === "string" ? text : undefined;
}

function statusOf(item: Item): StepStatus {
  const word = typeof item.status === "string" ? item.status : "";
  const flag = FLAGS.find((each) => typeof item[each] === "boolean");
  if (flag ? item[flag] : DONE.test(word)) return "done";
  return ACTIVE.test(word) ? "active" : "open";
}

function flagOf({ items }: Plan): (typeof FLAGS)[number] | undefined {
  return FLAGS.find((flag) => items.some((item) => isObject(item) && typeof item[flag] === "boolean"));
}

/** The word that other steps of the plan have for it. */
function wordFor({ items }: Plan, isDone: boolean): string {
  const used = items.map((item) => (isObject(item) ? item.status : undefined));
  const fits = used.find((word) => typeof word === "string" && (isDone ? DONE : OPEN).test(word));
  return typeof fits === "string" ? fits : isDone ? "done" : "pending";
}
