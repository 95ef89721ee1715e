import { verifyEvents } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import { from, lastValueFrom, toArray } from "rxjs";
import { describe, expect, test } from "vitest";
import type { AgentOptions } from "../server/agents/agent.ts";
import { openMemory } from "../server/store/memory.ts";
import type { Entry } from "../shared/protocol/index.ts";
import { FakeClock, settled } from "./kit/fake-clock.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { RawClient } from "./kit/raw-client.ts";
import {
  codeOf,
  openServer,
  snapshotOf,
  type TestReader,
  TestRooms,
  type TestRoomsOptions,
} from "./kit/server.ts";

const START = { type: "TEXT_MESSAGE_START", messageId: "a1", role: "assistant" };
const CONTENT = { type: "TEXT_MESSAGE_CONTENT", messageId: "a1", delta: "Hello" };
const END = { type: "TEXT_MESSAGE_END", messageId: "a1" };

function open(options: Partial<AgentOptions> & { rooms?: TestRoomsOptions } = {}) {
  const puppet = new PuppetAgent();
  const { rooms: more, ...agent } = options;
  const rooms = new TestRooms({ agents: { planner: { agent: puppet, ...agent } }, ...more });
  return { puppet, rooms };
}

const isEvent = (type: string, run?: string) => (entry: Entry) =>
  entry.kind === "event" && entry.event.type === type && (run === undefined || entry.run === run);
const inputStatuses = (reader: TestReader, inputId: string) =>
  reader.entries.flatMap((e) => (e.kind === "input" && e.inputId === inputId ? [e.status] : []));
const eventsOf = (reader: TestReader, run: string) =>
  reader.entries.flatMap((e) => (e.kind === "event" && e.run === run ? [e.event] : []));

