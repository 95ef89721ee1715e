import { describe, expect, test } from "vitest";
import type { InputInfo } from "../shared/protocol/index.ts";
import { Timeline } from "../shared/timeline/index.ts";
import { settled } from "./kit/fake-clock.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { codeOf, snapshotOf, type TestReader, TestRooms } from "./kit/server.ts";

/** A thread with a run under way, and inputs named by their text behind it. */
async function waiting(...texts: string[]) {
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: puppet } });
  const ana = await rooms.join("t");
  await ana.submit("go", { runId: "r1", inputId: "go" });
  const run = await puppet.next();
  run.start();
  for (const text of texts) await ana.submit(text, { inputId: text, runId: `run ${text}` });
  return { puppet, rooms, ana, run };
}

let keys = 0;
const key = () => `k${++keys}`;

/** Ids and places of what waits, as a newcomer sees it. */
const queueOf = async (rooms: TestRooms) =>
  snapshotOf(await rooms.join("t", "Cy"))
    .inputs.filter(({ status }) => status === "queued")
    .map(({ inputId, place }) => [inputId, place]);

/** The same as somebody sees it who has followed the log from its beginning. */
function followed(reader: TestReader): InputInfo[] {
  const timeline = new Timeline();
  for (const entry of reader.entries) timeline.apply(entry);
  return [...timeline.inputs.values()];
}

describe("what waits", () => {
  test("[Q2] can be moved, and everybody sees the same order, in which it then runs", async () => {
    const { puppet, rooms, ana, run } = await waiting("a", "b", "c");
    const ben = await rooms.join("t", "Ben");
    await ben.ask({ type: "move", key: key(), inputId: "c", place: 1 });
    expect(await queueOf(rooms)).toEqual([
      ["c", 1],
      ["a", 2],
      ["b", 3],
    ]);
    await ben.ask({ type: "move", key: key(), inputId: "c", place: 99 });
    await ben.ask({ type: "move", key: key(), inputId: "a", place: 2 });
    expect(await queueOf(rooms)).toEqual([
      ["b", 1],
      ["a", 2],
      ["c", 3],
    ]);
    expect(followed(ana).map(({ inputId }) => inputId)).toEqual(["go", "b", "a", "c"]);
    run.finish().end();
    for (const name of ["b", "a", "c"]) {
      const next = await puppet.next();
      expect(next.input.runId).toBe(`run ${name}`);
      next.start().finish().end();
    }
    await ana.terminal("run c");
    await settled();
    expect(await queueOf(rooms)).toEqual([]);
  });

  test("[Q2] can be edited by who wrote it, and by nobody else", async () => {
    const { puppet, rooms, ana, run } = await waiting("a", "b");
    const ben = await rooms.join("t", "Ben");
    const edit = {
      type: "edit",
      inputId: "a",
      messages: [{ id: "new", role: "user", content: "better" }],
    } as const;
    expect(await codeOf(ben.ask({ ...edit, key: key() }))).toBe("forbidden");
    await ana.ask({ ...edit, key: key() });
    // It stays where it was.
    expect(await queueOf(rooms)).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
    const [, mine] = followed(ana);
    expect(mine).toMatchObject({ inputId: "a", by: { id: "guest:ana" }, messages: [{ content: "better" }] });
    for (const [messages, code] of [
      [[], "bad_message"],
      [[{ id: "x", role: "assistant", content: "made up" }], "bad_message"],
      [[{ id: "m-go", role: "user", content: "" }], "accepted"],
      [[{ id: (snapshotOf(ben).messages[0] as { id: string }).id, role: "user", content: "" }], "conflict"],
    ] as const)
      expect(await codeOf(ana.ask({ ...edit, messages: [...messages], key: key() }))).toMatch(code);
    await ana.ask({ ...edit, key: key() });
    run.finish().end();
    const next = await puppet.next();
    expect(next.input.messages.map(({ content }) => content)).toEqual(["go", "better"]);
    expect(await codeOf(ana.ask({ ...edit, key: key() }))).toBe("gone");
    expect(await codeOf(ana.ask({ type: "move", key: key(), inputId: "a", place: 1 }))).toBe("gone");
    expect(await codeOf(ana.ask({ type: "move", key: key(), inputId: "none", place: 1 }))).toBe("not_found");
  });

  test("[Q2] keeps its order and its words over a restart", async () => {
    const { rooms, ana } = await waiting("a", "b", "c");
    await ana.ask({ type: "move", key: key(), inputId: "c", place: 1 });
    const messages = [{ id: "new", role: "user", content: "better" }];
    await ana.ask({ type: "edit", key: key(), inputId: "a", messages });
    await rooms.rooms.close();
    const puppet = new PuppetAgent();
    const again = new TestRooms({ store: rooms.store, agents: { planner: puppet } });
    await again.rooms.boot();
    for (const name of ["c", "a", "b"]) {
      const next = await puppet.next();
      expect(next.input.runId).toBe(`run ${name}`);
      if (name === "a") expect(next.input.messages.at(-1)).toMatchObject({ content: "better" });
      next.start().finish().end();
    }
  });
});

describe("policies", () => {
  test("[Q1] interrupt stops what runs and goes before all that waits", async () => {
    const { puppet, ana, run } = await waiting("a");
    const ack = await ana.submit("now", { runId: "r2", policy: "interrupt" });
    expect(ack).toMatchObject({ status: "running", runId: "r2" });
    await run.aborted;
    const next = await puppet.next();
    expect(next.input.runId).toBe("r2");
    expect(await ana.terminal("r1")).toMatchObject({ event: { outcome: { type: "cancelled" } } });
    next.start().finish().end();
    expect((await puppet.next()).input.runId).toBe("run a");
  });

  test("[Q1] interrupt does not wait for a response that goes on behind its end", async () => {
    const { puppet, ana, run } = await waiting();
    run.finish();
    await ana.terminal("r1");
    const ack = await ana.submit("now", { runId: "r2", policy: "interrupt" });
    expect(ack).toMatchObject({ status: "running" });
    expect((await puppet.next()).input.runId).toBe("r2");
  });

  test("[Q1] parallel begins at once beside what runs; whatever waits goes on when all have ended", async () => {
    const { puppet, ana, run } = await waiting("a");
    await ana.submit("too", { runId: "r2", policy: "parallel" });
    const second = await puppet.next();
    second.start().finish().end();
    await ana.terminal("r2");
    await settled();
    expect(puppet.runs).toHaveLength(2);
    run.finish().end();
    expect((await puppet.next()).input.runId).toBe("run a");
  });

  test("[Q1] there may be fifteen runs at once, and the next one is refused", async () => {
    const { puppet, ana } = await waiting();
    for (let i = 2; i <= 15; i += 1) {
      await ana.submit("too", { runId: `r${i}`, policy: "parallel" });
      await puppet.next();
    }
    expect(await codeOf(ana.submit("too", { policy: "parallel" }))).toBe("busy");
  });
});
