import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openMemory } from "../server/store/memory.ts";
import type { CommitResult, Store } from "../server/store/store.ts";
import type { Cursor, Entry } from "../shared/protocol/index.ts";
import { fromSnapshot, type Timeline } from "../shared/timeline/index.ts";
import { FakeClock, settled } from "./kit/fake-clock.ts";
import { type CommitMood, MoodyStore } from "./kit/moody-store.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { codeOf, snapshotOf, type TestReader, TestRooms } from "./kit/server.ts";

const KEY = { tenant: "default", thread: "t" };
const texts = (reader: TestReader) => snapshotOf(reader).messages.map(({ content }) => content);
const cursorOf = ({ reply: { epoch, seq, mark } }: TestReader): Cursor => ({ epoch, seq, mark });

describe("[L4] rooms leave memory and come back", () => {
  test("a thousand times, with people and messages coming in between: nothing is lost", async () => {
    const rooms = new TestRooms({ idleMs: 0 });
    // A fixed sequence of odd moments: a failing one is the same each time.
    let seed = 1;
    const random = (n: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % n;
    };
    const pause = async () => {
      const kind = random(4);
      if (kind === 0) rooms.clock.advance(1);
      else if (kind === 1) await turn();
      else if (kind === 2) for (let i = random(12); i > 0; i -= 1) await Promise.resolve();
    };
    const write = async (reader: TestReader, id: string) => {
      await reader.submit("", { start: false, inputId: id, messages: [{ id, role: "user", content: id }] });
      written.push(id);
    };
    let written: string[] = [];
    for (let i = 1; i <= 1_000; i += 1) {
      // Threads stay short, or the test would measure how long loading takes.
      const thread = `t${Math.ceil(i / 50)}`;
      const joining = rooms.join(thread, "Ana");
      await pause();
      const other = random(3) === 0 ? rooms.join(thread, "Bo") : null;
      const ana = await joining;
      await write(ana, `a${i}`);
      const leaving = ana.leave();
      await pause();
      rooms.clock.advance(random(2));
      const bo = await other;
      if (bo) {
        await write(bo, `b${i}`);
        await pause();
        await bo.leave();
      }
      await leaving;
      rooms.clock.advance(1);
      await pause();
      if (i % 50 > 0) continue;
      expect(texts(await rooms.join(thread, "Cy"))).toEqual(written);
      // Everything is in the log once, in order, without a gap.
      const entries = await rooms.store.read({ tenant: "default", thread }, 0, 10_000);
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, n) => n + 1));
      written = [];
    }
    expect(rooms.warnings).toEqual([]);
  });

  test("whoever is in the middle of a join keeps the room", async () => {
    const inner = openMemory();
    const waiting: (() => void)[] = [];
    // The mark of a cursor is looked up between finding the room and entering it.
    const store = {
      ...inner,
      mark: async (...of: Parameters<Store["mark"]>) => {
        await new Promise<void>((go) => waiting.push(go));
        return inner.mark(...of);
      },
    };
    const rooms = new TestRooms({ store, idleMs: 0 });
    const ana = await rooms.join("t");
    for (const text of ["one", "two"]) await ana.submit(text, { start: false });
    await settled();
    const { seq } = ana.entries[1] as Entry;
    const mark = (await inner.mark(KEY, seq)) as string;
    await ana.leave();
    const joining = rooms.join("t", "Bo", { cursor: { epoch: ana.reply.epoch, seq, mark } });
    await settled();
    rooms.clock.advance(10);
    await settled();
    rooms.clock.advance(10);
    await settled();
    waiting.forEach((go) => {
      go();
    });
    const bo = await joining;
    expect(bo.reply.recovered).toBe(true);
    await bo.submit("three", { start: false });
    await settled();
    expect(bo.entries.length).toBeGreaterThan(0);
    const cy = await rooms.join("t", "Cy");
    expect(texts(cy)).toEqual(["one", "two", "three"]);
    expect(cy.reply.people.all.map(({ user }) => user.name)).toEqual(["Bo", "Cy"]);
    expect(rooms.warnings).toEqual([]);
  });

  test("asking for threads that do not exist leaves nothing in memory", async () => {
    const rooms = new TestRooms({ idleMs: 60_000 });
    const caller = {
      tenant: "default",
      user: { id: "guest:eve", name: "Eve" },
      client: "c",
      connection: "x",
      role: "editor" as const,
    };
    for (let i = 0; i < 200; i += 1) {
      const key = { tenant: "default", thread: `nowhere-${i}` };
      const join = rooms.rooms.join({ key, caller, cursor: null, create: false, history: 10 });
      expect(await codeOf(join)).toBe("not_found");
      const frame = { type: "update", ref: 1, key: "k", thread: key.thread, title: "x" } as const;
      expect(await codeOf(rooms.rooms.request({ key, caller, frame }))).toBe("not_found");
    }
    rooms.clock.advance(1);
    await settled();
    const { rooms: byKey, live } = rooms.rooms as unknown as Record<string, Map<string, unknown>>;
    expect([byKey?.size, live?.size, rooms.clock.pending]).toEqual([0, 0, 0]);
  });

  test("a room stays for idleMs after the last who left, and is then written to the end", async () => {
    const rooms = new TestRooms({ idleMs: 1_000 });
    let loads = 0;
    const { load } = rooms.store;
    rooms.store.load = async (key) => {
      loads += 1;
      return load(key);
    };
    const ana = await rooms.join("t");
    await ana.submit("hello", { start: false });
    await ana.leave();
    rooms.clock.advance(900);
    const bo = await rooms.join("t", "Bo");
    await bo.leave();
    rooms.clock.advance(900);
    await settled();
    await (await rooms.join("t", "Cy")).leave();
    expect(loads).toBe(1);
    rooms.clock.advance(1_000);
    await settled();
    await settled();
    // [L6] the stored fold stands at the end of the log.
    expect(await load(KEY)).toMatchObject({ seq: 2, fold: { seq: 2 } });
    const dan = await rooms.join("t", "Dan");
    expect(loads).toBe(2);
    expect(texts(dan)).toEqual(["hello"]);
  });

  test("a room whose last fold cannot be written stays, and tries again", async () => {
    const moody = new MoodyStore();
    const rooms = new TestRooms({ store: moody.store, idleMs: 1_000 });
    const ana = await rooms.join("t");
    await ana.submit("hello", { start: false });
    await ana.leave();
    moody.moods = ["failed"];
    rooms.clock.advance(1_000);
    await settled();
    await settled();
    rooms.clock.advance(1_000);
    await settled();
    await settled();
    expect(await moody.inner.load(KEY)).toMatchObject({ fold: { seq: 2 } });
    expect(texts(await rooms.join("t", "Bo"))).toEqual(["hello"]);
  });
});

