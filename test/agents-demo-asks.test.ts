import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { demoAgent } from "../server/agents/demo.ts";
import { settled } from "./kit/fake-clock.ts";
import { snapshotOf, type TestReader, TestRooms } from "./kit/server.ts";

type Event = BaseEvent & Record<string, never> & { [field: string]: unknown };
const PICK = { name: "pick_date", description: "", parameters: { type: "object" } };

async function open() {
  const rooms = new TestRooms({ agents: { planner: demoAgent({ speed: 0 }) } });
  const ana = await rooms.join("t");
  const ask = async (text: string, runId: string, more: object = {}) => {
    await ana.submit(text, { runId, ...more });
    const end = await ana.terminal(runId);
    await settled();
    return end;
  };
  return { rooms, ana, ask };
}
const said = (reader: TestReader, run: string) =>
  reader.entries
    .flatMap((e) => (e.kind === "event" && e.run === run && "delta" in e.event ? [e.event.delta] : []))
    .join("");
const results = (reader: TestReader) =>
  reader.entries.flatMap((e) =>
    e.kind === "event" && (e.event.type as string) === "TOOL_CALL_RESULT"
      ? [JSON.parse(e.event.content as string)]
      : [],
  );

describe("the invitation", () => {
  test.each([
    [{ approved: true }, 214, /^Sent to 214 people: “You are invited/],
    [{ approved: true, subject: "Come" }, 214, /^Sent to 214 people, with your changes: “Come”/],
    [{ approved: false }, 0, /nothing goes out|stays here/],
  ])("is sent as people have decided: %j", async (payload, sent, sentence) => {
    const { rooms, ana, ask } = await open();
    const end = await ask("Send the invitation", "r1");
    expect(end).toMatchObject({ event: { outcome: { type: "interrupt" } } });
    const [interrupt] = snapshotOf(await rooms.join("t", "Ben")).interrupts;
    expect(interrupt).toMatchObject({
      message: "Send the invitation to 214 people?",
      toolCallId: expect.any(String),
    });
    const answer = {
      type: "answer",
      key: "k",
      interruptId: interrupt!.id,
      status: "resolved",
      payload,
    } as const;
    const { resumeRunId } = (await ana.ask(answer)) as { resumeRunId: string };
    expect(await ana.terminal(resumeRunId)).toMatchObject({ event: { type: "RUN_FINISHED" } });
    expect(results(ana)).toMatchObject([{ sent }]);
    expect(said(ana, resumeRunId)).toMatch(sentence);
  });

  test("is left alone when something else is said, and what was said is answered", async () => {
    const { ana, ask } = await open();
    await ask("Invite the customers", "r1");
    await ask("Compare SQLite and Postgres", "r2", { interrupts: "cancel" });
    expect(results(ana)[0]).toMatchObject({ sent: 0 });
    expect(said(ana, "r2")).toContain("SQLite");
  });

  test("leaves requests for other things alone", async () => {
    for (const text of [
      "Draft the invitation",
      "Plan: invite beta users",
      "Add a step to invite the press",
    ]) {
      const { ask } = await open();
      expect((await ask(text, "r1")) as unknown as Event).not.toMatchObject({
        event: { outcome: { type: "interrupt" } },
      });
    }
  });
});

describe("a date", () => {
  test("is picked in a window, and the run goes on with it", async () => {
    const { ana, ask } = await open();
    await ana.ask({ type: "tools", tools: [PICK] });
    await ask("Pick a date for the launch", "r1");
    const call = ana.entries.find((e) => e.kind === "tool" && e.status === "offered") as {
      toolCallId: string;
    };
    const { toolCallId } = call;
    await ana.ask({ type: "claim", toolCallId });
    await ana.ask({ type: "result", key: "k", toolCallId, n: 1, content: { date: "2026-12-09" } });
    const next = await ana.entry(
      (e) => e.kind === "event" && e.run !== "r1" && e.event.type === ("RUN_FINISHED" as never),
    );
    expect(said(ana, (next as { run: string }).run)).toContain("Wednesday, 9 December 2026");
  });

  test("is asked for in words where no window can show a calendar", async () => {
    const { ana, ask } = await open();
    await ask("Pick a date for the launch", "r1");
    expect(said(ana, "r1")).toMatch(/Tell me the day in words/);
    expect(ana.entries.some(({ kind }) => kind === "tool")).toBe(false);
  });
});

test("the same seed, input and time give the same events", async () => {
  const input = {
    threadId: "t",
    runId: "r",
    messages: [{ id: "m", role: "user", content: "Send the invitation" }],
    tools: [],
    context: [],
    state: {},
  } as unknown as RunAgentInput;
  const clock = { now: () => 1_000, after: () => () => {} };
  const run = async () => {
    const events: BaseEvent[] = [];
    for await (const event of demoAgent({ speed: 0, clock })(input, { signal: new AbortController().signal }))
      events.push(event);
    return events;
  };
  expect(await run()).toEqual(await run());
});
