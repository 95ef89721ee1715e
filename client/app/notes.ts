import type { Message } from "../react/index.ts";

/** Whether a message was sent as a note; the server marks those. */
export function isNote(message: Message): boolean {
  const mark: unknown = message.metadata?.cothread;
  return typeof mark === "object" && mark !== null && "note" in mark && mark.note === true;
}
