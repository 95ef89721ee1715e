import { applyPatch } from "../../shared/json-crdt/patch.ts";
import type { AGUIEvent, Json, JsonPatch, Message } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";
import { RunFailure } from "./failure.ts";
import { isStorableId } from "./storable-id.ts";

/** Levels of containers an event, or what it makes of a state, may have: more cannot be copied or printed. */
const DEPTH = 500;
/** Largest state as JSON, characters. */
const STATE = 10 * 1024 * 1024;
/** Patches that may come before the state is measured again, characters of JSON. */
const MEASURE_AFTER = 1024 * 1024;

/** Fields that become ids of messages, by event type. */
const MESSAGE_IDS: Record<string, readonly string[]> = {
  TEXT_MESSAGE_START: ["messageId"],
  REASONING_MESSAGE_START: ["messageId"],
  TOOL_CALL_START: ["toolCallId", "parentMessageId"],
  TOOL_CALL_RESULT: ["messageId"],
  ACTIVITY_SNAPSHOT: ["messageId"],
};

/**
 * What the events of agents are held to beyond AG-UI's rules, so that whatever is logged can be stored, copied
 * and sent again. One for each room: a state may grow over many runs.
 */
export class EventLimits {
  private unmeasured = MEASURE_AFTER;

  /**
   * Looks at an event before it is logged.
   * @param agent name for sentences
   * @throws RunFailure AGENT_INVALID, AGENT_TOO_BIG
   */
  check(timeline: Timeline, event: AGUIEvent, agent: string): void {
    const type = event.type as string;
    if (isDeeper(event, DEPTH)) throw tooDeep(agent, "an event");
    for (const field of MESSAGE_IDS[type] ?? []) {
      // An empty parent id names none.
      if (event[field] === undefined || (event[field] === "" && field === "parentMessageId")) continue;
      if (!isStorableId(event[field])) throw unusable(agent, `${type} whose ${field}`);
    }
    switch (type) {
      case "RUN_STARTED":
        if (!isStorableId(event.runId)) throw unusable(agent, "RUN_STARTED whose runId");
        return checkMessages((event.input as { messages?: Message[] } | undefined)?.messages, type, agent);
      case "MESSAGES_SNAPSHOT":
        return checkMessages(event.messages as Message[], type, agent);
      case "STATE_SNAPSHOT":
        this.unmeasured = MEASURE_AFTER;
        return;
      case "STATE_DELTA":
        return this.checkDelta(timeline.state, event.delta as JsonPatch, agent);
      case "ACTIVITY_DELTA": {
        const { message } = timeline.messages.get(event.messageId as string) ?? {};
        if (message?.role === "activity") {
          const patch = event.patch as JsonPatch;
          if (patch.some(mayGrow)) checkResult(message.content as Json, patch, agent);
        }
      }
    }
  }

  private checkDelta(state: Json, patch: JsonPatch, agent: string): void {
    this.unmeasured += JSON.stringify(patch).length;
    if (this.unmeasured < MEASURE_AFTER && !patch.some(mayGrow)) return;
    checkResult(state, patch, agent);
    this.unmeasured = 0;
  }
}

/** Whether an operation can make more of a document than its own size tells. */
function mayGrow({ op, path }: JsonPatch[number]): boolean {
  return op === "copy" || op === "move" || path.length > DEPTH;
}

function checkResult(value: Json, patch: JsonPatch, agent: string): void {
  let result: Json;
  try {
    result = applyPatch(value, patch);
  } catch {
    // It does not apply, so it changes nothing.
    return;
  }
  if (isDeeper(result, DEPTH)) throw tooDeep(agent, "a patch that makes a state");
  if (JSON.stringify(result).length > STATE)
    throw new RunFailure("AGENT_TOO_BIG", `${agent} made its state larger than ${STATE} characters.`);
}

function checkMessages(messages: readonly Message[] | undefined, type: string, agent: string): void {
  if (messages?.some(({ id }) => !isStorableId(id))) throw unusable(agent, `${type} with a message whose id`);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const inner: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((item) => isDeeper(item, levels - 1));
}

function unusable(agent: string, what: string): RunFailure {
  return new RunFailure("AGENT_INVALID", `${agent} sent a ${what} is empty or has half a character in it.`);
}

function tooDeep(agent: string, what: string): RunFailure {
  return new RunFailure("AGENT_INVALID", `${agent} sent ${what} of more than ${DEPTH} levels.`);
}