describe("[R1] a run belongs to the thread", () => {
  test("its input is committed, and told, before the agent is called", async () => {
    const store = openMemory();
    const order: string[] = [];
    const commit = store.commit.bind(store);
    store.commit = async (batches) => {
      const inputs = batches.flatMap(({ inputs = [] }) => inputs.map(({ status }) => status));
      order.push(`commit ${inputs.join()}`);
      return commit(batches);
    };
    const { puppet, rooms } = open({ rooms: { store } });
    const called = puppet.next().then(() => order.push("called"));
    const ana = await rooms.join("t");
    await ana.submit("go");
    await called;
    expect(order.slice(-2)).toEqual(["commit running", "called"]);
  });

  test("it goes on when everybody has left, and when the room would be idle", async () => {
    const { puppet, rooms } = open({ rooms: { idleMs: 1_000 } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start(START);
    await ana.entry(isEvent("TEXT_MESSAGE_START"));
    await ana.leave();
    rooms.clock.advance(100_000);
    await settled();
    expect(run.context.signal.aborted).toBe(false);
    run.emit(CONTENT, END).finish().end();
    const bo = await rooms.join("t", "Bo");
    if (!snapshotOf(bo).turns.some(({ id, end }) => id === "r1" && end)) await bo.terminal("r1");
    const again = await rooms.join("t", "Cy");
    expect(snapshotOf(again).messages.at(-1)).toMatchObject({ id: "a1", content: "Hello" });
    expect(snapshotOf(again).turns.find(({ id }) => id === "r1")?.end).toMatchObject({ outcome: "success" });
  });

  test("it goes on when the browser that asked for it is gone", async () => {
    const puppet = new PuppetAgent();
    const server = await openServer({ agents: { planner: puppet } });
    const ana = await RawClient.hello(server.url, "Ana");
    await ana.join("t");
    await ana.ask({ type: "submit", thread: "t", inputId: "i", runId: "r1", messages: [] });
    const run = await puppet.next();
    run.start(START);
    await ana.entry(isEvent("TEXT_MESSAGE_START"));
    ana.socket.terminate();
    await ana.closed;
    const bo = await RawClient.hello(server.url, "Bo");
    const { contents } = await bo.join("t");
    expect(contents).toMatchObject({ runs: [{ runId: "r1", open: [{ messageId: "a1" }] }] });
    run.emit(CONTENT, END).finish().end();
    await bo.entry(isEvent("RUN_FINISHED", "r1"));
  });

  test("everybody sees it, whoever started it", async () => {
    const { puppet, rooms } = open();
    const [ana, bo] = [await rooms.join("t"), await rooms.join("t", "Bo")];
    await ana.submit("go", { runId: "r1" });
    (await puppet.next()).start(START, CONTENT, END).finish().end();
    await Promise.all([ana.terminal("r1"), bo.terminal("r1")]);
    expect(bo.entries).toEqual(ana.entries);
  });
});

describe("[R11] what an agent is given", () => {
  test("messages with their authors, state, and what the client sent along, unaltered", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    const tools = [{ name: "x", description: "does x", parameters: { type: "object" } }];
    const context = [{ description: "where", value: "here" }];
    const forwardedProps = { deep: [{ a: null, constructor: 1 }], empty: {} };
    await ana.submit("go", { runId: "r1", tools, context, forwardedProps });
    const { input, context: second } = await puppet.next();
    expect(input).toEqual({
      threadId: "t",
      runId: "r1",
      protocolVersion: expect.stringMatching(/^1\./),
      messages: [
        {
          id: "m-c1-1",
          role: "user",
          content: "go",
          name: "Ana",
          metadata: { cothread: { user: { id: "guest:ana", name: "Ana" } } },
        },
      ],
      state: {},
      tools,
      context,
      forwardedProps,
    });
    expect(second.user).toEqual({ id: "guest:ana", name: "Ana" });
    // What is only for the agent is nobody else's to see.
    expect(JSON.stringify(ana.entries)).not.toContain("constructor");
  });

  test("[S3] the server says who wrote a message, whatever the client wrote there", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    const lie = { user: { id: "guest:bo", name: "Bo", admin: true }, note: true, other: 1 };
    await ana.ask({
      type: "submit",
      inputId: "i",
      messages: [
        { id: "m1", role: "user", content: "x", name: "Bo", metadata: { cothread: lie, own: { a: 1 } } },
        { id: "m2", role: "user", content: "x", metadata: { cothread: "Bo" } },
      ],
    });
    const user = { id: "guest:ana", name: "Ana" };
    const { messages } = (await puppet.next()).input;
    expect(messages).toMatchObject([
      { name: "Ana", metadata: { cothread: { user, other: 1 }, own: { a: 1 } } },
      { name: "Ana", metadata: { cothread: { user } } },
    ]);
    expect(messages[0]?.metadata?.cothread).toEqual({ user, other: 1 });
    expect(messages[1]?.metadata?.cothread).toEqual({ user });
  });

  test("[S3] a note is marked as one, for agents and for whoever comes later", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.ask({
      type: "submit",
      inputId: "n",
      start: false,
      messages: [{ id: "m1", role: "user", content: "FYI", metadata: { cothread: { note: false } } }],
    });
    await ana.submit("go");
    const { messages } = (await puppet.next()).input;
    const user = { id: "guest:ana", name: "Ana" };
    expect(messages.map(({ metadata }) => metadata?.cothread)).toEqual([{ user, note: true }, { user }]);
  });

  test("[S2] legacy parts and names are translated", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.ask({
      type: "submit",
      inputId: "i",
      messages: [
        {
          id: "m1",
          role: "user",
          encryptedContent: "opaque",
          content: [
            { type: "text", text: "look" },
            { type: "binary", mimeType: "image/png", data: "AAAA", filename: "a.png" },
            { type: "binary", mimeType: "application/pdf", url: "https://x/a.pdf" },
          ],
        },
      ],
    });
    expect((await puppet.next()).input.messages).toMatchObject([
      {
        encryptedValue: "opaque",
        content: [
          { type: "text", text: "look" },
          {
            type: "image",
            source: { type: "data", value: "AAAA", mimeType: "image/png" },
            metadata: { filename: "a.png" },
          },
          { type: "document", source: { type: "url", value: "https://x/a.pdf" } },
        ],
      },
    ]);
  });

  test("no activities; reasoning stays", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    (await puppet.next())
      .start({ type: "ACTIVITY_SNAPSHOT", messageId: "act", activityType: "PLAN", content: {} })
      .emit(
        { type: "REASONING_START", messageId: "q" },
        { type: "REASONING_MESSAGE_START", messageId: "q", role: "reasoning" },
      )
      .emit({ type: "REASONING_MESSAGE_CONTENT", messageId: "q", delta: "hm" })
      .emit({ type: "REASONING_MESSAGE_END", messageId: "q" }, { type: "REASONING_END", messageId: "q" })
      .finish()
      .end();
    await ana.terminal("r1");
    await ana.submit("more", { runId: "r2" });
    const roles = (await puppet.next()).input.messages.map(({ role }) => role);
    expect(roles).toEqual(["user", "reasoning", "user"]);
  });

  test("notes written meanwhile go along with the next run, and survive the agent's snapshot", async () => {
    const { puppet, rooms } = open();
    const [ana, bo] = [await rooms.join("t"), await rooms.join("t", "Bo")];
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start(START, CONTENT);
    await ana.entry(isEvent("TEXT_MESSAGE_CONTENT"));
    const ack = await bo.submit("a thought", { start: false });
    expect(ack).toMatchObject({ status: "done" });
    expect(ack).not.toHaveProperty("runId");
    const note = `m-${ack.inputId}`;
    run.emit(END, {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        { id: "m-c1-1", role: "user", content: "go" },
        { id: "a1", role: "assistant", content: "Hello, rewritten" },
        { id: note, role: "user", content: "taken over" },
      ],
    });
    run.finish().end();
    await ana.terminal("r1");
    expect(puppet.runs).toHaveLength(1);
    await ana.submit("more", { runId: "r2" });
    const { messages } = (await puppet.next()).input;
    expect(messages.map(({ id, content }) => [id, content])).toEqual([
      ["m-c1-1", "go"],
      ["a1", "Hello, rewritten"],
      [note, "a thought"],
      ["m-c1-2", "more"],
    ]);
    const user = { id: "guest:bo", name: "Bo" };
    expect(messages[2]).toMatchObject({ name: "Bo", metadata: { cothread: { user } } });
  });
});

