import type { AGUIEvent, Message } from "../../shared/protocol/index.ts";

/** Fields that name a message, by event type; `made` says whether the event may begin one under that id. */
const FIELDS: Record<string, readonly { field: string; made: boolean }[]> = {
  TEXT_MESSAGE_START: [{ field: "messageId", made: true }],
  TEXT_MESSAGE_CONTENT: [{ field: "messageId", made: false }],
  TEXT_MESSAGE_END: [{ field: "messageId", made: false }],
  REASONING_MESSAGE_START: [{ field: "messageId", made: true }],
  REASONING_MESSAGE_CONTENT: [{ field: "messageId", made: false }],
  REASONING_MESSAGE_END: [{ field: "messageId", made: false }],
  TOOL_CALL_START: [{ field: "parentMessageId", made: true }],
  TOOL_CALL_RESULT: [{ field: "messageId", made: true }],
  ACTIVITY_SNAPSHOT: [{ field: "messageId", made: true }],
  ACTIVITY_DELTA: [{ field: "messageId", made: false }],
  REASONING_ENCRYPTED_VALUE: [{ field: "entityId", made: false }],
};

/**
 * The names that the messages of one response have in the log ([R12]). An agent may use an id that stands for
 * something else here: a message that waits in the queue, or one that is not shown. Such a message gets the id
 * `<run>:<id>`, and every event of the response that means it is changed alike.
 */
export class MessageIds {
  private readonly ours = new Map<string, string>();
  private readonly isForeign: (id: string) => boolean;

  /** @param isForeign whether a message of that id exists which the agent cannot mean */
  constructor(isForeign: (id: string) => boolean) {
    this.isForeign = isForeign;
  }

  /** The event with the ids of the log; the same object when nothing is to be changed. */
  inEvent(event: AGUIEvent, run: string): AGUIEvent {
    // Without a parent the call's own id becomes that of its message.
    const { toolCallId, parentMessageId } = event;
    if ((event.type as string) === "TOOL_CALL_START" && !parentMessageId) {
      const id = this.of(toolCallId as string, run, true);
      return id === toolCallId ? event : { ...event, parentMessageId: id };
    }
    if ((event.type as string) === "REASONING_ENCRYPTED_VALUE" && event.subtype !== "message") return event;
    let changed = event;
    for (const { field, made } of FIELDS[event.type as string] ?? []) {
      const given = event[field];
      const id = typeof given === "string" ? this.of(given, run, made) : given;
      if (id !== given) changed = { ...changed, [field]: id };
    }
    return changed;
  }

  /** The messages of a list the agent sent, with the ids of the log. */
  inList<M extends Message>(messages: readonly M[], run: string): M[] {
    return messages.map((message) => {
      const id = this.of(message.id, run, true);
      return id === message.id ? message : { ...message, id };
    });
  }

  private of(id: string, run: string, made: boolean): string {
    const known = this.ours.get(id);
    if (known !== undefined || !made || !this.isForeign(id)) return known ?? id;
    const mapped = `${run}:${id}`;
    this.ours.set(id, mapped);
    return mapped;
  }
}
