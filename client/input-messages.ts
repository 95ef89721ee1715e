import type { Message } from "../shared/protocol/index.ts";

type UserMessage = Extract<Message, { role: "user" }>;

/** A message of a person. The id is made when it has none; name and author are stamped by the server. */
export type InputMessage = Omit<UserMessage, "id" | "role"> & { id?: string; role?: "user" };

/** What `send` and `note` take: text, one message, or several in order. */
export type InputContent = string | InputMessage | readonly InputMessage[];

/** Makes AG-UI messages of it, each with an id. */
export function inputMessages(input: InputContent, makeId: () => string): UserMessage[] {
  if (typeof input === "string") return [{ id: makeId(), role: "user", content: input }];
  const list = Array.isArray(input) ? (input as readonly InputMessage[]) : [input as InputMessage];
  return list.map((message) => ({ ...message, id: message.id ?? makeId(), role: "user" }));
}

/** Marks a message as one that starts nothing, where the server marks it too. */
export function markNote<M extends UserMessage>(message: M): M {
  const { metadata } = message;
  return {
    ...message,
    metadata: { ...metadata, cothread: { ...(metadata?.cothread as object), note: true } },
  };
}
