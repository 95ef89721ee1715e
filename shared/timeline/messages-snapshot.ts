import { jsonEqual } from "../json-crdt/patch.ts";
import type { AGUIEvent, EntryOf, Message } from "../protocol/index.ts";
import type { Timeline } from "./timeline.ts";

const CLIENT_NOTE = "@ag-ui/client";

/**
 * Works out what an agent's MESSAGES_SNAPSHOT changes ([R7]). It rules only over messages the agent was
 * given or made: others are neither removed nor altered, and a message that exists but is not visible
 * (rolled back, on another branch) is not brought back. What a person wrote may be dropped when it was
 * given, but is never rewritten. Within that the rules are AG-UI's: same id replaced in place, new ids
 * appended, absent ids dropped; activity and reasoning messages only when the snapshot speaks for them.
 *
 * @param timeline the thread as it is
 * @param event the MESSAGES_SNAPSHOT
 * @param own whether the agent was given the message of that id, or made it
 * @returns `put` and `drop` of a `messages` entry
 */
export function reconcileSnapshot(
  timeline: Timeline,
  event: AGUIEvent,
  own: (id: string) => boolean,
): Pick<EntryOf<"messages">, "put" | "drop"> {
  const incoming = new Map((event.messages as Message[]).map((message) => [message.id, message]));
  const speaksFor = authority(event, [...incoming.values()]);
  const put: EntryOf<"messages">["put"] = [];
  const drop: string[] = [];

  let last: string | null = null;
  for (const { message, turn } of timeline.slots) {
    const next = incoming.get(message.id);
    if (!own(message.id)) {
      last = message.id;
    } else if (next) {
      const byPerson = message.role === "user" && timeline.turns.get(turn)?.agent === undefined;
      if (!byPerson && !jsonEqual(next, message)) put.push({ message: next, after: last });
      last = message.id;
    } else if (speaksFor(message)) {
      drop.push(message.id);
    } else {
      last = message.id;
    }
  }
  for (const [id, message] of incoming) {
    if (timeline.messages.get(id)) continue;
    put.push({ message, after: last });
    last = id;
  }
  return { put, drop };
}

/** Which absent messages the snapshot removes (AG-UI, MESSAGES_SNAPSHOT). */
function authority(event: AGUIEvent, messages: Message[]): (message: Message) => boolean {
  const hasReasoning = messages.some((message) => message.role === "reasoning");
  const hasActivity = messages.some((message) => message.role === "activity");
  const types = declaredActivityTypes(event);
  return (message) => {
    if (message.role === "reasoning") return hasReasoning;
    if (message.role !== "activity") return true;
    if (types === undefined) return hasActivity;
    return types === null || types.includes(message.activityType);
  };
}

/** Activity types the producer says it owns: `null` = all, `undefined` = it does not say. */
function declaredActivityTypes(event: AGUIEvent): string[] | null | undefined {
  const metadata = event.metadata as Record<string, unknown> | undefined;
  if (!metadata || !Object.hasOwn(metadata, CLIENT_NOTE)) return undefined;
  const note = metadata[CLIENT_NOTE];
  if (typeof note !== "object" || note === null || Array.isArray(note)) return [];
  if (!Object.hasOwn(note, "authoritativeActivityTypes")) return undefined;
  const types = (note as Record<string, unknown>).authoritativeActivityTypes;
  if (types === null) return null;
  return Array.isArray(types) && types.every((type) => typeof type === "string") ? types : [];
}