describe("[R6] cancel", () => {
  test("aborts the agent, closes what is open in order, and everything passes AG-UI's rules", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start({ type: "STEP_STARTED", stepName: "s" }, START, CONTENT);
    run.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "x", parentMessageId: "a1" });
    await ana.entry(isEvent("TOOL_CALL_START"));
    const bo = await rooms.join("t", "Bo");
    expect(await bo.ask({ type: "cancel", key: "k", runId: "r1" })).toEqual({ seq: expect.any(Number) });
    await run.aborted;
    await ana.terminal("r1");
    const events = eventsOf(ana, "r1");
    expect(events.slice(-4)).toEqual([
      { type: "TOOL_CALL_END", toolCallId: "c" },
      { type: "TEXT_MESSAGE_END", messageId: "a1" },
      { type: "STEP_FINISHED", stepName: "s" },
      { type: "RUN_FINISHED", threadId: "t", runId: "r1", outcome: { type: "cancelled" } },
    ]);
    await lastValueFrom(from(events as unknown as BaseEvent[]).pipe(verifyEvents(), toArray()));
    expect(ana.entries.findLast((e) => e.kind === "event")?.by).toMatchObject({ id: "guest:bo" });
    // What the agent still says is not heard.
    run.emit(CONTENT, END).finish().end();
    await settled();
    expect(eventsOf(ana, "r1")).toEqual(events);
    expect(inputStatuses(ana, "c1-1")).toEqual(["running", "done"]);
  });

  test("counts what the agent sent before it", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start();
    await ana.entry(isEvent("RUN_STARTED"));
    run.emit(START, CONTENT);
    // The events reach the room before its next turn does: it takes them in the turn of the cancel.
    for (let i = 0; i < 50; i += 1) await Promise.resolve();
    await ana.ask({ type: "cancel", key: "k", runId: "r1" });
    await ana.terminal("r1");
    expect(eventsOf(ana, "r1").map(({ type }) => type)).toContain("TEXT_MESSAGE_CONTENT");
  });

  test("before RUN_STARTED the run begins and ends", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    await ana.ask({ type: "cancel", key: "k", runId: "r1" });
    await run.aborted;
    await ana.terminal("r1");
    expect(eventsOf(ana, "r1").map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  test("in the very turn of the submit the agent is not even called", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    const submitted = ana.submit("go", { runId: "r1" });
    const cancelled = ana.ask({ type: "cancel", key: "k", runId: "r1" });
    expect(await submitted).toMatchObject({ runId: "r1" });
    await cancelled;
    await ana.terminal("r1");
    await settled();
    expect(puppet.runs).toHaveLength(0);
    expect(inputStatuses(ana, "c1-1")).toEqual(["running", "done"]);
    await ana.submit("again", { runId: "r2" });
    (await puppet.next()).start().finish().end();
    await ana.terminal("r2");
  });

  test("of a run that has ended is not_running, and the next run is untouched", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    (await puppet.next()).start().finish().end();
    await ana.terminal("r1");
    await ana.submit("go on", { runId: "r2" });
    const second = await puppet.next();
    second.start();
    await ana.entry(isEvent("RUN_STARTED", "r2"));
    expect(await codeOf(ana.ask({ type: "cancel", key: "k", runId: "r1" }))).toBe("not_running");
    expect(await codeOf(ana.ask({ type: "cancel", key: "k2", runId: "no such run" }))).toBe("not_running");
    expect(second.context.signal.aborted).toBe(false);
    second.finish().end();
    expect(await ana.terminal("r2")).not.toHaveProperty("event.outcome");
  });

  test("between the terminal and the end of the response is not_running too", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start().finish();
    await ana.terminal("r1");
    expect(await codeOf(ana.ask({ type: "cancel", key: "k", runId: "r1" }))).toBe("not_running");
  });

  test("names a further run of a response", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start().finish().emit({ type: "RUN_STARTED", runId: "more" }, START);
    await ana.entry(isEvent("TEXT_MESSAGE_START", "more"));
    expect(await codeOf(ana.ask({ type: "cancel", key: "k", runId: "r1" }))).toBe("not_running");
    await ana.ask({ type: "cancel", key: "k2", runId: "more" });
    expect(await ana.terminal("more")).toMatchObject({ event: { outcome: { type: "cancelled" } } });
    await run.aborted;
  });
});

