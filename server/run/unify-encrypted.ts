import type { BaseEvent } from "@ag-ui/core";

type Loose = Record<string, unknown>;

/**
 * Two names are in use for a message's opaque reasoning value: `encryptedContent` (AG-UI's messages page) and
 * `encryptedValue` (its schema). Enforcement strips the first, so it is renamed before.
 */
export function unifyEncrypted(event: BaseEvent): BaseEvent {
  const { messages, input } = event as Loose;
  if (Array.isArray(messages) && messages.some(hasOldName))
    return { ...event, messages: messages.map(renamed) } as BaseEvent;
  const given = (input as Loose | undefined)?.messages;
  if (Array.isArray(given) && given.some(hasOldName))
    return { ...event, input: { ...(input as Loose), messages: given.map(renamed) } } as BaseEvent;
  return event;
}

/** Renames `encryptedContent` of one message. */
export function renamed(message: unknown): unknown {
  if (!hasOldName(message)) return message;
  const { encryptedContent, ...rest } = message as Loose;
  return { encryptedValue: encryptedContent, ...rest };
}

function hasOldName(message: unknown): boolean {
  return typeof message === "object" && message !== null && "encryptedContent" in message;
}
