import type { PlanBoard } from "./plan-board.ts";
import { capital, count, inMarkdown, progressOf } from "./wording.ts";

/** So many steps are told; a plan that people made longer is read in the state. */
const TOLD = 20;

/** How many steps are done, as a sentence. Markdown. */
export function planState({ steps, open }: PlanBoard): string {
  return `${capital(progressOf(steps.length - open.length, steps.length))}.`;
}

/** The steps and how far they are, as a task list. Markdown. */
export function planList({ steps }: PlanBoard): string {
  const lines = steps.slice(0, TOLD).map(({ title, status }) => {
    const mark = status === "done" ? "x" : " ";
    return `- [${mark}] ${inMarkdown(title)}${status === "active" ? " (under way)" : ""}`;
  });
  const rest = steps.length - lines.length;
  if (rest > 0) lines.push("", `Behind these ${rest === 1 ? "stands" : "stand"} ${count(rest)} more.`);
  return lines.join("\n");
}
