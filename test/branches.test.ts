import { describe, expect, test } from "vitest";
import { patch as change, langgraphLike, say, set } from "../server/testing/index.ts";
import type { Json } from "../shared/protocol/index.ts";
import { settled } from "./kit/fake-clock.ts";
import { PairedServer } from "./kit/paired-server.ts";
import { PuppetAgent, type PuppetRun } from "./kit/puppet-agent.ts";
import { codeOf, snapshotOf, type TestReader, TestRooms } from "./kit/server.ts";

const says = (run: PuppetRun, text: string, ...more: object[]) => {
  const messageId = `m-${run.input.runId}`;
  run
    .start(
      { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId, delta: text },
      { type: "TEXT_MESSAGE_END", messageId },
      ...more,
    )
    .finish()
    .end();
};
const delta = (path: string, value: Json) => ({ type: "STATE_DELTA", delta: [{ op: "add", path, value }] });

/** Two questions with an answer each; each answer counts `/n` up. */
async function open() {
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: puppet } });
  const ana = await rooms.join("t");
  for (const n of [1, 2]) {
    await ana.submit(`question ${n}`, { inputId: `i${n}`, runId: `r${n}` });
    says(await puppet.next(), `answer ${n}`, delta("/n", n));
    await ana.terminal(`r${n}`);
    await settled();
  }
  return { puppet, rooms, ana };
}

const now = async (rooms: TestRooms) => {
  const { messages, state, turns, head } = snapshotOf(await rooms.join("t", "Zoe"));
  return { said: messages.map(({ content }) => content), state, turns, head };
};
let keys = 0;
const head = (reader: TestReader, turn: string | null, more: object = {}) => {
  keys += 1;
  return reader.ask({ type: "head", key: `h${keys}`, turn, ...more });
};

