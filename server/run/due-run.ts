import type { Author } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";
import { dueResume, type ResumeEntry } from "./interrupts.ts";

/** A run that has to go on by itself, because people have done their part. */
export type DueRun = {
  /** The run it goes on from. */
  runId: string;
  agent: string;
  by: Author;
  /** Answers to what the agent asked; none when it waited for results of tool calls. */
  entries: ResumeEntry[];
};

/** The run that is due ([R10], [K4]); `null` when none is. What the log says decides, so a restart finds it too. */
export function dueRun(timeline: Timeline): DueRun | null {
  const resume = dueResume(timeline);
  if (resume) return resume;
  const open = new Set<string>();
  const answered = new Set<string>();
  for (const { runId, status } of timeline.tools.values())
    if (status === "answered") answered.add(runId);
    else if (status !== "pending") open.add(runId);
  for (const runId of answered) {
    const { agent, by } = timeline.turns.get(runId) ?? {};
    if (!open.has(runId) && agent !== undefined && by) return { runId, agent, by, entries: [] };
  }
  return null;
}
