import type { AGUIEvent, Interrupt, Json } from "../../shared/protocol/index.ts";
import { isStorableId } from "./storable-id.ts";

/** The CUSTOM event by which LangGraph's adapter says that a run is paused, before AG-UI had an outcome for it. */
const NAME = "on_interrupt";

/**
 * What such an event asks, as AG-UI's interrupt ([R10]).
 * @param run the run it is of
 * @param n how many the run has asked before, from 0
 * @param isTaken whether an interrupt of that id is known
 * @returns `null` for any other event
 */
export function legacyInterrupt(
  event: AGUIEvent,
  run: string,
  n: number,
  isTaken: (id: string) => boolean,
): Interrupt | null {
  if ((event.type as string) !== "CUSTOM" || event.name !== NAME) return null;
  const value = parsed(event.value as Json);
  const fields: Record<string, unknown> =
    typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const text = (...names: string[]) =>
    names.map((name) => fields[name]).find((each): each is string => typeof each === "string" && each !== "");
  const object = (...names: string[]) =>
    names.map((name) => fields[name]).find((each) => typeof each === "object" && each !== null) as
      | object
      | undefined;
  const own = text("id", "interrupt_id", "interruptId");
  // Of the log, so that it is the same for everybody and after every restart.
  const id = own !== undefined && isStorableId(own) && !isTaken(own) ? own : `${run}:interrupt:${n + 1}`;
  const message =
    typeof value === "string" ? value : text("message", "question", "prompt", "title", "description");
  const responseSchema = object("responseSchema", "response_schema");
  const toolCallId = text("toolCallId", "tool_call_id");
  const expiresAt = text("expiresAt", "expires_at");
  return {
    id,
    reason: text("reason", "type", "action") ?? NAME,
    ...(message !== undefined && { message }),
    ...(responseSchema && { responseSchema }),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: { [NAME]: value },
  } as Interrupt;
}

/** LangGraph's adapter sends values as JSON text, or as they are. */
function parsed(value: Json): Json {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}