describe("going on from another turn", () => {
  test("[T6] an answer is made again: from the same messages, and the state as it was there", async () => {
    const { puppet, rooms, ana } = await open();
    await ana.submit("", { messages: [], parent: "i2", runId: "again" });
    const run = await puppet.next();
    expect(run.input.messages.map(({ content }) => content)).toEqual([
      "question 1",
      "answer 1",
      "question 2",
    ]);
    expect(run.input.state).toEqual({ n: 1 });
    says(run, "another answer", delta("/n", 20));
    await ana.terminal("again");
    const { said, state, turns } = await now(rooms);
    expect(said).toEqual(["question 1", "answer 1", "question 2", "another answer"]);
    expect(state).toEqual({ n: 20 });
    expect(turns.find(({ id }) => id === "i2")?.next).toEqual(["r2", "again"]);
    expect(ana.entries.find(({ kind }) => kind === "head")).toMatchObject({ turn: "i2", why: "regenerate" });
  });

  test("[T6] something is said differently, from the beginning too, and by choice with the state of now", async () => {
    const { puppet, rooms, ana } = await open();
    await ana.submit("question 2, better", { parent: "r1", inputId: "i2b", runId: "r2b", keepState: true });
    const run = await puppet.next();
    expect(run.input.messages.map(({ content }) => content)).toEqual([
      "question 1",
      "answer 1",
      "question 2, better",
    ]);
    expect(run.input.state).toEqual({ n: 2 });
    says(run, "better");
    await ana.terminal("r2b");
    await ana.submit("something else", { parent: null, runId: "r0" });
    const first = await puppet.next();
    expect(first.input.messages.map(({ content }) => content)).toEqual(["something else"]);
    expect(first.input.state).toEqual({});
    says(first, "yes");
    await ana.terminal("r0");
    expect((await now(rooms)).said).toEqual(["something else", "yes"]);
  });

  test("[T6] everybody follows a switch to another branch and back, and nothing is lost", async () => {
    const { puppet, rooms, ana } = await open();
    await ana.submit("", { messages: [], parent: "i2", runId: "again" });
    says(await puppet.next(), "another answer", delta("/n", 20));
    await ana.terminal("again");
    await ana.submit("question 3", { runId: "r3" });
    says(await puppet.next(), "answer 3", delta("/n", 30));
    await ana.terminal("r3");
    await settled();
    const ben = await rooms.join("t", "Ben");
    await head(ben, "r2");
    expect(await now(rooms)).toMatchObject({
      said: ["question 1", "answer 1", "question 2", "answer 2"],
      state: { n: 2 },
      head: "r2",
    });
    // To the newest turn of the branch, whichever of its turns is named.
    await head(ben, "again");
    expect(await now(rooms)).toMatchObject({
      said: ["question 1", "answer 1", "question 2", "another answer", "question 3", "answer 3"],
      state: { n: 30 },
      head: "r3",
    });
    await head(ben, "r2", { keepState: true });
    expect((await now(rooms)).state).toEqual({ n: 30 });
  });

  test("[T6] what people have changed behind the end of a branch's last run is not of the branch", async () => {
    const { rooms, ana, puppet } = await open();
    const { seq } = snapshotOf(await rooms.join("t", "Yve"));
    const patch = [{ op: "add", path: "/hers", value: [1, { a: 1 }] }];
    await ana.ask({ type: "patch", key: "p", base: seq, patch });
    await ana.submit("", { messages: [], parent: "i2", runId: "again" });
    const run = await puppet.next();
    expect(run.input.state).toEqual({ n: 1 });
    says(run, "x");
    await ana.terminal("again");
    await settled();
    await head(ana, "r2");
    // The state a branch has is that of its last run's end.
    expect((await now(rooms)).state).toEqual({ n: 2 });
  });

  test("[T6] not while something runs or waits, nor from a turn that is not there", async () => {
    const { puppet, ana } = await open();
    expect(await codeOf(head(ana, "nothing"))).toBe("not_found");
    expect(await codeOf(ana.submit("x", { parent: "nothing" }))).toBe("not_found");
    await ana.submit("question 3", { runId: "r3" });
    const run = await puppet.next();
    run.start();
    await settled();
    expect(await codeOf(head(ana, "r1"))).toBe("busy");
    expect(await codeOf(ana.submit("x", { parent: "r1" }))).toBe("busy");
    // Whoever says so stops it.
    await ana.submit("instead", { parent: "r1", policy: "interrupt", runId: "r4" });
    expect((await puppet.next()).input.messages.map(({ content }) => content)).toEqual([
      "question 1",
      "answer 1",
      "instead",
    ]);
    await run.aborted;
  });

  test("[T6] rollback stops what runs, takes it and its question away, and what it changed, and goes on from before", async () => {
    const { puppet, rooms, ana } = await open();
    await ana.submit("question 3", { inputId: "i3", runId: "r3" });
    const run = await puppet.next();
    run.start(delta("/n", 3), delta("/more", true));
    await ana.entry((e) => e.kind === "event" && e.run === "r3" && JSON.stringify(e).includes("/more"));
    await ana.submit("question 3, again", { policy: "rollback", runId: "r4" });
    await run.aborted;
    const next = await puppet.next();
    expect(next.input.messages.map(({ content }) => content)).toEqual([
      "question 1",
      "answer 1",
      "question 2",
      "answer 2",
      "question 3, again",
    ]);
    expect(next.input.state).toEqual({ n: 2 });
    says(next, "done");
    await ana.terminal("r4");
    const { said, turns } = await now(rooms);
    expect(said.at(-1)).toBe("done");
    expect(turns.map(({ id }) => id)).not.toContain("r3");
    expect(ana.entries.find(({ kind }) => kind === "head")).toMatchObject({ turn: "r2", why: "rollback" });
    // With nothing under way it is an input like any other.
    await ana.submit("more", { policy: "rollback", runId: "r5" });
    expect((await puppet.next()).input.messages.at(-1)).toMatchObject({ content: "more" });
  });

  test("[T6] it outlives a restart", async () => {
    const { puppet, rooms, ana } = await open();
    await ana.submit("", { messages: [], parent: "i2", runId: "again" });
    says(await puppet.next(), "another answer", delta("/n", 20));
    await ana.terminal("again");
    await rooms.rooms.close();
    const again = new TestRooms({ store: rooms.store, agents: { planner: new PuppetAgent() } });
    const ben = await again.join("t", "Ben");
    await head(ben, "r2");
    expect(await now(again)).toMatchObject({
      said: ["question 1", "answer 1", "question 2", "answer 2"],
      state: { n: 2 },
    });
  });

  test("[R10] [T6] what was asked on a branch that is left is not asked on another one, and is when one is back", async () => {
    const { puppet, rooms, ana } = await open();
    await ana.submit("question 3", { runId: "r3" });
    const interrupts = [{ id: "q", reason: "x" }];
    (await puppet.next())
      .start()
      .finish({ outcome: { type: "interrupt", interrupts } })
      .end();
    await ana.terminal("r3");
    await settled();
    expect(await codeOf(ana.submit("x"))).toBe("interrupted");
    await head(ana, "r1");
    const shown = await now(rooms);
    // The branch of r1 is the one it is on.
    expect(shown.head).toBe("r3");
    await ana.submit("instead", { parent: "r1", runId: "r4" });
    says(await puppet.next(), "fine");
    await ana.terminal("r4");
    await settled();
    await ana.submit("more", { runId: "r5" });
    says(await puppet.next(), "fine");
    await ana.terminal("r5");
    await settled();
    await head(ana, "r3");
    expect(await codeOf(ana.submit("x"))).toBe("interrupted");
  });
});