describe("[L4] a commit that fails", () => {
  test.each(["failed", "conflict"] as CommitMood[])(
    "%s: nobody was told anything, and the same again succeeds once",
    async (mood) => {
      const moody = new MoodyStore();
      const rooms = new TestRooms({ store: moody.store });
      const [ana, bo] = [await rooms.join("t"), await rooms.join("t", "Bo")];
      await ana.submit("before", { start: false });
      await settled();
      const seen = bo.entries.length;
      moody.moods = [mood];
      const frame = {
        inputId: "i1",
        start: false,
        messages: [{ id: "m1", role: "user", content: "during" }],
      };
      const refused = await ana.submit("", frame).catch((error) => error);
      expect(refused).toMatchObject({ code: "store_failed", retry: true });
      expect(refused.message).toMatch(/Nothing was changed; try again\.$/);
      await settled();
      expect(bo.entries).toHaveLength(seen);
      expect(texts(await rooms.join("t", "Cy"))).toEqual(["before"]);
      const ack = await ana.submit("", frame);
      expect(ack).toMatchObject({ status: "done" });
      expect(ack).not.toHaveProperty("duplicate");
      expect(await ana.submit("", frame)).toEqual({ ...ack, duplicate: true });
      expect(texts(await rooms.join("t", "Dan"))).toEqual(["before", "during"]);
      await settled();
      // Those who were there get what follows without a gap.
      expect(bo.entries.map(({ seq }) => seq)).toEqual(bo.entries.map((_, i) => i + 1));
    },
  );

  test("everything of the turn is refused, also what only wanted to read", async () => {
    const moody = new MoodyStore();
    const rooms = new TestRooms({ store: moody.store });
    const ana = await rooms.join("t");
    moody.moods = ["failed"];
    const both = [ana.submit("x", { start: false }), ana.ask({ type: "update", key: "k", title: "T" })];
    expect(await Promise.all([...both, rooms.join("t", "Bo")].map(codeOf))).toEqual(
      Array(3).fill("store_failed"),
    );
    expect(snapshotOf(await rooms.join("t", "Bo")).title).toBe("");
  });

  test("[L5] unknown: the same batch again, until the store can tell; one effect", async () => {
    for (const mood of ["unknown", "unknown but written", "throws"] as CommitMood[]) {
      const moody = new MoodyStore();
      const rooms = new TestRooms({ store: moody.store });
      const ana = await rooms.join("t");
      moody.moods = [mood, mood];
      const submitted = ana.submit("hello", { start: false });
      await settled();
      await settled();
      rooms.clock.advance(50);
      await settled();
      rooms.clock.advance(200);
      expect(await submitted, mood).toMatchObject({ status: "done" });
      expect(new Set(moody.marks.slice(-3)).size).toBe(1);
      expect(texts(await rooms.join("t", "Bo"))).toEqual(["hello"]);
      await settled();
      expect(ana.entries.map(({ seq }) => seq)).toEqual([1, 2]);
    }
  });

  test("[L5] unknown for good: back to what the store has", async () => {
    const moody = new MoodyStore();
    const rooms = new TestRooms({ store: moody.store });
    const ana = await rooms.join("t");
    moody.moods = Array(5).fill("unknown but written");
    const frame = { inputId: "i1", start: false, messages: [{ id: "m1", role: "user", content: "hello" }] };
    const submitted = codeOf(ana.submit("", frame));
    for (let i = 0; i < 40; i += 1) {
      await settled();
      rooms.clock.advance(200);
    }
    expect(await submitted).toBe("store_failed");
    // Whoever reads is told what was stored all the same.
    expect(ana.entries.map(({ seq }) => seq)).toEqual([1, 2]);
    // It was written after all: the retry is a duplicate, and nothing is there twice.
    expect(await ana.submit("", frame)).toMatchObject({ status: "done", duplicate: true });
    expect(texts(await rooms.join("t", "Bo"))).toEqual(["hello"]);
  });

  test("a join that is on its way when the room gives its thread up is told so", async () => {
    const moody = new MoodyStore();
    let arrived: (() => void) | undefined;
    const { mark } = moody.store;
    const rooms = new TestRooms({ store: moody.store });
    const ana = await rooms.join("t");
    for (const text of ["one", "two"]) await ana.submit(text, { start: false });
    moody.store.mark = async (...of) => {
      await new Promise<void>((resolve) => (arrived = resolve));
      return mark(...of);
    };
    const cursor = { epoch: ana.reply.epoch, seq: 1, mark: "x" };
    const joining = codeOf(rooms.join("t", "Bo", { cursor }));
    await settled();
    moody.moods = ["fenced"];
    expect(await codeOf(ana.submit("three", { start: false }))).toBe("store_failed");
    arrived?.();
    expect(await joining).toBe("store_failed");
  });

  test("runs under way end in STORE_FAILED and their agents are stopped; the queue goes on", async () => {
    const moody = new MoodyStore();
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ store: moody.store, agents: { planner: puppet } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1", inputId: "i1" });
    const run = await puppet.next();
    run.start();
    await ana.entry((e) => e.kind === "event" && e.event.type === "RUN_STARTED");
    await ana.submit("second", { runId: "r2" });
    moody.moods = ["failed"];
    run.emit({ type: "CUSTOM", name: "lost", value: 1 });
    const end = await ana.terminal("r1");
    expect(end).toMatchObject({ by: { kind: "system" }, event: { type: "RUN_ERROR", code: "STORE_FAILED" } });
    expect(run.context.signal.aborted).toBe(true);
    expect(ana.entries.some((e) => e.kind === "event" && e.event.type === "CUSTOM")).toBe(false);
    const second = await puppet.next();
    expect(second.input.runId).toBe("r2");
    // The old response has no say any more.
    run.finish().end();
    second.start().finish().end();
    await ana.terminal("r2");
    expect(ana.entries.filter((e) => e.kind === "event" && e.run === "r1")).toHaveLength(2);
    expect(ana.entries.findLast((e) => e.kind === "input" && e.inputId === "i1")).toMatchObject({
      status: "failed",
      reason: "STORE_FAILED",
    });
  });

  test("a run whose first turn is not stored never calls its agent", async () => {
    const moody = new MoodyStore();
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ store: moody.store, agents: { planner: puppet } });
    const ana = await rooms.join("t");
    moody.moods = ["failed"];
    expect(await codeOf(ana.submit("go"))).toBe("store_failed");
    await settled();
    expect(puppet.runs).toHaveLength(0);
    await ana.submit("go");
    await puppet.next();
  });

  test("a store that goes on failing is asked less and less often, and the process has time for others", async () => {
    const moody = new MoodyStore();
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ store: moody.store, agents: { planner: puppet } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start();
    await ana.entry((e) => e.kind === "event");
    moody.moods = ["failed"];
    moody.always = true;
    run.emit({ type: "CUSTOM", name: "lost", value: 1 });
    const began = moody.commits;
    for (let ms = 0; ms < 60_000; ms += 100) {
      for (let i = 0; i < 4; i += 1) await settled();
      rooms.clock.advance(100);
    }
    expect(moody.commits - began).toBeLessThan(30);
    expect(moody.commits - began).toBeGreaterThan(8);
    moody.always = false;
    moody.moods = [];
    for (let i = 0; i < 60; i += 1) {
      await settled();
      rooms.clock.advance(100);
    }
    expect(await ana.terminal("r1")).toMatchObject({ event: { code: "STORE_FAILED" } });
    expect(await ana.submit("again", { runId: "r2" })).toMatchObject({ status: "running" });
  });

  test("a request whose earlier answer cannot be looked up is refused alone; runs go on", async () => {
    const moody = new MoodyStore();
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ store: moody.store, agents: { planner: puppet } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const run = await puppet.next();
    run.start();
    moody.ackFails = true;
    expect(await codeOf(ana.submit("x", { start: false }))).toBe("store_failed");
    moody.ackFails = false;
    run.finish().end();
    expect(await ana.terminal("r1")).toMatchObject({ event: { type: "RUN_FINISHED" } });
  });

  test("fenced, or a store that cannot be read any more: the room gives its thread up", async () => {
    for (const mood of ["fenced", "failed"] as const) {
      const moody = new MoodyStore();
      const rooms = new TestRooms({ store: moody.store });
      const ana = await rooms.join("t");
      await ana.submit("before", { start: false });
      moody.moods = [mood];
      moody.loadFails = mood === "failed";
      expect(await codeOf(ana.submit("x", { start: false }))).toBe("store_failed");
      await settled();
      expect(ana.lost).toEqual(["The thread cannot be read at the moment."]);
      if (moody.loadFails) {
        // Refused, and not shown empty; and asking again does not hang.
        expect(await codeOf(rooms.join("t", "Bo"))).toBe("store_failed");
        expect(await codeOf(ana.submit("x", { start: false }))).toBe("store_failed");
        moody.loadFails = false;
      }
      expect(texts(await rooms.join("t", "Bo"))).toEqual(["before"]);
    }
  });

  test("a thread that cannot be loaded is refused, for every request, and never shown empty", async () => {
    const moody = new MoodyStore();
    const first = new TestRooms({ store: moody.store });
    await (await first.join("t")).submit("before", { start: false });
    await first.rooms.close();
    const rooms = new TestRooms({ store: moody.store });
    const { commits } = moody;
    moody.loadFails = true;
    const refused = await rooms.join("t", "Bo").catch((error) => error);
    expect(refused).toMatchObject({ code: "store_failed", retry: true });
    expect(rooms.warnings).toMatchObject([{ what: "a thread cannot be read", details: { thread: "t" } }]);
    moody.loadFails = false;
    expect(texts(await rooms.join("t", "Bo"))).toEqual(["before"]);
    expect(moody.commits).toBe(commits);
  });

  test("a log with a hole is refused", async () => {
    const inner = openMemory();
    const first = new TestRooms({ store: inner });
    const ana = await first.join("t");
    await ana.submit("before", { start: false });
    const rooms = new TestRooms({ store: { ...inner, read: async () => [] } });
    expect(await codeOf(rooms.join("t", "Bo"))).toBe("store_failed");
  });

  test("a store that fails while the server stops does not keep it, and starts nothing", async () => {
    const moody = new MoodyStore();
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ store: moody.store, agents: { planner: puppet } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    (await puppet.next()).start();
    await ana.submit("second", { runId: "r2" });
    moody.moods = ["failed"];
    moody.always = true;
    await rooms.rooms.close();
    await settled();
    expect(puppet.runs).toHaveLength(1);
    expect(await codeOf(rooms.join("t", "Bo"))).toBe("store_failed");
    expect(await moody.inner.unfinished()).toHaveLength(1);
  });
});

