import { describe, expect, test } from "vitest";
import { openMemory } from "../server/store/memory.ts";
import { interrupt, langgraphLike, say } from "../server/testing/index.ts";
import type { Snapshot } from "../shared/protocol/index.ts";
import { settled } from "./kit/fake-clock.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { codeOf, snapshotOf, type TestReader, TestRooms } from "./kit/server.ts";

const DATE = {
  type: "object",
  properties: { date: { type: "string", format: "date" }, seats: { type: "integer", minimum: 1 } },
  required: ["date"],
};

/** A thread in which a run has ended with questions. */
async function asked(...interrupts: object[]) {
  const puppet = new PuppetAgent();
  const store = openMemory();
  const rooms = new TestRooms({ store, agents: { planner: { agent: puppet, name: "Planner" } } });
  const ana = await rooms.join("t");
  await ana.submit("go", { runId: "r1", tools: [{ name: "look", description: "", parameters: {} }] });
  (await puppet.next())
    .start()
    .finish({ outcome: { type: "interrupt", interrupts } })
    .end();
  await ana.terminal("r1");
  await settled();
  return { puppet, rooms, ana, store };
}

let keys = 0;
const answer = (reader: TestReader, interruptId: string, more: object = {}) => {
  keys += 1;
  return reader.ask({ type: "answer", key: `a${keys}`, interruptId, status: "resolved", ...more });
};

const ids = (snapshot: Snapshot) => snapshot.interrupts.map(({ id }) => id);

describe("answers of people", () => {
  test("[R10] people answer one by one; with the last answer exactly one run goes on, with all of them", async () => {
    const { puppet, rooms, ana } = await asked(
      { id: "i1", reason: "approve" },
      { id: "i2", reason: "approve" },
    );
    const ben = await rooms.join("t", "Ben");
    expect(ids(snapshotOf(ben))).toEqual(["i1", "i2"]);
    expect(await answer(ben, "i2", { payload: { ok: true }, metadata: { from: "phone" } })).toMatchObject({
      remaining: 1,
    });
    expect(puppet.runs).toHaveLength(1);
    const ack = (await answer(ana, "i1", { payload: "yes" })) as { resumeRunId: string };
    expect(ack).toMatchObject({ remaining: 0, resumeRunId: expect.any(String) });
    const run = await puppet.next();
    expect(run.input).toMatchObject({
      runId: ack.resumeRunId,
      resume: [
        { interruptId: "i1", status: "resolved", payload: "yes" },
        { interruptId: "i2", status: "resolved", payload: { ok: true }, metadata: { from: "phone" } },
      ],
      // As the run that asked had it.
      tools: [{ name: "look" }],
    });
    expect(run.context.user).toEqual({ id: "guest:ana", name: "Ana" });
    run.start().finish().end();
    const end = await ana.terminal(ack.resumeRunId);
    expect(end).toMatchObject({ event: { type: "RUN_FINISHED" } });
    await settled();
    expect(puppet.runs).toHaveLength(2);
    expect(ids(snapshotOf(await rooms.join("t", "Cy")))).toEqual([]);
    const started = ana.entries.find((e) => e.kind === "event" && e.run === ack.resumeRunId);
    expect(started).toMatchObject({ start: { agent: "planner", by: { id: "guest:ana" }, resumes: "r1" } });
  });

  test("[R10] the first answer that fits counts; a later one learns who was first and what they said", async () => {
    const { rooms, ana } = await asked({ id: "i1", reason: "x" }, { id: "i2", reason: "x" });
    const ben = await rooms.join("t", "Ben");
    await answer(ben, "i1", { payload: 1 });
    const late = answer(ana, "i1", { payload: 2 });
    await expect(late).rejects.toMatchObject({
      code: "already_answered",
      message: "Ben has answered this already.",
      details: { by: { id: "guest:ben" }, status: "resolved", payload: 1 },
    });
  });

  test("[R10] an answer is held against the schema of the question, and says where it does not fit", async () => {
    const { ana, puppet } = await asked({ id: "i1", reason: "date", responseSchema: DATE });
    const refusals: [unknown, RegExp, string][] = [
      [{}, /^The answer does not fit what was asked for: it must have required property 'date'\.$/, ""],
      [
        { date: "tomorrow" },
        /^"date" does not fit what was asked for: it must match format "date"\.$/,
        "/date",
      ],
      [{ date: "2026-12-01", seats: 0 }, /^"seats" .* it must be >= 1\.$/, "/seats"],
      [undefined, /must be object/, ""],
    ];
    for (const [payload, message, where] of refusals)
      await expect(answer(ana, "i1", { payload })).rejects.toMatchObject({
        code: "bad_message",
        message: expect.stringMatching(message),
        details: { where },
      });
    expect(puppet.runs).toHaveLength(1);
    expect(await answer(ana, "i1", { payload: { date: "2026-12-01" } })).toMatchObject({ remaining: 0 });
  });

  test("[R10] a schema that is of no use holds nobody up, and whoever runs the server is told", async () => {
    const { ana, rooms } = await asked({ id: "i1", reason: "x", responseSchema: { type: "strnig" } });
    expect(await answer(ana, "i1", { payload: 1 })).toMatchObject({ remaining: 0 });
    expect(rooms.warnings).toMatchObject([
      { what: "the schema of an interrupt is of no use", details: { run: "r1", agent: "planner" } },
    ]);
  });

  test("[R10] what has expired by the server's clock can be cancelled, and not resolved", async () => {
    const { ana, rooms } = await asked(
      { id: "i1", reason: "x", expiresAt: new Date(Date.now() + 3_600_000).toISOString() },
      { id: "i2", reason: "x", expiresAt: "some day" },
    );
    const now = rooms.clock.now();
    rooms.clock.advance(Date.now() + 3_600_001 - now);
    expect(await codeOf(answer(ana, "i1"))).toBe("expired");
    expect(await answer(ana, "i1", { status: "cancelled", payload: "left out" })).toMatchObject({
      remaining: 1,
    });
    // One that cannot be read never expires.
    expect(await answer(ana, "i2")).toMatchObject({ remaining: 0 });
    const entry = ana.entries.find((e) => e.kind === "answer" && e.interruptId === "i1");
    expect(entry).not.toHaveProperty("payload");
  });

  test("[D1] the same answer again changes nothing; another under its key is a conflict", async () => {
    const { ana } = await asked({ id: "i1", reason: "x" }, { id: "i2", reason: "x" });
    const frame = { type: "answer", key: "k", interruptId: "i1", status: "resolved" } as const;
    const first = await ana.ask(frame);
    expect(await ana.ask(frame)).toEqual({ ...first, duplicate: true });
    expect(await codeOf(ana.ask({ ...frame, interruptId: "i2" }))).toBe("conflict");
    expect(await codeOf(answer(ana, "nothing"))).toBe("not_found");
  });
});

