import type { RunAgentInput } from "@ag-ui/core";
import { PROTOCOL_VERSION } from "@ag-ui/core/schemas";
import type { Json, Message, User } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";
import type { ResumeEntry } from "../run/interrupts.ts";
import type { ThreadKey } from "../store/store.ts";
import type { RunRecord } from "./input-record.ts";
import { peopleContext } from "./people-context.ts";

/**
 * What an agent is called with ([R11]), as a copy: an agent in this process may change what it is given.
 * @param resume answers to what the agent asked
 * @param state as the agent is to have it
 * @param here who is in the thread now; `null` when the agent is not to know who takes part ([R13])
 * @param branch for an agent that remembers: the branch its memory is to be of
 */
export function agentInput(
  { tenant, thread }: ThreadKey,
  timeline: Timeline,
  record: RunRecord,
  resume: readonly ResumeEntry[],
  state: Json,
  here: readonly User[] | null,
  branch?: string,
): RunAgentInput {
  const own = tenant === "default" ? thread : `${tenant}/${thread}`;
  return structuredClone({
    // Agents with a memory keep it by thread id, and equal ids of two tenants must not meet there either; nor do branches.
    threadId: branch === undefined ? own : `${own}~${branch}`,
    runId: record.runId,
    protocolVersion: PROTOCOL_VERSION,
    messages: messagesFor(record.agent, timeline),
    state,
    tools: record.tools ?? [],
    context: [...(record.context ?? []), ...(here ? peopleContext(timeline, record.by, here) : [])],
    ...(record.forwardedProps !== undefined && { forwardedProps: record.forwardedProps }),
    ...(resume.length > 0 && { resume }),
  }) as RunAgentInput;
}

/**
 * The conversation as an agent is given it: without activities, and without what another agent has
 * encrypted for itself. An encrypted value means something to its producer alone, and it may be held against
 * whoever else sends it.
 * @param agent id of the agent that is called
 */
function messagesFor(agent: string, timeline: Timeline): Message[] {
  return timeline.slots.flatMap(({ message, turn }) => {
    if (message.role === "activity") return [];
    const producer = timeline.turns.get(turn)?.agent;
    return [producer === undefined || producer === agent ? message : withoutEncrypted(message)];
  });
}

function withoutEncrypted(message: Message): Message {
  const { encryptedValue: _, ...rest } = message as Message & { encryptedValue?: string };
  if (message.role !== "assistant" || !message.toolCalls) return rest as Message;
  const toolCalls = message.toolCalls.map(({ encryptedValue: _e, ...call }) => call);
  return { ...rest, toolCalls } as Message;
}