describe("[J4] windows on a thread", () => {
  /** A thread of `n` messages, each of one turn. */
  async function long(rooms: TestRooms, n: number): Promise<TestReader> {
    const ana = await rooms.join("t");
    for (let i = 0; i < n; i += 1)
      await ana.submit("", {
        start: false,
        inputId: `i${i}`,
        messages: [{ id: `m${i}`, role: "user", content: `${i}` }],
      });
    await settled();
    return ana;
  }

  test("the newest messages, what is before them counted, and the rest by pages", async () => {
    const rooms = new TestRooms();
    await long(rooms, 10);
    const bo = await rooms.join("t", "Bo", { history: 3 });
    expect(snapshotOf(bo)).toMatchObject({ before: 7, messages: [{ id: "m7" }, { id: "m8" }, { id: "m9" }] });
    const page = await bo.ask({ type: "earlier", before: "m7", limit: 5 });
    expect(page).toMatchObject({
      before: 2,
      messages: [{ id: "m2" }, {}, {}, {}, { id: "m6" }],
      seq: bo.reply.seq,
    });
    expect(await bo.ask({ type: "earlier", before: "m2", limit: 1_000 })).toMatchObject({ before: 0 });
    expect(await codeOf(bo.ask({ type: "earlier", before: "nothing", limit: 5 }))).toBe("not_found");
    const none = await rooms.join("t", "Cy", { history: 0 });
    expect(snapshotOf(none)).toMatchObject({ before: 10, messages: [] });
  });

  test("[J3] a good cursor gets the entries behind it; many of them, or large ones, a snapshot", async () => {
    const store = openMemory();
    const rooms = new TestRooms({ store });
    const ana = await long(rooms, 3);
    const bo = await rooms.join("t", "Bo");
    const cursor = cursorOf(bo);
    const same = await rooms.join("t", "Bo", { cursor });
    expect(same.reply).toMatchObject({
      recovered: true,
      catchUp: { kind: "entries", items: [], after: cursor.seq },
    });
    await ana.submit("x", { start: false });
    const back = await rooms.join("t", "Bo", { cursor });
    expect(back.reply).toMatchObject({ recovered: true, catchUp: { kind: "entries", after: cursor.seq } });
    expect((back.reply.catchUp as { items: Entry[] }).items.map(({ seq }) => seq)).toEqual([cursor.seq + 1]);
    const large = "x".repeat(900_000);
    for (let i = 0; i < 5; i += 1) await ana.submit(large, { start: false });
    expect((await rooms.join("t", "Bo", { cursor })).reply).toMatchObject({ recovered: false });
    // 5,001 entries behind the cursor, without the size.
    const many = cursorOf(await rooms.join("t", "Cy"));
    for (let i = 0; i < 26; i += 1) {
      const messages = (n: number) =>
        Array.from({ length: 100 }, (_, k) => ({ id: `x${i}-${n}-${k}`, role: "user", content: "" }));
      await Promise.all(
        [0, 1].map((n) => ana.submit("", { start: false, inputId: `x${i}-${n}`, messages: messages(n) })),
      );
    }
    expect((await rooms.join("t", "Cy", { cursor: many })).reply).toMatchObject({ recovered: false });
  });

  test("[J5] an entry that changes a message older than the window reaches below it", async () => {
    const rooms = new TestRooms({ agents: { planner: new PuppetAgent() } });
    const ana = await long(rooms, 6);
    const bo = await rooms.join("t", "Bo", { history: 2 });
    const reaches: number[] = [];
    rooms.rooms.listen(KEY, (b) => {
      if (b.kind === "entries") reaches.push(b.reach);
    });
    await ana.submit("new", { start: false });
    await settled();
    expect(reaches.at(-1)).toBeGreaterThanOrEqual(bo.reply.catchUp.window);
    // A run that goes on in an old message.
    const puppet = new PuppetAgent();
    const other = new TestRooms({ agents: { planner: puppet } });
    const cy = await other.join("t");
    await cy.submit("go", { runId: "r1" });
    (await puppet.next())
      .start(
        { type: "TEXT_MESSAGE_START", messageId: "old", role: "assistant" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "old", delta: "a" },
      )
      .emit({ type: "TEXT_MESSAGE_END", messageId: "old" })
      .finish()
      .end();
    await cy.terminal("r1");
    for (let i = 0; i < 5; i += 1) await cy.submit(`${i}`, { start: false });
    const dan = await other.join("t", "Dan", { history: 2 });
    const seen: number[] = [];
    other.rooms.listen(KEY, (b) => {
      if (b.kind === "entries") seen.push(b.reach);
    });
    const before = cursorOf(dan);
    const oldest = snapshotOf(dan).messages[0]?.id as string;
    await cy.submit("again", { runId: "r2" });
    (await puppet.next()).start({ type: "TEXT_MESSAGE_START", messageId: "old", role: "assistant" });
    await cy.entry((e) => e.kind === "event" && e.run === "r2" && e.event.type === "TEXT_MESSAGE_START");
    expect(Math.min(...seen)).toBeLessThan(dan.reply.catchUp.window);
    // Somebody who comes back with a cursor from before, and the same window, gets a snapshot as well.
    const back = await other.join("t", "Dan", { cursor: before, oldest, history: 2 });
    expect(back.reply.catchUp.kind).toBe("snapshot");
    const all = await other.join("t", "Eve", { cursor: before });
    expect(all.reply.catchUp.kind).toBe("entries");
  });
});

