import { describe, expect, test } from "vitest";
import { settled } from "./kit/fake-clock.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { snapshotOf, TestRooms } from "./kit/server.ts";

async function running() {
  const planner = new PuppetAgent();
  const writer = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner, writer } });
  const ana = await rooms.join("t");
  await ana.submit("go", { runId: "r1", context: [{ description: "d", value: "v" }] });
  const run = await planner.next();
  run.start();
  await ana.entry((e) => e.kind === "event" && e.run === "r1");
  return { planner, writer, rooms, ana, run };
}

describe("steering", () => {
  test("[Q3] an agent that takes an input has it in its run; it joins the conversation, and nothing else begins", async () => {
    const { planner, rooms, ana, run } = await running();
    const heard: unknown[] = [];
    run.context.thread.on("steer", (messages) => {
      heard.push(...messages.map(({ content }) => content));
      return true;
    });
    const ack = await ana.submit("with a FAQ", { steer: true, inputId: "more" });
    expect(ack).toMatchObject({ status: "done", runId: "r1", inputId: "more" });
    expect(heard).toEqual(["with a FAQ"]);
    run
      .emit(
        { type: "TEXT_MESSAGE_START", messageId: "a", role: "assistant" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "Yes" },
        { type: "TEXT_MESSAGE_END", messageId: "a" },
      )
      .finish()
      .end();
    await ana.terminal("r1");
    await settled();
    expect(planner.runs).toHaveLength(1);
    const { messages, inputs } = snapshotOf(await rooms.join("t", "Ben"));
    expect(messages.map(({ content }) => content)).toEqual(["go", "with a FAQ", "Yes"]);
    expect(inputs).toEqual([]);
    // Sent again it is the same input.
    const message = ana.entries.findLast((e) => e.kind === "message" && e.turn === "more") as {
      message: object;
    };
    expect(message.message).toMatchObject({ name: "Ana" });
  });

  test.each<[string, (messages: readonly unknown[]) => boolean]>([
    ["says no", () => false],
    ["answers with a promise", (async () => true) as unknown as () => boolean],
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
  ])("[Q3] when the agent %s the policy counts", async (_what, listener) => {
    const { ana, run } = await running();
    run.context.thread.on("steer", listener);
    expect(await ana.submit("more", { steer: true })).toMatchObject({ status: "queued", place: 1 });
  });

  test("[Q3] nobody listens: not any more, to another agent, or with nothing under way", async () => {
    const { ana, run, planner } = await running();
    const stop = run.context.thread.on("steer", () => true);
    expect(await ana.submit("x", { steer: true, agent: "writer" })).toMatchObject({ status: "queued" });
    stop();
    expect(await ana.submit("x", { steer: true })).toMatchObject({ status: "queued" });
    run.context.thread.on("steer", () => true);
    run.finish().end();
    await ana.terminal("r1");
    await settled();
    expect(planner.runs).toHaveLength(1);
    expect(await ana.submit("x", { steer: true })).toMatchObject({ status: "queued" });
  });
});

describe("handing over", () => {
  test("[Q4] the other agent goes on before all that waits, in the name of whoever asked, with the same to go by", async () => {
    const { writer, ana, run, planner } = await running();
    await ana.submit("and then", { runId: "r2" });
    run.context.thread.handoff("writer");
    await settled();
    run.finish().end();
    const next = await writer.next();
    expect(next.input).toMatchObject({ messages: [{ content: "go" }], context: [{ value: "v" }] });
    expect(next.context.user).toEqual({ id: "guest:ana", name: "Ana" });
    next.start().finish().end();
    expect((await planner.next()).input.runId).toBe("r2");
    await settled();
    const turn = ana.entries.find((e) => e.kind === "event" && e.run === next.input.runId);
    expect(turn).toMatchObject({ start: { agent: "writer", by: { id: "guest:ana" } } });
  });

  test("[Q4] the last agent named counts, and one that is stopped hands nothing over", async () => {
    const { writer, ana, run, planner } = await running();
    const { thread } = run.context;
    thread.handoff("planner");
    thread.handoff("writer");
    await settled();
    await ana.ask({ type: "cancel", key: "k", runId: "r1" });
    await settled();
    expect([planner.runs.length, writer.runs.length]).toEqual([1, 0]);
    expect(() => thread.handoff("nobody")).toThrow(RangeError);
    // It is over for this run.
    thread.handoff("writer");
    await settled();
    expect(writer.runs).toHaveLength(0);
    expect(thread.people()).toEqual([]);
  });

  test("[Q4] it outlives a restart", async () => {
    const { rooms, run } = await running();
    run.context.thread.handoff("writer");
    await settled();
    await rooms.rooms.close();
    const writer = new PuppetAgent();
    const again = new TestRooms({ store: rooms.store, agents: { writer } });
    await again.rooms.boot();
    expect((await writer.next()).input.messages).toMatchObject([{ content: "go" }]);
  });
});

test("an agent knows who is here", async () => {
  const { rooms, run } = await running();
  await rooms.join("t", "Ben");
  expect(run.context.thread.id).toBe("t");
  expect(run.context.thread.people()).toEqual([
    { id: "guest:ana", name: "Ana" },
    { id: "guest:ben", name: "Ben" },
  ]);
});