describe("[Q1] the queue", () => {
  async function busy() {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("first", { runId: "r1" });
    const run = await puppet.next();
    run.start();
    await ana.entry(isEvent("RUN_STARTED"));
    return { puppet, rooms, ana, run };
  }

  test("[L7] inputs wait with their places and run in order, with the identity of who sent them", async () => {
    const { puppet, rooms, ana, run } = await busy();
    const bo = await rooms.join("t", "Bo");
    expect(await bo.submit("second", { runId: "r2" })).toMatchObject({ status: "queued", place: 1 });
    expect(await ana.submit("third", { runId: "r3" })).toMatchObject({ status: "queued", place: 2 });
    // [L7] what waits is not part of the conversation yet.
    const cy = await rooms.join("t", "Cy");
    expect(snapshotOf(cy).messages).toHaveLength(1);
    expect(snapshotOf(cy).inputs).toMatchObject([
      { status: "running", runId: "r1" },
      { status: "queued", place: 1, by: { id: "guest:bo" }, messages: [{ content: "second" }] },
      { status: "queued", place: 2, by: { id: "guest:ana" } },
    ]);
    await bo.leave();
    run.finish().end();
    const second = await puppet.next();
    expect(second.context.user).toEqual({ id: "guest:bo", name: "Bo" });
    expect(second.input.messages.map(({ content }) => content)).toEqual(["first", "second"]);
    second.start().finish().end();
    const third = await puppet.next();
    expect(third.input.runId).toBe("r3");
    third.start().finish().end();
    await ana.terminal("r3");
    expect(inputStatuses(ana, "c2-1")).toEqual(["queued", "running", "done"]);
  });

  test("policy reject is refused while a run is under way, and only then", async () => {
    const { puppet, ana, run } = await busy();
    expect(await codeOf(ana.submit("no", { policy: "reject" }))).toBe("busy");
    run.finish();
    await ana.terminal("r1");
    expect(await ana.submit("yes", { policy: "reject", runId: "r2" })).toMatchObject({ status: "queued" });
    run.end();
    (await puppet.next()).start().finish().end();
    await ana.terminal("r2");
    expect(await ana.submit("yes", { policy: "reject" })).toMatchObject({ status: "running" });
  });

  test("is bounded", async () => {
    const { puppet, rooms } = open({ rooms: { limits: { message: 1_000, queue: 2 } } });
    const ana = await rooms.join("t");
    for (const text of ["1", "2", "3"]) await ana.submit(text);
    expect(await codeOf(ana.submit("4"))).toBe("busy");
    // A note starts nothing and waits for nothing.
    expect(await ana.submit("5", { start: false })).toMatchObject({ status: "done" });
    expect(puppet.runs.length).toBeLessThanOrEqual(1);
  });

  test("withdraw: queued, running, done, unknown", async () => {
    const { puppet, rooms, ana, run } = await busy();
    const bo = await rooms.join("t", "Bo");
    const withdraw = (inputId: string, key = inputId) => bo.ask({ type: "withdraw", key, inputId });
    await ana.submit("second", { runId: "r2" });
    await ana.submit("third", { runId: "r3" });
    expect(await withdraw("c1-2")).toEqual({ seq: expect.any(Number) });
    expect(await codeOf(withdraw("c1-2", "again"))).toBe("not_found");
    expect(await codeOf(withdraw("c1-1"))).toBe("gone");
    expect(await codeOf(withdraw("nothing"))).toBe("not_found");
    run.finish().end();
    const third = await puppet.next();
    expect(third.input.runId).toBe("r3");
    expect(third.input.messages.map(({ content }) => content)).toEqual(["first", "third"]);
    third.start().finish().end();
    await ana.terminal("r3");
    expect(await codeOf(withdraw("c1-1", "late"))).toBe("gone");
    expect(inputStatuses(ana, "c1-2")).toEqual(["queued", "withdrawn"]);
  });

  test("an input that was withdrawn may be sent again", async () => {
    const { puppet, ana, run } = await busy();
    await ana.submit("second", {
      inputId: "x",
      runId: "r2",
      messages: [{ id: "mx", role: "user", content: "x" }],
    });
    await ana.ask({ type: "withdraw", key: "k", inputId: "x" });
    run.finish().end();
    await ana.terminal("r1");
    await ana.submit("again", {
      inputId: "y",
      runId: "r2",
      messages: [{ id: "mx", role: "user", content: "x" }],
    });
    (await puppet.next()).start().finish().end();
    await ana.terminal("r2");
  });

  test("[R9] the next one starts when the response has ended", async () => {
    const { puppet, rooms, ana, run } = await busy();
    await ana.submit("second", { runId: "r2" });
    run.finish();
    await ana.terminal("r1");
    rooms.clock.advance(999);
    await settled();
    expect(puppet.runs).toHaveLength(1);
    run.end();
    expect((await puppet.next()).input.runId).toBe("r2");
    expect(run.context.signal.aborted).toBe(false);
  });

  test("[R9] or 1 s after the terminal, when the response does not end by itself", async () => {
    const { puppet, rooms, ana, run } = await busy();
    await ana.submit("second", { runId: "r2" });
    run.finish();
    await ana.terminal("r1");
    rooms.clock.advance(1_000);
    const second = await puppet.next();
    expect(run.context.signal.aborted).toBe(true);
    // What the old response still sends is dropped.
    run.emit({ type: "RUN_STARTED", runId: "ghost" }, START);
    second.start().finish().end();
    await ana.terminal("r2");
    expect(ana.entries.some(isEvent("RUN_STARTED", "ghost"))).toBe(false);
  });

  test("[R9] a submit sent when RUN_FINISHED is seen is accepted and starts", async () => {
    const { puppet, rooms, ana, run } = await busy();
    run.finish();
    await ana.terminal("r1");
    expect(await ana.submit("second", { runId: "r2" })).toMatchObject({ status: "queued", place: 1 });
    rooms.clock.advance(1_000);
    (await puppet.next()).start().finish().end();
    await ana.terminal("r2");
  });

  test("a further run in the response keeps the queue waiting, silence behind it does not", async () => {
    const { puppet, rooms, ana, run } = await busy();
    await ana.submit("second", { runId: "r2" });
    run.finish();
    await ana.terminal("r1");
    run.emit({ type: "RUN_STARTED", runId: "more" });
    await ana.entry(isEvent("RUN_STARTED", "more"));
    rooms.clock.advance(10_000);
    await settled();
    expect(puppet.runs).toHaveLength(1);
    run.emit({ type: "RUN_FINISHED", runId: "more" });
    await ana.terminal("more");
    rooms.clock.advance(1_000);
    expect((await puppet.next()).input.runId).toBe("r2");
  });

  test("a failed run does not hold up the next", async () => {
    const { puppet, ana, run } = await busy();
    await ana.submit("second", { runId: "r2" });
    run.fail(new Error("broken on purpose"));
    (await puppet.next()).start().finish().end();
    await ana.terminal("r2");
    expect(inputStatuses(ana, "c1-1")).toEqual(["running", "failed"]);
  });

  test("an input for an agent that is gone fails, and the next one runs", async () => {
    const store = openMemory();
    const clock = new FakeClock();
    const before = new PuppetAgent();
    const first = new TestRooms({ store, clock, agents: { old: before, planner: before } });
    const ana = await first.join("t");
    await ana.submit("go", { agent: "planner", runId: "r1" });
    await ana.submit("old", { agent: "old", runId: "r2" });
    await ana.submit("next", { agent: "planner", runId: "r3" });
    await first.rooms.close();
    const after = new PuppetAgent();
    const second = new TestRooms({ store, clock, agents: { planner: after } });
    await second.rooms.boot();
    const run = await after.next();
    expect(run.input.runId).toBe("r3");
    const bo = await second.join("t", "Bo");
    expect(snapshotOf(bo).turns.find(({ id }) => id === "r2")?.end).toMatchObject({
      code: "AGENT_UNREACHABLE",
    });
  });
});

