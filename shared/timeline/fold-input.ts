import { defined } from "../defined.ts";
import type { EntryOf, InputInfo } from "../protocol/index.ts";

/**
 * Applies an `input` entry to the inputs of a thread ([Q1]): first those that run, then those that wait, in the order
 * in which they will run. Places are those in the queue as it is now.
 */
export function foldInput(inputs: Map<string, InputInfo>, entry: EntryOf<"input">): void {
  const { inputId, status } = entry;
  const known = inputs.get(inputId);
  const all = [...inputs.values()];
  const running = all.filter((input) => input.status === "running" && input.inputId !== inputId);
  const queued = all.filter((input) => input.status === "queued");
  const was = queued.findIndex((input) => input.inputId === inputId);
  if (was >= 0) queued.splice(was, 1);
  if (status === "queued" || status === "running") {
    const { messages, runId, agent, policy } = entry;
    const { place: _, ...rest } = known ?? { inputId, by: entry.by ?? { kind: "system" }, messages: [] };
    const input: InputInfo = { ...rest, status, ...defined({ messages, runId, agent, policy }) };
    if (status === "running") running.push(input);
    else {
      const asked = entry.place === undefined ? was : entry.place - 1;
      queued.splice(asked < 0 ? queued.length : asked, 0, input);
    }
  }
  inputs.clear();
  for (const input of running) inputs.set(input.inputId, input);
  queued.forEach((input, i) => {
    inputs.set(input.inputId, input.place === i + 1 ? input : { ...input, place: i + 1 });
  });
}
