import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { type Clock, systemClock } from "../../shared/clock.ts";
import { pause } from "./demo/pause.ts";
import { script } from "./demo/script.ts";

/** Options of {@link demoAgent}. */
export type DemoOptions = {
  /** Chooses among the wordings and pauses. Default 1. The same seed and input give the same events. */
  seed?: number;
  /**
   * How fast it works: 1 (default) is the pace of a person or a model, 8 to 16 s for a plan; 2 is twice as
   * fast; 0 does not wait at all and sets no timer, for tests.
   */
  speed?: number;
  /** What the pauses are measured with. Default: the system's clock. */
  clock?: Clock;
};

/**
 * "Planner", an agent without a model: a script that drafts plans and the document beside them, compares things and
 * shows code, in the words of whoever asked. It streams what agents stream: steps, reasoning, shared state, progress,
 * a tool call and Markdown. In the state it owns `title`, `plan: [{id, title, status}]` and `document`, a Markdown
 * text. A run that finds a plan goes on with it when it is asked to, and leaves it alone otherwise. A document that
 * is there is changed in the one place that is asked for (its opening rewritten, a paragraph shortened, a section
 * added), all else in it stays character for character, and only "start the document over" brings another one. When
 * the signal aborts, the stream ends where it is, with nothing closed and no timer left.
 *
 * @throws RangeError when `speed` is negative or not a finite number.
 */
export function demoAgent(
  options: DemoOptions = {},
): (input: RunAgentInput, context: { signal: AbortSignal }) => AsyncIterable<BaseEvent> {
  const { seed = 1, speed = 1, clock = systemClock } = options;
  if (!Number.isFinite(speed) || speed < 0) {
    const message = `The demo agent's speed is ${speed}; give 0 (no pauses) or a positive number such as 1.`;
    throw Object.assign(new RangeError(message), { code: "bad_option" });
  }
  return async function* demo(input, { signal }) {
    for (const { wait, event } of script(input, seed, clock.now())) {
      if (speed > 0) await pause(clock, wait / speed, signal);
      if (signal.aborted) return;
      yield event as BaseEvent;
    }
  };
}
