import type { Author, UpFrameOf } from "../../shared/protocol/index.ts";
import type { InputRecord } from "./input-record.ts";
import { Rejection } from "./port.ts";
import type { Room } from "./room.ts";
import { refuseKnown } from "./submit.ts";
import type { Turn } from "./turn.ts";
import { stampMessages } from "./user-message.ts";

/**
 * A queued input.
 * @throws Rejection gone when it runs or has run; not_found
 */
export function queuedInput(room: Room, turn: Turn, inputId: string): InputRecord {
  const record = room.responses.queue.get(inputId);
  if (record) return record;
  throw (turn.timeline.turns.get(inputId) ?? turn.timeline.inputs.get(inputId))
    ? new Rejection("gone", "This message already runs or has run; it waits no longer.")
    : new Rejection("not_found", "There is no waiting message with that id.");
}

/**
 * [Q2] Gives a queued input other messages. It keeps its author, so nobody else puts words in their mouth.
 * @param maxBytes per message, as JSON
 * @throws Rejection
 */
export function editInput(
  room: Room,
  turn: Turn,
  by: Author & { kind: "user" },
  { inputId, messages: given }: UpFrameOf<"edit">,
  maxBytes: number,
): void {
  const record = queuedInput(room, turn, inputId);
  if (record.by.id !== by.id) {
    const who = record.by.name ?? "Whoever wrote this";
    throw new Rejection("forbidden", `${who} can change this, nobody else. You can take it back or move it.`);
  }
  const messages = stampMessages(given, { id: by.id, name: by.name ?? by.id }, false, maxBytes);
  if (messages.length === 0)
    throw new Rejection("bad_message", "Nothing is left of the message. Take it back instead.");
  refuseKnown(turn.timeline, room, messages, record);
  room.responses.queue.edit(turn, record, by, messages);
}
