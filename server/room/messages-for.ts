import type { Message } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";

/**
 * The conversation as an agent is given it ([R11]): without activities, and without what another agent has
 * encrypted for itself. An encrypted value means something to its producer alone, and it may be held against
 * whoever else sends it.
 * @param agent id of the agent that is called
 */
export function messagesFor(agent: string, timeline: Timeline): Message[] {
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
