import { diffWordsWithSpace } from "diff";
import type { Json } from "../react/index.ts";
import { type Plan, readPlan, type Step } from "./plan.ts";
import { isObject } from "./shared-state.ts";
import { documentOf } from "./use-document.ts";

/**
 * What became of a step where nobody merges: it is the same; it is gone; it is back although it was removed; or it
 * says something else.
 */
export type Fate = "same" | "lost" | "back" | "other";

/** A step as a stock client shows it; one that is lost as it is. */
export type FatedStep = Step & {
  readonly fate: Fate;
  /** What it is, where that is something else. */
  readonly is?: Step;
};

/** A stretch of a text: in both, only in what is merged, or only where nobody merges. */
export type Stretch = { readonly text: string; readonly fate: Exclude<Fate, "other"> };

/** More characters than this are not compared word by word. */
const LONGEST = 50_000;

/**
 * The steps of a plan where nobody merges, in their order there; those that are lost stand where they would be.
 * @returns `null` when there is no plan in either state
 */
export function fateOfPlan(
  plain: Json,
  merged: Json,
): { title: string; steps: readonly FatedStep[]; done: number } | null {
  const [shown, is] = [readPlan(plain), readPlan(merged)];
  if (!shown && !is) return null;
  const known = new Map(is?.steps.map((step) => [step.key, step]));
  const steps: FatedStep[] = (shown?.steps ?? []).map((step) => {
    const other = known.get(step.key);
    if (!other) return { ...step, fate: "back" };
    return same(step, other) ? { ...step, fate: "same" } : { ...step, fate: "other", is: other };
  });
  // A lost step stands behind the one it stood behind.
  let place = 0;
  for (const step of is?.steps ?? []) {
    const at = steps.findIndex(({ key }) => key === step.key);
    if (at >= 0) place = at + 1;
    else steps.splice(place++, 0, { ...step, fate: "lost" });
  }
  const done = (shown?.steps ?? []).filter(({ status }) => status === "done").length;
  return { title: titleOf(shown, is), steps, done };
}

/**
 * The document where nobody merges, with what would have been lost.
 * @returns `null` when there is no document in either state
 */
export function fateOfDocument(plain: Json, merged: Json): readonly Stretch[] | null {
  const [shown, is] = [documentOf(plain), documentOf(merged)];
  if (shown === undefined && is === undefined) return null;
  if (shown === is) return [{ text: is ?? "", fate: "same" }];
  const pair: Stretch[] = [
    { text: is ?? "", fate: "lost" },
    { text: shown ?? "", fate: "back" },
  ];
  if ((shown?.length ?? 0) + (is?.length ?? 0) > LONGEST) return pair.filter(({ text }) => text !== "");
  return diffWordsWithSpace(is ?? "", shown ?? "").map(({ value, added, removed }) => ({
    text: value,
    fate: removed ? "lost" : added ? "back" : "same",
  }));
}

/** How many things would have been lost, or be something else. */
export function countLost(plain: Json, merged: Json): number {
  if (plain === merged) return 0;
  const steps = fateOfPlan(plain, merged)?.steps.filter(({ fate }) => fate !== "same").length ?? 0;
  const texts = documentOf(plain) === documentOf(merged) ? 0 : 1;
  return steps + texts + countFields(plain, merged);
}

/** How many members differ that are neither plan nor document. */
function countFields(plain: Json, merged: Json): number {
  const [one, other] = [fieldsOf(plain), fieldsOf(merged)];
  return [...new Set([...one.keys(), ...other.keys()])].filter((key) => one.get(key) !== other.get(key))
    .length;
}

/** Members as text, without plan and document. */
function fieldsOf(state: Json): Map<string, string> {
  const members = isObject(state) ? Object.entries(state) : [["", state] as const];
  const fields = members.filter(([key, value]) => key !== "document" && !readPlan({ [key]: value }));
  return new Map(fields.map(([key, value]) => [key, JSON.stringify(value)]));
}

function same(a: Step, b: Step): boolean {
  return a.text === b.text && a.status === b.status;
}

function titleOf(...plans: (Plan | null)[]): string {
  return plans.find((plan) => plan !== null)?.title ?? "";
}
