import type { AGUIEvent, Entry } from "../protocol/index.ts";
import type { Timeline } from "./timeline.ts";

/**
 * Tells of entries that lie behind a reader's cursor whether one counts on a message older than what the
 * reader holds, so that the reader needs a snapshot instead; for live entries `MessageList.reach` says the
 * same. Where what an entry counted on is gone by now, the answer is yes.
 * @param timeline the thread with these entries applied
 * @param window place of the oldest message the reader holds for certain; -Infinity when it holds all
 * @param cursor seq the reader stands at: what was made behind it the reader makes itself. Without it only the
 *   messages an entry made itself count as known to the reader, and the answer is yes more often than needed.
 */
export function reachBelow(
  timeline: Timeline,
  window: number,
  cursor = Number.POSITIVE_INFINITY,
): (entry: Entry) => boolean {
  if (window === Number.NEGATIVE_INFINITY) return ({ kind }) => kind === "head";
  const { messages } = timeline;
  const slot = (id: unknown) => (typeof id === "string" ? messages.get(id) : undefined);
  const owner = (toolCallId: unknown) => messages.ownerOf(String(toolCallId));
  type Held = ReturnType<typeof slot>;
  const isOlder = (held: Held, seq: number) =>
    held !== undefined && held.place < window && held.asOf < seq && held.asOf <= cursor;

  const inEvent = (event: AGUIEvent, seq: number) => {
    const message = slot(event.messageId);
    switch (event.type as string) {
      case "TEXT_MESSAGE_START":
      case "REASONING_MESSAGE_START":
      case "ACTIVITY_SNAPSHOT":
        return isOlder(message, seq);
      case "TOOL_CALL_START": {
        const parent = slot(event.parentMessageId);
        if (event.parentMessageId && !parent) return true;
        const own = slot(event.toolCallId);
        return [parent, own, owner(event.toolCallId)].some((held) => isOlder(held, seq));
      }
      case "TOOL_CALL_RESULT": {
        const by = owner(event.toolCallId);
        return (
          isOlder(by, seq) ||
          isOlder(message, seq) ||
          (!by && message !== undefined && message.place < window)
        );
      }
      case "REASONING_ENCRYPTED_VALUE":
        return event.subtype === "tool-call" && isOlder(owner(event.entityId), seq);
      default:
        return false;
    }
  };

  return (entry) => {
    const { seq } = entry;
    switch (entry.kind) {
      case "event":
        return inEvent(entry.event, seq);
      case "message": {
        const after = slot(entry.after);
        if (entry.after !== undefined && (!after || isOlder(after, seq))) return true;
        const toolCallId = entry.message.role === "tool" ? entry.message.toolCallId : undefined;
        return isOlder(slot(entry.message.id), seq) || isOlder(owner(toolCallId), seq);
      }
      case "messages":
        return entry.put.some(({ message, after }) => {
          if (slot(message.id)?.asOf !== seq) return false;
          const neighbour = slot(after);
          return !neighbour || isOlder(neighbour, seq);
        });
      case "head":
        return true;
      default:
        return false;
    }
  };
}