describe("[J8] a cursor goes with what the client holds", () => {
  const text = (messageId: string) => [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta: messageId },
    { type: "TEXT_MESSAGE_END", messageId },
  ];

  /** A run that has said b, c and d, and Bo, who holds the newest of them. */
  async function beginning(history: number) {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ agents: { planner: puppet } });
    const ana = await rooms.join("t");
    await ana.submit("go");
    const run = await puppet.next();
    run.start(...text("b"), ...text("c"), ...text("d"));
    await ana.entry(
      (e) => e.kind === "event" && e.event.messageId === "d" && e.event.type === "TEXT_MESSAGE_END",
    );
    await settled();
    const bo = await rooms.join("t", "Bo", { history });
    return { rooms, ana, run, bo, timeline: fromSnapshot(snapshotOf(bo)) };
  }

  /** What Bo shows after coming back, and whether it was by entries. */
  async function back(rooms: TestRooms, timeline: Timeline, more: Parameters<TestRooms["join"]>[2]) {
    const { catchUp, recovered } = (await rooms.join("t", "Bo", more)).reply;
    if (catchUp.kind === "snapshot") timeline = fromSnapshot(catchUp.snapshot);
    else for (const entry of catchUp.items) timeline.apply(entry);
    const { messages } = snapshotOf(await rooms.join("t", "Cy"));
    expect(timeline.list).toEqual(messages.slice(-timeline.list.length));
    return recovered;
  }

  test("what was dropped of it meanwhile is not counted in", async () => {
    const { rooms, run, bo, ana, timeline } = await beginning(2);
    const kept = [...run.input.messages, ...["b", "c"].map((id) => ({ id, role: "assistant", content: id }))];
    run.emit({ type: "MESSAGES_SNAPSHOT", messages: kept });
    await bo.entry((e) => e.kind === "messages");
    for (const entry of bo.entries) timeline.apply(entry);
    expect(timeline.list.map(({ id }) => id)).toEqual(["c"]);
    const cursor = cursorOf(await rooms.join("t", "Dan"));
    await bo.leave();
    run.emit(...text("b"));
    await ana.entry((e) => e.kind === "event" && e.seq > cursor.seq && e.event.type === "TEXT_MESSAGE_END");
    expect(await back(rooms, timeline, { cursor, oldest: "c", history: 2 })).toBe(false);
  });

  test("asking for a larger window does not make it one", async () => {
    const { rooms, run, bo, ana, timeline } = await beginning(1);
    await bo.leave();
    const call = { toolCallId: "k", toolCallName: "s", parentMessageId: "b" };
    run.emit(
      { type: "TOOL_CALL_START", ...call },
      { type: "TOOL_CALL_END", toolCallId: "k" },
      { type: "TOOL_CALL_RESULT", messageId: "res", toolCallId: "k", content: "found" },
    );
    await ana.entry((e) => e.kind === "event" && e.event.type === "TOOL_CALL_RESULT");
    const cursor = cursorOf(bo);
    expect(await back(rooms, timeline, { cursor, oldest: "d", history: 200 })).toBe(false);
  });

  test("entries are enough when they count on nothing older; not when the message it names is gone", async () => {
    const { rooms, run, bo, ana, timeline } = await beginning(2);
    const cursor = cursorOf(bo);
    run.emit(...text("e"));
    await ana.entry(
      (e) => e.kind === "event" && e.event.messageId === "e" && e.event.type === "TEXT_MESSAGE_END",
    );
    const copy = () => fromSnapshot(snapshotOf(bo));
    expect(await back(rooms, copy(), { cursor, oldest: "c", history: 2 })).toBe(true);
    expect(await back(rooms, copy(), { cursor, oldest: "x", history: 2 })).toBe(false);
    const kept = [...run.input.messages, ...["b", "d"].map((id) => ({ id, role: "assistant", content: id }))];
    run.emit({ type: "MESSAGES_SNAPSHOT", messages: kept });
    await ana.entry((e) => e.kind === "messages");
    expect(await back(rooms, timeline, { cursor, oldest: "c", history: 2 })).toBe(false);
  });
});

