import type { RunAgentInput } from "@ag-ui/core";
import type { RegisteredAgent } from "../agents/registry.ts";
import type { EventLimits } from "../run/event-limits.ts";
import { Ingest } from "../run/ingest.ts";
import type { InputQueue } from "./input-queue.ts";
import type { RunRecord } from "./input-record.ts";
import type { SharedState } from "./shared-state.ts";

/**
 * Makes what turns a response's events into entries.
 * @param input what the agent is given
 * @param agent absent when the server does not have it any more
 * @param resumes the run that this one goes on from
 */
export function openIngest(
  record: RunRecord,
  input: RunAgentInput,
  agent: RegisteredAgent | undefined,
  resumes: string | undefined,
  room: { thread: string; queue: InputQueue; limits: EventLimits; state(): SharedState },
): Ingest {
  const { runId, by, input: asked } = record;
  const { thread, queue, limits, state } = room;
  return new Ingest({
    thread,
    agentThread: input.threadId,
    runId,
    agent: record.agent,
    agentName: agent?.name ?? record.agent,
    by,
    ...(asked && { inputId: asked.inputId }),
    ...(resumes !== undefined && { resumes }),
    given: input.messages.map((message) => message.id),
    isQueued: (id) => queue.hasMessage(id),
    state: (to, run, event) => state().event(to, runId, run, event, agent?.eventBytes),
    eventBytes: agent?.eventBytes ?? 0,
    limits,
  });
}
