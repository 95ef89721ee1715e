import { describe, expect, test } from "vitest";
import { openMemory } from "../server/store/memory.ts";
import { settled } from "./kit/fake-clock.ts";
import { PuppetAgent, type PuppetRun } from "./kit/puppet-agent.ts";
import { codeOf, snapshotOf, type TestReader, TestRooms } from "./kit/server.ts";

const PICK = { name: "pick", description: "Lets a person pick a file", parameters: { type: "object" } };
const register = (reader: TestReader, ...tools: object[]) => reader.ask({ type: "tools", tools });
const claim = (reader: TestReader, toolCallId = "c1") => reader.ask({ type: "claim", toolCallId });
const release = (reader: TestReader, n: number, toolCallId = "c1") =>
  reader.ask({ type: "release", toolCallId, n });
let keys = 0;
const result = (reader: TestReader, n: number, content: unknown, more: object = {}) => {
  keys += 1;
  return reader.ask({ type: "result", key: `k${keys}`, toolCallId: "c1", n, content, ...more });
};

/** Lets a run call tools and end. */
const calls = (run: PuppetRun, ...names: [id: string, name: string][]) => {
  run.start();
  for (const [toolCallId, toolCallName] of names)
    run.emit(
      { type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId: "a1" },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: '{"kind":"pdf"}' },
      { type: "TOOL_CALL_END", toolCallId },
    );
  run.finish().end();
};

/** Ana and Ben both can do it; a run that Ana started has called it. */
async function called(...names: [id: string, name: string][]) {
  const puppet = new PuppetAgent();
  const store = openMemory();
  const rooms = new TestRooms({ store, agents: { planner: puppet } });
  const ana = await rooms.join("t");
  const ben = await rooms.join("t", "Ben");
  for (const reader of [ana, ben]) await register(reader, PICK);
  await ana.submit("go", { runId: "r1" });
  calls(await puppet.next(), ...(names.length > 0 ? names : ([["c1", "pick"]] as [string, string][])));
  await ana.terminal("r1");
  await settled();
  return { puppet, rooms, store, ana, ben };
}

const toolsOf = async (rooms: TestRooms) => snapshotOf(await rooms.join("t", "Zoe")).tools;
const toolEntries = (reader: TestReader) =>
  reader.entries.flatMap((entry) => (entry.kind === "tool" ? [[entry.status, entry.client, entry.n]] : []));

describe("tools of clients", () => {
  test("[K1] agents are told the tools of all clients, and those that came with the input", async () => {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ agents: { planner: puppet } });
    const ana = await rooms.join("t");
    const ben = await rooms.join("t", "Ben");
    expect(await register(ana, PICK)).toEqual({ accepted: ["pick"], refused: [] });
    // The same tool once more is the same tool, whatever the order of its members.
    const show = { name: "show", description: "", parameters: { type: "object", properties: {} } };
    const again = { name: "show", description: "Shows", parameters: { properties: {}, type: "object" } };
    await register(ben, PICK, show);
    expect(await register(ana, PICK, again)).toEqual({ accepted: ["pick", "show"], refused: [] });
    // Another one under a taken name is not.
    const other = { ...PICK, parameters: { type: "string" } };
    expect(await register(ben, other, show)).toEqual({
      accepted: ["show"],
      refused: [{ name: "pick", reason: expect.stringMatching(/Another client here has a tool "pick"/) }],
    });
    await ana.submit("go", { runId: "r1", tools: [{ name: "own", description: "", parameters: {} }] });
    const run = await puppet.next();
    expect(run.input.tools?.map(({ name }) => name)).toEqual(["pick", "show", "own"]);
  });

  test("[K1] they stay for half a minute when their client has gone, and for good when it comes back", async () => {
    const { ana, ben, rooms, puppet } = await called();
    const { n } = (await claim(ana)) as { n: number };
    await release(ana, n);
    await ben.leave();
    rooms.clock.advance(29_999);
    expect(
      await rooms.rooms.request({
        key: ana.key,
        caller: ben.caller,
        frame: { type: "claim", ref: 1, thread: "t", toolCallId: "c1" },
      }),
    ).toMatchObject({ n: 2 });
    const back = await rooms.join("t", "Ben");
    rooms.clock.advance(31_000);
    await settled();
    expect(await claim(back)).toMatchObject({ n: 3 });
    await back.leave();
    rooms.clock.advance(61_000);
    await settled();
    await ana.ask({ type: "cancel", key: "c", runId: "r1" });
    await register(ana);
    await ana.submit("again", { runId: "r2" });
    expect((await puppet.next()).input.tools).toEqual([]);
  });
});