describe("[J2] replay, then live, nothing between and nothing twice", () => {
  test("whenever somebody joins, snapshot or entries and what follows make the log", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("note", "join", "back", "turn", "leave"), { maxLength: 40 }),
        async (steps) => {
          const rooms = new TestRooms({ idleMs: 0 });
          const ana = await rooms.join("t");
          const readers: { reader: TestReader; from: Timeline | null; after: number }[] = [];
          const joining: Promise<unknown>[] = [];
          let n = 0;
          for (const step of steps) {
            if (step === "turn") await turn();
            else if (step === "leave") rooms.clock.advance(1);
            else if (step === "note") {
              n += 1;
              void ana.submit("", {
                start: false,
                inputId: `i${n}`,
                messages: [{ id: `m${n}`, role: "user", content: `${n}` }],
              });
            } else {
              const known = readers.findLast(({ reader }) => reader.reply);
              const cursor = step === "back" && known ? cursorOf(known.reader) : undefined;
              joining.push(
                rooms
                  .join("t", `P${n}`, { cursor })
                  .then((reader) => readers.push({ reader, from: null, after: reader.reply.seq })),
              );
            }
          }
          await Promise.all(joining);
          await settled();
          await settled();
          const log = await rooms.store.read(KEY, 0, 1_000);
          for (const { reader } of readers) {
            const { catchUp, seq, recovered } = reader.reply;
            const after = catchUp.kind === "entries" ? catchUp.after : 0;
            const got = catchUp.kind === "entries" ? catchUp.items : log.slice(0, seq);
            const live = reader.entries.filter((entry) => entry.seq > seq);
            expect([...got, ...live].map((e) => e.seq)).toEqual(log.slice(after).map((e) => e.seq));
            expect(catchUp.kind === "entries").toBe(recovered);
            if (catchUp.kind === "snapshot")
              expect(catchUp.snapshot.messages).toHaveLength(
                log.slice(0, seq).filter((e) => e.kind === "message").length,
              );
          }
        },
      ),
      { numRuns: process.env.COTHREAD_SOAK ? 2_000 : 40 },
    );
  });
});

