import type { Message } from "../../shared/protocol/index.ts";
import type { Choice } from "./stream-pen.ts";

const AUTHORITIES: unknown[] = [
  undefined,
  { authoritativeActivityTypes: null },
  { authoritativeActivityTypes: ["PLAN"] },
  { authoritativeActivityTypes: 1 },
  "?",
];

/**
 * What a MESSAGES_SNAPSHOT of an agent holds: it keeps, rewrites and leaves out what is there, and may add one.
 * @param newId makes the id of what is added
 */
export function snapshotFields(choice: Choice, held: readonly Message[], call: string, newId: () => string) {
  const { which, other } = choice;
  const messages = held.flatMap((message, i): Message[] => {
    const fate = (i * 7 + which * 5 + other * i) % 5;
    if (fate === 0) return [];
    return [fate > 1 ? message : rewritten(message, choice)];
  });
  const add = added(choice, call, newId);
  if (add) messages.push(add);
  if (which % 3 === 0) messages.reverse();
  const note = AUTHORITIES[which % AUTHORITIES.length];
  return { messages, ...(note !== undefined && { metadata: { "@ag-ui/client": note } }) };
}

function rewritten(message: Message, { text, other }: Choice): Message {
  if (message.role === "activity") return { ...message, content: { a: text } };
  if (message.role === "assistant" && other % 2) return { id: message.id, role: "assistant", content: text };
  return { ...message, content: text } as Message;
}

function added({ other, tag, text, json }: Choice, call: string, newId: () => string): Message | undefined {
  const owner = tag === undefined ? {} : { subagentRunId: tag };
  const toolCalls = [{ id: call, type: "function" as const, function: { name: "f", arguments: text } }];
  switch (other) {
    case 0:
      return { id: newId(), role: "assistant", content: text, ...owner };
    case 1:
      return { id: newId(), role: "assistant", toolCalls, ...owner };
    case 2:
      return { id: newId(), role: "reasoning", content: text };
    case 3:
      return { id: newId(), role: "activity", activityType: "PLAN", content: { a: json }, ...owner };
    case 4:
      return { id: newId(), role: "tool", toolCallId: call, content: text, error: "no" };
    case 5:
      return { id: newId(), role: "user", content: [{ type: "text", text }] };
    default:
      return undefined;
  }
}