describe("meanwhile", () => {
  test("[R10] nothing else runs: an input is refused with the ids, a note is not, and what waited goes on waiting", async () => {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ agents: { planner: puppet } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const first = await puppet.next();
    first.start();
    await ana.submit("and then", { runId: "r2", inputId: "second" });
    first.finish({ outcome: { type: "interrupt", interrupts: [{ id: "i1", reason: "x" }] } }).end();
    await ana.terminal("r1");
    await settled();
    expect(puppet.runs).toHaveLength(1);
    const refused = ana.submit("hello?", {});
    await expect(refused).rejects.toMatchObject({ code: "interrupted", details: { interrupts: ["i1"] } });
    await ana.submit("fyi", { start: false });
    await answer(ana, "i1");
    const resumed = await puppet.next();
    resumed.start();
    await settled();
    // Not before the run that goes on has ended.
    expect(puppet.runs).toHaveLength(2);
    resumed.finish().end();
    const last = await puppet.next();
    expect(last.input.runId).toBe("r2");
    expect(last.input).not.toHaveProperty("resume");
    expect(last.input.messages.map(({ content }) => content)).toEqual(["go", "fyi", "and then"]);
  });

  test("[R10] something else can be said instead: one input that cancels all and runs, however far the answers were", async () => {
    const { ana, puppet, rooms } = await asked({ id: "i1", reason: "x" }, { id: "i2", reason: "x" });
    await answer(ana, "i1", { payload: 1 });
    const ben = await rooms.join("t", "Ben");
    await ben.submit("never mind", { runId: "r2", interrupts: "cancel" });
    const run = await puppet.next();
    expect(run.input).toMatchObject({
      runId: "r2",
      resume: [
        { interruptId: "i1", status: "resolved", payload: 1 },
        { interruptId: "i2", status: "cancelled" },
      ],
    });
    run.start().finish().end();
    await ana.terminal("r2");
    expect(puppet.runs).toHaveLength(2);
  });

  test("[R10] an agent that cannot be given its answers has them with the next input, and they are not asked for again", async () => {
    const { ana, puppet } = await asked({ id: "i1", reason: "x" });
    const { resumeRunId } = (await answer(ana, "i1", { payload: "yes" })) as { resumeRunId: string };
    (await puppet.next()).fail(new Error("the network"));
    expect(await ana.terminal(resumeRunId)).toMatchObject({ event: { type: "RUN_ERROR" } });
    await settled();
    expect(puppet.runs).toHaveLength(2);
    expect(await codeOf(answer(ana, "i1"))).toBe("already_answered");
    await ana.submit("go on", { runId: "r3" });
    const run = await puppet.next();
    expect(run.input.resume).toEqual([{ interruptId: "i1", status: "resolved", payload: "yes" }]);
    run.start().finish().end();
    await ana.terminal("r3");
    await ana.submit("more", { runId: "r4" });
    expect((await puppet.next()).input).not.toHaveProperty("resume");
  });
});