describe("a call", () => {
  test("[K2] is offered, for two seconds to the client that started the run, then to whoever is first", async () => {
    const { ana, ben, rooms } = await called();
    expect(await toolsOf(rooms)).toMatchObject([
      {
        toolCallId: "c1",
        name: "pick",
        args: '{"kind":"pdf"}',
        status: "offered",
        client: ana.caller.client,
      },
    ]);
    await expect(claim(ben)).rejects.toMatchObject({
      code: "claimed",
      details: { client: ana.caller.client },
    });
    rooms.clock.advance(2_000);
    expect(await claim(ben)).toEqual({ n: 1, until: rooms.clock.now() + 30_000 });
    await expect(claim(ana)).rejects.toMatchObject({
      code: "claimed",
      details: { client: ben.caller.client },
    });
    expect(await toolsOf(rooms)).toMatchObject([{ status: "claimed", client: ben.caller.client, n: 1 }]);
  });

  test("[K2] need not wait for a client that has gone, or that cannot do it any more", async () => {
    const { ana, ben } = await called();
    await register(ana);
    expect(await claim(ben)).toMatchObject({ n: 1 });
    expect(await codeOf(claim(ana))).toBe("forbidden");
  });

  test("[K2] belongs to its client over a dropped socket, is renewed, and goes on when the lease has ended", async () => {
    const { ana, ben, rooms } = await called();
    const first = (await claim(ana)) as { n: number; until: number };
    rooms.clock.advance(20_000);
    expect(await claim(ana)).toEqual({ n: first.n, until: first.until + 20_000 });
    await ana.leave();
    rooms.clock.advance(29_999);
    await settled();
    expect(await codeOf(claim(ben))).toBe("claimed");
    rooms.clock.advance(1);
    await settled();
    expect(await claim(ben)).toMatchObject({ n: 2 });
    await settled();
    expect(toolEntries(ben)).toEqual([
      ["offered", ana.caller.client, undefined],
      ["claimed", ana.caller.client, 1],
      ["claimed", ana.caller.client, 1],
      ["released", undefined, 1],
      ["claimed", ben.caller.client, 2],
    ]);
    // What comes of the old claim does not count.
    const late = {
      type: "result",
      ref: 1,
      key: "late",
      thread: "t",
      toolCallId: "c1",
      n: 1,
      content: "x",
    } as const;
    expect(await codeOf(rooms.rooms.request({ key: ana.key, caller: ana.caller, frame: late }))).toBe(
      "stale_claim",
    );
  });

  test("[K2] is given back, and its number is not used again", async () => {
    const { ana, ben } = await called();
    const { n } = (await claim(ana)) as { n: number };
    expect(await codeOf(release(ben, n))).toBe("stale_claim");
    expect(await codeOf(release(ana, n + 1))).toBe("stale_claim");
    await release(ana, n);
    expect(await claim(ben)).toMatchObject({ n: n + 1 });
  });

  test("[K2] of a client whose id another user has taken is not theirs", async () => {
    const { ana, rooms } = await called();
    await claim(ana);
    const eve = await rooms.join("t", "Eve");
    const caller = { ...eve.caller, client: ana.caller.client };
    const frame = {
      type: "result",
      ref: 1,
      key: "k",
      thread: "t",
      toolCallId: "c1",
      n: 1,
      content: "mine",
    } as const;
    expect(await codeOf(rooms.rooms.request({ key: ana.key, caller, frame }))).toBe("stale_claim");
  });
});

describe("results", () => {
  test("[K3] [K4] the run goes on by itself, once, when all calls are answered, with the results in their place", async () => {
    const { ana, ben, puppet, rooms } = await called(["c1", "pick"], ["c2", "pick"]);
    await claim(ana, "c1");
    await result(ana, 1, { file: "a.pdf" });
    await settled();
    expect(puppet.runs).toHaveLength(1);
    rooms.clock.advance(2_000);
    await claim(ben, "c2");
    await result(ben, 1, "", { toolCallId: "c2", error: "There is no such file" });
    const next = await puppet.next();
    expect(next.input.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", toolCalls: [{ id: "c1" }, { id: "c2" }] },
      { role: "tool", toolCallId: "c1", content: '{"file":"a.pdf"}' },
      { role: "tool", toolCallId: "c2", content: "", error: "There is no such file" },
    ]);
    expect(next.context.user).toEqual({ id: "guest:ana", name: "Ana" });
    expect(next.input).not.toHaveProperty("resume");
    next.start().finish().end();
    await ana.terminal(next.input.runId);
    await settled();
    expect(puppet.runs).toHaveLength(2);
    expect(await toolsOf(rooms)).toEqual([]);
    const started = ana.entries.find((e) => e.kind === "event" && e.run === next.input.runId);
    expect(started).toMatchObject({ start: { resumes: "r1", by: { id: "guest:ana" } } });
  });

  test("[D1] the same result again changes nothing, also when the run has gone on", async () => {
    const { ana, puppet } = await called();
    await claim(ana);
    const frame = { type: "result", key: "once", toolCallId: "c1", n: 1, content: "x" } as const;
    const first = await ana.ask(frame);
    (await puppet.next()).start().finish().end();
    await settled();
    expect(await ana.ask(frame)).toEqual({ ...first, duplicate: true });
    expect(await codeOf(result(ana, 1, "y"))).toBe("gone");
    expect(puppet.runs).toHaveLength(2);
  });

  test.each([
    ["text", "as it is", "as it is"],
    ["a number", 7, "7"],
    ["nothing", undefined, ""],
    ["content parts", [{ type: "text", text: "a" }], [{ type: "text", text: "a" }]],
    ["a list", [1, 2], "[1,2]"],
  ])("[K3] %s as a result", async (_what, content, expected) => {
    const { ana, puppet } = await called();
    await claim(ana);
    await result(ana, 1, content);
    expect((await puppet.next()).input.messages.at(-1)).toMatchObject({ role: "tool", content: expected });
  });
});

