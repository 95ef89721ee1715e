import type { RunAgentInput } from "@ag-ui/core";
import { expect, test } from "vitest";
import {
  interrupt,
  type LanggraphLikeOptions,
  langgraphLike,
  patch,
  type ScriptRun,
  say,
  set,
} from "../server/testing/index.ts";
import type { AGUIEvent } from "../shared/protocol/index.ts";
import { muteStock, playStock } from "./kit/stock-client.ts";

muteStock();

type Options = Partial<LanggraphLikeOptions>;

/** Calls an agent as a server does, run by run. */
function caller(options: Options) {
  const begun: ScriptRun[] = [];
  const script = options.script ?? (() => []);
  const agent = langgraphLike({
    ...options,
    script: (run) => {
      begun.push(run);
      return script(run);
    },
  });
  const run = async (state: object, more: Partial<RunAgentInput> = {}): Promise<AGUIEvent[]> => {
    const given = { threadId: "t", runId: `r${begun.length + 1}`, messages: [], tools: [], context: [] };
    const events = agent({ ...given, state, ...more } as RunAgentInput, {
      signal: new AbortController().signal,
      user: { id: "ana", name: "Ana" },
      thread: { id: "t", people: () => [], on: () => () => {}, handoff() {} },
    });
    const all: AGUIEvent[] = [];
    for await (const event of events as AsyncIterable<AGUIEvent>) all.push(event);
    return all;
  };
  return { run, begun };
}

const asking = ({ n }: ScriptRun) => (n === 1 ? [set({ a: 1 }), interrupt("ask", { q: 1 })] : []);
const answer = { resume: [{ interruptId: "r1-interrupt", status: "resolved" as const }] };
const snapshots = (events: AGUIEvent[]) =>
  events.flatMap(({ type, snapshot }) => ((type as string) === "STATE_SNAPSHOT" ? [snapshot] : []));

test("what a script does is a stream that a stock client takes", async () => {
  const { run } = caller({
    script: () => [set({ a: [1] }), patch({ op: "add", path: "/a/-", value: 2 }), say("Hello"), say("")],
  });
  const question = { id: "q", role: "user" as const, content: "hi" };
  const played = await playStock(await run({ b: 1 }, { messages: [question] }), { messages: [question] });
  expect(played).toMatchObject({
    error: null,
    state: { a: [1, 2], b: 1, messages: [{ type: "human", content: "hi" }] },
  });
  expect(played.messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "hi"],
    ["assistant", "Hello"],
    ["assistant", ""],
  ]);
});

test("its memory goes by thread, and may be left out", async () => {
  for (const [remembers, expected] of [
    [true, { a: 1, b: 2 }],
    [false, { b: 2 }],
  ] as const) {
    const { run, begun } = caller({ remembers, script: ({ n }) => (n === 1 ? [set({ a: 1 })] : []) });
    await run({});
    await run({ b: 2 });
    await run({}, { threadId: "other" });
    expect(begun.map(({ state }) => state)).toEqual([{}, expected, {}]);
  }
});

test("a resumed run leaves input.state out when it is told to, and an ordinary one never", async () => {
  for (const ignoresStateOnResume of [true, false]) {
    const { run, begun } = caller({ ignoresStateOnResume, script: asking });
    const events = await run({});
    expect(events.at(-1)).toMatchObject({
      outcome: { type: "interrupt", interrupts: [{ id: "r1-interrupt" }] },
    });
    await run({ a: 2 }, answer);
    await run({ a: 3 });
    expect(begun.map(({ resumes }) => resumes)).toEqual([false, true, false]);
    expect(begun.map(({ state }) => state.a)).toEqual([undefined, ignoresStateOnResume ? 1 : 2, 3]);
  }
});

test("a typed graph takes and emits the keys of its schema alone", async () => {
  const { run, begun } = caller({ dropsUnknownKeys: ["a"], script: () => [set({ a: 1, c: 3 })] });
  expect(snapshots(await run({ a: 0, b: 2 }))).toEqual([{ a: 1, messages: [] }]);
  expect(begun[0]?.state).toEqual({ a: 0 });
});

test("its checkpoint comes before it looks at its input, from the second run on", async () => {
  const { run } = caller({ emitsBeforeMerging: true, script: () => [set({ b: 1 })] });
  expect(snapshots(await run({ a: 1 }))).toEqual([{ a: 1, b: 1, messages: [] }]);
  expect(snapshots(await run({ a: 2 }))).toEqual([
    { a: 1, b: 1, messages: [] },
    { a: 2, b: 1, messages: [] },
  ]);
});

test("legacy interrupts are a CUSTOM event with JSON as a string, and a finish without outcome", async () => {
  const { run, begun } = caller({ legacyInterrupts: true, script: asking });
  const events = await run({});
  expect(events.slice(-2)).toMatchObject([
    { type: "CUSTOM", name: "on_interrupt", value: '{"q":1}' },
    { type: "RUN_FINISHED" },
  ]);
  expect(events.at(-1)).not.toHaveProperty("outcome");
  await run({}, { forwardedProps: { command: { resume: "yes" } } });
  expect(begun[1]?.resumes).toBe(true);
});
