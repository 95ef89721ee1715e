import { type BaseEvent, contentToText, EventType, PROTOCOL_VERSION, type RunAgentInput } from "@ag-ui/core";
import { type Clock, systemClock } from "../../shared/clock.ts";
import { pause } from "./demo/pause.ts";

/** Options of {@link echoAgent}. */
export type EchoOptions = {
  /** Into how many TEXT_MESSAGE_CONTENT events the text is cut, at most. Default 4. */
  pieces?: number;
  /** Wait before each of them, in ms. Default 0: no wait and no timer. */
  pause?: number;
  /** What the waits are measured with. Default: the system's clock. */
  clock?: Clock;
};

/**
 * An agent that gives back the text of the last user message, character for character, as `RUNID-m1`. An
 * input without one gets a message without text. When the signal aborts, the stream ends where it is.
 *
 * @throws RangeError when `pieces` is not a whole number from 1, or `pause` is negative or not finite.
 */
export function echoAgent(
  options: EchoOptions = {},
): (input: RunAgentInput, context: { signal: AbortSignal }) => AsyncIterable<BaseEvent> {
  const { pieces = 4, pause: wait = 0, clock = systemClock } = options;
  if (!Number.isInteger(pieces) || pieces < 1 || !Number.isFinite(wait) || wait < 0) {
    const message = `The echo agent takes pieces ≥ 1 and pause ≥ 0 ms; it was given ${pieces} and ${wait}.`;
    throw Object.assign(new RangeError(message), { code: "bad_option" });
  }
  return async function* echo(input, { signal }) {
    const { threadId, runId } = input;
    const messageId = `${runId}-m1`;
    const asked = input.messages.findLast((message) => message.role === "user");
    // by code point, so that no surrogate pair is torn
    const text = Array.from(contentToText(asked?.content));
    const size = Math.ceil(text.length / pieces);
    if (signal.aborted) return;
    yield { type: EventType.RUN_STARTED, threadId, runId, protocolVersion: PROTOCOL_VERSION };
    yield { type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" };
    for (let at = 0; at < text.length; at += size) {
      await pause(clock, wait, signal);
      if (signal.aborted) return;
      const delta = text.slice(at, at + size).join("");
      yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta };
    }
    yield { type: EventType.TEXT_MESSAGE_END, messageId };
    yield { type: EventType.RUN_FINISHED, threadId, runId };
  };
}