describe("[W1] people", () => {
  test("join, leave and typing are told at most ten times a second, everybody's changes in one", async () => {
    const rooms = new TestRooms();
    const ana = await rooms.join("t");
    rooms.clock.advance(100);
    const told = ana.people.length;
    const bo = await rooms.join("t", "Bo");
    for (let i = 0; i < 1_000; i += 1) {
      await rooms.rooms.presence({
        key: KEY,
        connection: bo.caller.connection,
        data: { typing: i % 2 === 0, i },
      });
      rooms.clock.advance(1);
    }
    rooms.clock.advance(100);
    const frames = ana.people.slice(told);
    expect(frames.length).toBeLessThanOrEqual(11);
    expect(frames[0]?.join).toMatchObject([{ client: "client-bo", user: { id: "guest:bo", name: "Bo" } }]);
    // The last word is never lost.
    expect(frames.at(-1)?.update).toMatchObject([{ client: "client-bo", data: { typing: false, i: 999 } }]);
    await bo.leave();
    rooms.clock.advance(100);
    expect(ana.people.at(-1)).toMatchObject({ leave: ["client-bo"], join: [], update: [] });
    expect(ana.people.map(({ n }) => n)).toEqual(ana.people.map((_, i) => i + 1));
  });

  test("of more than a hundred the first hundred are named, and how many there are", async () => {
    const rooms = new TestRooms();
    const ana = await rooms.join("t");
    for (let i = 0; i < 99; i += 1) await rooms.join("t", `P${i}`);
    rooms.clock.advance(200);
    expect(ana.people.at(-1)).not.toHaveProperty("count");
    const late = await rooms.join("t", "Late");
    expect(late.reply.people).toMatchObject({ count: 101 });
    expect(late.reply.people.all).toHaveLength(100);
    rooms.clock.advance(100);
    expect(ana.people.at(-1)).toMatchObject({ join: [], leave: [], count: 101 });
    await ana.leave();
    rooms.clock.advance(100);
    // Somebody has gone, and who stood behind is named.
    expect(late.people.at(-1)).toMatchObject({ leave: ["client-ana"], join: [{ client: "client-late" }] });
    expect(late.people.at(-1)).not.toHaveProperty("count");
  });

  test("two connections of one client, as while a socket is replaced, are one person", async () => {
    const rooms = new TestRooms();
    const ana = await rooms.join("t");
    const old = await rooms.join("t", "Bo");
    rooms.clock.advance(100);
    const before = ana.people.length;
    const fresh = await rooms.join("t", "Bo");
    rooms.clock.advance(100);
    await old.leave();
    rooms.clock.advance(100);
    const changes = ana.people.slice(before);
    expect(changes.flatMap(({ join, leave }) => [...join, ...leave])).toEqual([]);
    expect(
      (await rooms.join("t", "Cy")).reply.people.all.filter(({ user }) => user.name === "Bo"),
    ).toHaveLength(1);
    await fresh.leave();
    rooms.clock.advance(100);
    expect(ana.people.at(-1)?.leave).toEqual(["client-bo"]);
  });

  test("somebody who takes another's client id, which all can see, does not take their place", async () => {
    const rooms = new TestRooms();
    const ana = await rooms.join("t");
    await rooms.join("t", "Eve", { client: ana.caller.client });
    const { all } = (await rooms.join("t", "Cy")).reply.people;
    expect(all.map(({ user }) => user.name)).toEqual(["Ana", "Eve", "Cy"]);
    expect(new Set(all.map(({ client }) => client)).size).toBe(3);
    expect(all[0]?.client).toBe(ana.caller.client);
  });

  test("presence of somebody who is not here is nobody's", async () => {
    const rooms = new TestRooms();
    const ana = await rooms.join("t");
    await rooms.rooms.presence({ key: KEY, connection: "elsewhere", data: { typing: true } });
    await rooms.rooms.presence({ key: { ...KEY, thread: "nowhere" }, connection: "c1", data: {} });
    rooms.clock.advance(100);
    expect(ana.people.flatMap(({ update }) => update)).toEqual([]);
  });
});

