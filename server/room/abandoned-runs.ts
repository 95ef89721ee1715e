import type { AGUIEvent, NewEntry } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";
import { dueRun } from "../run/due-run.ts";
import type { InputRecord } from "./input-record.ts";
import { toRow } from "./input-record.ts";
import type { Turn } from "./turn.ts";

/** Why nobody drives a run any more, in words for whoever waits for it. */
const SENTENCES = {
  SERVER_RESTART:
    "The server was restarted while this run was under way. Send the message again to run it anew.",
  STORE_FAILED:
    "The answer could not be stored, so the run was stopped. Send the message again to run it anew.",
} as const;
/** Code of the RUN_ERROR such a run ends in. */
export type AbandonedCode = keyof typeof SENTENCES;

/** Whether a restart would find something to end or to begin. */
export function isUnfinished(timeline: Timeline): boolean {
  return timeline.inputs.size + timeline.runs.size > 0 || dueRun(timeline) !== null;
}

/**
 * [R5] Ends what a store says is running and nobody drives any more: each run gets its one RUN_ERROR, also
 * the one whose agent was never called, and its input becomes `failed`.
 * @param running the inputs stored as running
 */
export function endAbandonedRuns(turn: Turn, running: InputRecord[], code: AbandonedCode): void {
  const error = { type: "RUN_ERROR", code, message: SENTENCES[code] } as unknown as AGUIEvent;
  const log = (run: string, more?: Partial<NewEntry>) =>
    turn.log({ kind: "event", run, by: { kind: "system" }, event: error, ...more } as NewEntry);
  for (const { runId } of turn.timeline.runs.all()) log(runId);
  for (const record of running) {
    const { runId, agent, by, inputId } = record;
    if (!turn.timeline.turns.get(runId)) log(runId, { start: { agent, by, inputId } });
    record.status = "failed";
    turn.log({ kind: "input", by: { kind: "system" }, inputId, status: "failed", runId, reason: code });
    turn.input(toRow(record));
  }
  turn.foldDue = true;
}
