import type { JsonPatch } from "../../shared/protocol/index.ts";
import type { Members } from "./checkpoints.ts";

/** One thing a scripted run does. */
export type ScriptStep =
  | { do: "set"; values: Members }
  | { do: "patch"; patch: JsonPatch }
  | { do: "say"; text: string }
  | { do: "wait"; until: PromiseLike<unknown> }
  | { do: "interrupt"; reason: string; value: unknown };

/** A node of the graph returns values: they replace those keys, and the whole state is emitted. */
export function set(values: Members): ScriptStep {
  return { do: "set", values };
}

/** The agent changes its state, and emits the change alone. @param patch as it sees its state */
export function patch(...patch: JsonPatch): ScriptStep {
  return { do: "patch", patch };
}

/** The agent says something; it keeps the message. */
export function say(text: string): ScriptStep {
  return { do: "say", text };
}

/** The run goes on when the promise has resolved, so that a test can do something meanwhile. */
export function wait(until: PromiseLike<unknown>): ScriptStep {
  return { do: "wait", until };
}

/**
 * The run ends and waits for an answer; steps behind it are not taken.
 * @param reason what it waits for
 * @param value what people are asked, as JSON
 */
export function interrupt(reason: string, value: unknown = null): ScriptStep {
  return { do: "interrupt", reason, value };
}