describe("restarts", () => {
  /** The same store under a new server. */
  async function booted(store: ReturnType<typeof openMemory>) {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ store, agents: { planner: puppet } });
    await rooms.rooms.boot();
    await settled();
    return { puppet, rooms, cy: await rooms.join("t", "Cy") };
  }

  test("[R10] questions and answers survive, and the run goes on when the last answer has come", async () => {
    const { ana, rooms, store } = await asked(
      { id: "i1", reason: "x", responseSchema: DATE },
      { id: "i2", reason: "x" },
    );
    await answer(ana, "i2", { payload: { a: 1 } });
    await rooms.rooms.close();
    const next = await booted(store);
    expect(snapshotOf(next.cy).interrupts).toMatchObject([
      { id: "i1", responseSchema: DATE, runId: "r1", agent: "planner" },
      { id: "i2", answered: { by: { id: "guest:ana" }, status: "resolved", payload: { a: 1 } } },
    ]);
    await answer(next.cy, "i1", { payload: { date: "2026-12-01" } });
    const run = await next.puppet.next();
    expect(run.input.resume).toHaveLength(2);
    // What only the input's row has is not forgotten either.
    expect(run.input.tools).toMatchObject([{ name: "look" }]);
  });

  test("[R10] a server that was killed between the last answer and the run begins it at its next start", async () => {
    const { ana, puppet, store } = await asked({ id: "i1", reason: "x" });
    await answer(ana, "i1", { payload: 1 });
    await puppet.next();
    const commit = store.commit;
    const copy = { ...store, commit };
    store.commit = async (batches) =>
      batches.map(() => ({ ok: false as const, code: "failed" as const, error: new Error("killed") }));
    const next = await booted(copy);
    const run = await next.puppet.next();
    expect(run.input.resume).toEqual([{ interruptId: "i1", status: "resolved", payload: 1 }]);
    run.start().finish().end();
    await next.cy.terminal(run.input.runId);
    await settled();
    expect(next.puppet.runs).toHaveLength(1);
  });
});

describe("LangGraph's way of asking", () => {
  test.each([[true], [false]])(
    "[R10] CUSTOM on_interrupt (as an old adapter: %s) opens the same interrupt as an outcome does, and is resumed the same",
    async (legacyInterrupts) => {
      const agent = langgraphLike({
        legacyInterrupts,
        script: ({ n }) =>
          n === 1 ? [interrupt("approval", { question: "Send it?", id: "q1" })] : [say("Sent.")],
      });
      const rooms = new TestRooms({ agents: { graph: agent } });
      const ana = await rooms.join("t");
      await ana.submit("go", { runId: "r1" });
      await ana.terminal("r1");
      await settled();
      const [open] = snapshotOf(await rooms.join("t", "Ben")).interrupts;
      expect(open).toMatchObject({ runId: "r1", agent: "graph" });
      const { resumeRunId } = (await answer(ana, open!.id, { payload: true })) as { resumeRunId: string };
      expect(await ana.terminal(resumeRunId)).toMatchObject({ event: { type: "RUN_FINISHED" } });
      expect(JSON.stringify(ana.entries)).toContain("Sent.");
    },
  );

  test.each([
    ["a text", "Send it?", { id: "r1:interrupt:1", reason: "on_interrupt", message: "Send it?" }],
    ["a text of JSON", '{"question":"Send it?"}', { id: "r1:interrupt:1", message: "Send it?" }],
    [
      "an object",
      {
        id: "own",
        type: "approval",
        prompt: "Send it?",
        response_schema: DATE,
        expires_at: "2030-01-01T00:00:00Z",
      },
      {
        id: "own",
        reason: "approval",
        message: "Send it?",
        responseSchema: DATE,
        expiresAt: "2030-01-01T00:00:00Z",
      },
    ],
    ["a number", 7, { id: "r1:interrupt:1", metadata: { on_interrupt: 7 } }],
  ])("[R10] %s as its value", async (_what, value, expected) => {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ agents: { planner: puppet } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const custom = { type: "CUSTOM", name: "on_interrupt", value };
    (await puppet.next()).start(custom, custom).finish().end();
    const end = await ana.terminal("r1");
    expect(end).toMatchObject({ event: { outcome: { type: "interrupt" } } });
    await settled();
    const { interrupts } = snapshotOf(await rooms.join("t", "Ben"));
    expect(interrupts).toMatchObject([expected, { id: "r1:interrupt:2" }]);
  });

  test("[R10] an outcome that the agent gives stands, and other CUSTOM events ask nothing", async () => {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ agents: { planner: puppet } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    (await puppet.next())
      .start({ type: "CUSTOM", name: "on_interrupt", value: "?" })
      .finish({ outcome: { type: "success" } })
      .end();
    await ana.terminal("r1");
    await ana.submit("go", { runId: "r2" });
    (await puppet.next()).start({ type: "CUSTOM", name: "on_progress", value: "?" }).finish().end();
    await ana.terminal("r2");
    await settled();
    expect(ids(snapshotOf(await rooms.join("t", "Ben")))).toEqual([]);
  });
});