describe("[I2] tenants", () => {
  test("equal thread ids of two tenants never meet, at an agent neither", async () => {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ agents: { planner: puppet } });
    const ana = await rooms.join("t");
    const caller = { ...ana.caller, tenant: "acme", connection: "other" };
    const key = { tenant: "acme", thread: "t" };
    const reply = await rooms.rooms.join({ key, caller, cursor: cursorOf(ana), create: true, history: 100 });
    expect(reply).toMatchObject({ recovered: false, seq: 0 });
    await ana.submit("mine", { runId: "r1" });
    const frame = {
      type: "submit",
      ref: 1,
      thread: "t",
      inputId: "i",
      runId: "r1",
      messages: [{ id: "m", role: "user", content: "theirs" }],
    } as const;
    await rooms.rooms.request({ key, caller, frame: { ...frame, messages: [...frame.messages] } });
    const [first, second] = [await puppet.next(), await puppet.next()];
    expect(first.input.threadId).toBe("t");
    expect(second.input).toMatchObject({ threadId: "acme/t", messages: [{ content: "theirs" }] });
    second.start().finish().end();
    await settled();
    await settled();
    expect(ana.entries.some((e) => e.kind === "event" && e.event.type === "RUN_FINISHED")).toBe(false);
    expect(await rooms.rooms.threads({ tenant: "acme", query: {} })).toMatchObject([
      { id: "t", title: "theirs" },
    ]);
  });
});

