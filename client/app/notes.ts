import type { Message } from "../react/index.ts";

/**
 * How the app marks a note. The log tells notes from inputs only while an input runs, and whoever comes later
 * shall see the difference too.
 */
export const NOTE_MARK = { cothread: { note: true } };

/** Whether a message was sent as a note. */
export function isNote(message: Message): boolean {
  const mark: unknown = message.metadata?.cothread;
  return typeof mark === "object" && mark !== null && "note" in mark && mark.note === true;
}