describe("agents that remember", () => {
  test("[T7] each branch has a thread id of its own for them, and the answer comes back as the thread's", async () => {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ agents: { planner: { agent: puppet, memory: "own" } } });
    const ana = await rooms.join("t");
    const ask = async (text: string, runId: string, more: object = {}) => {
      await ana.submit(text, { inputId: `i-${runId}`, runId, ...more });
      const run = await puppet.next();
      says(run, `answer ${runId}`);
      expect(await ana.terminal(runId)).toMatchObject({ event: { type: "RUN_FINISHED", threadId: "t" } });
      await settled();
      return run.input.threadId;
    };
    expect(await ask("one", "r1")).toBe("t");
    expect(await ask("two", "r2")).toBe("t");
    expect(await ask("", "r3", { messages: [], parent: "i-r2" })).toBe("t~r3");
    expect(await ask("three", "r4")).toBe("t~r3");
    expect(await ask("two, better", "r5", { parent: "r1" })).toBe("t~i-r5");
    await head(ana, "r2");
    expect(await ask("on the first branch", "r6")).toBe("t");
    await head(ana, "r4");
    expect(await ask("on the second branch", "r7")).toBe("t~r3");
  });

  test("[T7] regenerate, edit and rollback bring no old text back from one that keeps its own", async () => {
    const graph = langgraphLike({
      remembers: true,
      script: ({ input }) => {
        const last = input.messages.at(-1)?.content as string;
        return [set({ last }), say(`You said ${last}`), change({ op: "add", path: "/seen", value: last })];
      },
    });
    const rooms = new TestRooms({ agents: { graph: { agent: graph, memory: "own" } } });
    const ana = await rooms.join("t");
    const ask = async (text: string, runId: string, more: object = {}) => {
      await ana.submit(text, { inputId: `i-${runId}`, runId, ...more });
      await ana.terminal(runId);
      await settled();
    };
    await ask("apples", "r1");
    await ask("SECRET pears", "r2");
    await ask("plums", "r3", { parent: "r1" });
    expect(JSON.stringify(await now(rooms))).not.toContain("SECRET");
    await ask("", "r4", { messages: [], parent: "i-r3" });
    await ask("figs", "r5", { policy: "rollback" });
    const { said, state } = await now(rooms);
    expect(JSON.stringify({ said, state })).not.toContain("SECRET");
    expect(said).toEqual(["apples", "You said apples", "plums", "You said plums", "figs", "You said figs"]);
    expect(state).toMatchObject({ last: "figs" });
  });
});

test("[T6] [J5] clients that are there follow a switch without doing anything, and end equal to a newcomer", async () => {
  const puppet = new PuppetAgent();
  const server = new PairedServer({ planner: puppet });
  const [ann, ben] = [server.client("Ann"), server.client("Ben")];
  const [anns, bens] = [ann.thread("t"), ben.thread("t")];
  await server.settle();
  for (const n of [1, 2]) {
    void anns.send(`question ${n}`, { inputId: `i${n}`, runId: `r${n}` });
    await server.settle();
    says(await puppet.next(), `answer ${n}`, delta("/n", n));
    await server.settle();
    await server.pass(300);
  }
  const cy = server.client("Cy");
  const cys = cy.thread("t");
  await server.settle();
  void bens.regenerate("m-r2");
  await server.settle();
  says(await puppet.next(), "another answer", delta("/n", 20));
  await server.settle();
  await server.pass(300);
  const shown = () =>
    [anns, bens, cys].map(({ messages, state }) => [messages.map(({ content }) => content), state]);
  for (const one of shown())
    expect(one).toEqual([["question 1", "answer 1", "question 2", "another answer"], { n: 20 }]);
  expect(cys.branches(cys.turns.at(-1)?.id as string)).toEqual(["r2", expect.any(String)]);
  void cys.switchTo("r2");
  await server.settle();
  await server.pass(300);
  for (const one of shown())
    expect(one).toEqual([["question 1", "answer 1", "question 2", "answer 2"], { n: 2 }]);
  for (const thread of [anns, bens, cys]) expect(thread.branches("r2")).toHaveLength(2);
  void anns.resend("i2", "question 2, better");
  await server.settle();
  says(await puppet.next(), "better");
  await server.settle();
  await server.pass(300);
  for (const one of shown())
    expect(one[0]).toEqual(["question 1", "answer 1", "question 2, better", "better"]);
  for (const client of [ann, ben, cy]) client.close();
});