describe("turns", () => {
  test("[L3] what arrives in one turn of the event loop is one commit, of all rooms together", async () => {
    const moody = new MoodyStore();
    const rooms = new TestRooms({ store: moody.store });
    const readers = await Promise.all(["a", "b", "c"].map((thread) => rooms.join(thread)));
    const before = moody.commits;
    const acks = await Promise.all(
      readers.flatMap((reader) => [1, 2, 3, 4].map((i) => reader.submit(`${i}`, { start: false }))),
    );
    expect(moody.commits - before).toBe(1);
    expect(acks).toHaveLength(12);
    await settled();
    // [B2] and one broadcast for each room.
    expect(readers.map(({ entries }) => entries.length)).toEqual([5, 5, 5]);
  });

  test("one room whose commit fails does not fail the others", async () => {
    const inner = openMemory();
    const store: Store = {
      ...inner,
      commit: async (batches) =>
        Promise.all(
          batches.map(async (batch): Promise<CommitResult> => {
            const torn = batch.key.thread === "b" && batch.entries.length > 0;
            if (torn) return { ok: false, code: "failed", error: new Error("no room") };
            return (await inner.commit([batch]))[0] as CommitResult;
          }),
        ),
    };
    const rooms = new TestRooms({ store, clock: new FakeClock() });
    const readers = await Promise.all(["a", "b", "c"].map((thread) => rooms.join(thread)));
    const codes = await Promise.all(readers.map((reader) => codeOf(reader.submit("x", { start: false }))));
    expect(codes.map((code) => code.slice(0, 8))).toEqual(["accepted", "store_fa", "accepted"]);
  });

  test("closed rooms wait for nothing: no timer keeps the process alive", async () => {
    const clock = new FakeClock();
    const rooms = new TestRooms({ clock });
    const ana = await rooms.join("t");
    await ana.submit("hi", { start: false });
    await ana.leave();
    clock.advance(1_000);
    expect(clock.pending).toBe(1);
    await rooms.rooms.close();
    expect(clock.pending).toBe(0);
  });

  test("a thread named by its first message keeps that name; a person's name wins", async () => {
    const rooms = new TestRooms();
    const ana = await rooms.join("t");
    await ana.submit(`  ${"word ".repeat(30)}`, { start: false });
    const title = snapshotOf(await rooms.join("t", "Bo")).title;
    expect(title.length).toBeLessThanOrEqual(60);
    expect(title).toMatch(/^word word .*…$/);
    await ana.ask({ type: "update", key: "k", title: "Launch", archived: true });
    await ana.submit("another", { start: false });
    expect(snapshotOf(await rooms.join("t", "Cy"))).toMatchObject({ title: "Launch", archived: true });
    expect(await rooms.rooms.threads({ tenant: "default", query: { archived: false } })).toEqual([]);
  });
});