describe("while a call waits", () => {
  test("[K4] the thread is busy: inputs wait, visibly, and nobody makes a result up", async () => {
    const { ana, puppet, rooms } = await called();
    expect(await ana.submit("more", { runId: "r2" })).toMatchObject({ status: "queued", place: 1 });
    expect(await codeOf(ana.submit("now?", { policy: "reject" }))).toBe("busy");
    rooms.clock.advance(3_600_000);
    await settled();
    expect(puppet.runs).toHaveLength(1);
    expect(await toolsOf(rooms)).toMatchObject([{ status: "offered" }]);
    await claim(ana);
    await result(ana, 1, "x");
    const next = await puppet.next();
    expect(next.input.runId).not.toBe("r2");
    next.start().finish().end();
    expect((await puppet.next()).input.runId).toBe("r2");
  });

  test("[R6] [K4] cancel of the run that asked gives them up, without a result, and what waits runs", async () => {
    const { ana, puppet, rooms } = await called(["c1", "pick"], ["c2", "pick"]);
    await claim(ana);
    await result(ana, 1, "x");
    await ana.submit("more", { runId: "r2" });
    await ana.ask({ type: "cancel", key: "k", runId: "r1" });
    const next = await puppet.next();
    expect(next.input.runId).toBe("r2");
    expect(next.input.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
    expect(await toolsOf(rooms)).toEqual([]);
    expect(await codeOf(claim(ana, "c2"))).toBe("gone");
    next.start().finish().end();
    await ana.terminal("r2");
    expect(puppet.runs).toHaveLength(2);
  });

  test("[Q1] interrupt gives them up too", async () => {
    const { ana, puppet } = await called();
    await ana.submit("now", { runId: "r2", policy: "interrupt" });
    expect((await puppet.next()).input.runId).toBe("r2");
    expect(await codeOf(claim(ana))).toBe("gone");
  });

  test("[K2] a call of a tool that no client has is not offered, and holds nobody up", async () => {
    const { ana, puppet, rooms } = await called(["c1", "its own"]);
    expect(await toolsOf(rooms)).toMatchObject([{ status: "pending" }]);
    expect(await codeOf(claim(ana))).toBe("forbidden");
    await ana.submit("more", { runId: "r2" });
    expect((await puppet.next()).input.runId).toBe("r2");
  });
});

describe("restarts", () => {
  async function booted(store: ReturnType<typeof openMemory>) {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ store, agents: { planner: puppet } });
    await rooms.rooms.boot();
    await settled();
    return { puppet, rooms };
  }

  test("[K2] a claim outlives a restart, and ends when nobody renews it", async () => {
    const { ana, rooms, store } = await called();
    const { until } = (await claim(ana)) as { until: number };
    await rooms.rooms.close();
    const next = await booted(store);
    const ben = await next.rooms.join("t", "Ben");
    await register(ben, PICK);
    expect(snapshotOf(ben).tools).toMatchObject([
      { status: "claimed", client: ana.caller.client, n: 1, until },
    ]);
    next.rooms.clock.advance(until - next.rooms.clock.now() - 1);
    await settled();
    expect(await codeOf(claim(ben))).toBe("claimed");
    next.rooms.clock.advance(1);
    await settled();
    expect(await claim(ben)).toMatchObject({ n: 2 });
  });

  test("[K4] a server that was killed between the last result and the run begins it at its next start", async () => {
    const { ana, puppet, store } = await called();
    await claim(ana);
    await result(ana, 1, "x");
    await puppet.next();
    const { commit } = store;
    const copy = { ...store, commit };
    store.commit = async (batches) =>
      batches.map(() => ({ ok: false as const, code: "failed" as const, error: new Error("killed") }));
    const next = await booted(copy);
    const run = await next.puppet.next();
    expect(run.input.messages.at(-1)).toMatchObject({ role: "tool", content: "x" });
    run.start().finish().end();
    await settled();
    expect(next.puppet.runs).toHaveLength(1);
  });
});