describe("time", () => {
  test("silence is measured from event to event, and at the start", async () => {
    const { puppet, rooms } = open({ idleMs: 1_000 });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    for (let i = 0; i < 5; i += 1) {
      rooms.clock.advance(900);
      run.emit(i === 0 ? { type: "RUN_STARTED" } : { type: "CUSTOM", name: "x", value: i });
      await ana.entry((e) => e.kind === "event" && (i === 0 || e.event.value === i));
    }
    rooms.clock.advance(999);
    await settled();
    expect(run.context.signal.aborted).toBe(false);
    rooms.clock.advance(1);
    expect(await ana.terminal("r1")).toMatchObject({ event: { code: "AGENT_TIMEOUT" } });
    expect(run.context.signal.aborted).toBe(true);
  });

  test("an event that AG-UI does not know is no sign of life", async () => {
    const { puppet, rooms } = open({ idleMs: 1_000 });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    rooms.clock.advance(500);
    run.emit({ type: "FROM_THE_FUTURE" });
    await settled();
    rooms.clock.advance(500);
    expect(await ana.terminal("r1")).toMatchObject({ event: { code: "AGENT_TIMEOUT" } });
  });

  test("a run that has ended leaves no timer behind", async () => {
    const { puppet, rooms } = open({ idleMs: 1_000, rooms: { idleMs: 5_000 } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    (await puppet.next()).start().finish().end();
    await ana.terminal("r1");
    await settled();
    await ana.leave();
    rooms.clock.advance(10_000);
    await settled();
    rooms.clock.advance(10_000);
    await settled();
    expect(rooms.clock.pending).toBe(0);
  });
});

describe("[R8] pending tool calls and [R10] interrupts", () => {
  test("unanswered calls are named at the end, and are in the snapshot", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start({ type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "ask", parentMessageId: "a1" });
    run.emit(
      { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "{}" },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
    );
    run.finish().end();
    expect(await ana.terminal("r1")).toMatchObject({
      event: { outcome: { type: "success", pendingToolCallIds: ["c1"] } },
    });
    const bo = await rooms.join("t", "Bo");
    expect(snapshotOf(bo).tools).toMatchObject([
      { toolCallId: "c1", name: "ask", args: "{}", status: "pending" },
    ]);
  });

  test("an input that says so answers open interrupts with cancelled, and the run resumes with that", async () => {
    const { puppet, rooms } = open();
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const interrupts = [
      { id: "i1", reason: "approve", message: "Send it?" },
      { id: "i2", reason: "approve" },
    ];
    (await puppet.next())
      .start()
      .finish({ outcome: { type: "interrupt", interrupts } })
      .end();
    await ana.terminal("r1");
    const bo = await rooms.join("t", "Bo");
    expect(snapshotOf(bo).interrupts).toMatchObject([
      { id: "i1", runId: "r1" },
      { id: "i2", runId: "r1" },
    ]);
    await bo.submit("something else", { runId: "r2", interrupts: "cancel" });
    const second = await puppet.next();
    expect(second.input.resume).toEqual([
      { interruptId: "i1", status: "cancelled" },
      { interruptId: "i2", status: "cancelled" },
    ]);
    second.start().finish().end();
    await ana.terminal("r2");
    expect(ana.entries.filter(({ kind }) => kind === "answer")).toMatchObject([
      { interruptId: "i1", status: "cancelled", by: { id: "guest:bo" } },
      { interruptId: "i2", status: "cancelled", by: { id: "guest:bo" } },
    ]);
    expect(ana.entries.find(isEvent("RUN_STARTED", "r2"))).toMatchObject({ start: { resumes: "r1" } });
    expect(snapshotOf(await rooms.join("t", "Cy")).interrupts).toEqual([]);
    await ana.submit("more", { runId: "r3" });
    expect((await puppet.next()).input).not.toHaveProperty("resume");
  });
});

describe("[R5] what a stopped server left", () => {
  /** A store as a killed server leaves it: its rooms are never closed. */
  async function killed(script: (puppet: PuppetAgent, ana: TestReader) => Promise<void>) {
    const store = openMemory();
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ store, agents: { planner: puppet } });
    const ana = await rooms.join("t");
    await script(puppet, ana);
    // What its rooms do from now on does not reach the store.
    const copy = { ...store, commit: store.commit };
    store.commit = async (batches) =>
      batches.map(() => ({ ok: false as const, code: "failed" as const, error: new Error("killed") }));
    return copy;
  }

  async function booted(store: ReturnType<typeof openMemory>) {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ store, agents: { planner: puppet } });
    await rooms.rooms.boot();
    await settled();
    return { puppet, rooms };
  }

  const end = (bo: TestReader, run: string) => snapshotOf(bo).turns.find(({ id }) => id === run)?.end;

  test("a run that had not begun", async () => {
    const store = await killed(async (puppet, ana) => {
      await ana.submit("go", { runId: "r1" });
      await puppet.next();
    });
    expect(await store.unfinished()).toEqual([{ tenant: "default", thread: "t" }]);
    const { rooms, puppet } = await booted(store);
    const bo = await rooms.join("t", "Bo");
    expect(end(bo, "r1")).toMatchObject({ outcome: "error", code: "SERVER_RESTART" });
    expect(snapshotOf(bo)).toMatchObject({ inputs: [], runs: [] });
    expect(puppet.runs).toHaveLength(0);
    const entries = await store.read({ tenant: "default", thread: "t" }, 0, 100);
    expect(entries.slice(-2)).toMatchObject([
      { event: { type: "RUN_ERROR" }, start: { agent: "planner", by: { id: "guest:ana" } } },
      { kind: "input", status: "failed", reason: "SERVER_RESTART", runId: "r1" },
    ]);
    expect(await store.unfinished()).toEqual([]);
  });

  test("a run in the middle of a message, with inputs waiting behind it: they run without any client", async () => {
    const store = await killed(async (puppet, ana) => {
      await ana.submit("go", { runId: "r1", inputId: "i1" });
      (await puppet.next()).start(START, CONTENT);
      await ana.entry(isEvent("TEXT_MESSAGE_CONTENT"));
      await ana.submit("second", { runId: "r2", forwardedProps: { kept: true } });
      await ana.submit("third", { runId: "r3" });
    });
    const { rooms, puppet } = await booted(store);
    const second = await puppet.next();
    expect(second.input).toMatchObject({ runId: "r2", forwardedProps: { kept: true } });
    expect(second.context.user).toEqual({ id: "guest:ana", name: "Ana" });
    expect(second.input.messages.map(({ content }) => content)).toEqual(["go", "Hello", "second"]);
    second.start().finish().end();
    (await puppet.next()).start().finish().end();
    await settled();
    await settled();
    const bo = await rooms.join("t", "Bo");
    expect([end(bo, "r1"), end(bo, "r2"), end(bo, "r3")]).toMatchObject([
      { outcome: "error", code: "SERVER_RESTART" },
      { outcome: "success" },
      { outcome: "success" },
    ]);
    expect(await store.unfinished()).toEqual([]);
    // The run is in the log once, with one terminal.
    const entries = await store.read({ tenant: "default", thread: "t" }, 0, 100);
    const ends = entries.filter(
      (e) => e.kind === "event" && e.run === "r1" && /RUN_(ERR|FIN)/.test(e.event.type),
    );
    expect(ends).toHaveLength(1);
  });

  test("a run that had ended, whose response went on: nothing is left", async () => {
    const store = await killed(async (puppet, ana) => {
      await ana.submit("go", { runId: "r1" });
      (await puppet.next()).start().finish();
      await ana.terminal("r1");
      await settled();
    });
    expect(await store.unfinished()).toEqual([]);
  });

  test("a server that is stopped says so itself, and its queue starts at the next boot", async () => {
    const store = openMemory();
    const puppet = new PuppetAgent();
    const first = new TestRooms({ store, agents: { planner: puppet } });
    const ana = await first.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start(START);
    await ana.entry(isEvent("TEXT_MESSAGE_START"));
    await ana.submit("second", { runId: "r2" });
    await first.rooms.close();
    expect(run.context.signal.aborted).toBe(true);
    expect(await ana.terminal("r1")).toMatchObject({ event: { code: "SERVER_RESTART" } });
    expect(puppet.runs).toHaveLength(1);
    expect(await store.unfinished()).toHaveLength(1);
    const { puppet: next, rooms } = await booted(store);
    const second = await next.next();
    expect(second.input.runId).toBe("r2");
    const bo = await rooms.join("t", "Bo");
    expect(end(bo, "r1")).toMatchObject({ code: "SERVER_RESTART" });
  });

  test("a thread that cannot be read does not keep the others, or the server, from starting", async () => {
    const store = await killed(async (puppet, ana) => {
      await ana.submit("go", { runId: "r1" });
      await puppet.next();
    });
    const { load } = store;
    const { unfinished } = store;
    store.unfinished = async () => [{ tenant: "default", thread: "broken" }, ...(await unfinished())];
    store.load = async (key) => {
      if (key.thread === "broken") throw new Error("a torn page");
      return load(key);
    };
    const { rooms } = await booted(store);
    const bo = await rooms.join("t", "Bo");
    expect(end(bo, "r1")).toMatchObject({ code: "SERVER_RESTART" });
    expect(rooms.warnings).toMatchObject([{ details: { thread: "broken", error: "a torn page" } }]);
  });
});
