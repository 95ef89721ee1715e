import type { MessageView } from "../react/index.ts";
import type { SilentEnd } from "./conversation.ts";
import { isNote } from "./notes.ts";

/**
 * The newest message that was said to be answered and that no run has heard.
 * @param views the conversation, in order
 * @param silent runs of it that ended without a message: they have heard what stands before them
 * @returns its id; `undefined` when there is none
 */
export function unansweredIn(
  views: readonly MessageView[],
  silent: readonly SilentEnd[],
): string | undefined {
  const heard = new Set(silent.map(({ after }) => after));
  for (const { message, about } of views.toReversed()) {
    if (about.runId !== undefined || heard.has(message.id)) return undefined;
    if (!about.pending && message.role === "user" && !isNote(message)) return message.id;
  }
  return undefined;
}
