import { expect, test } from "vitest";
import { Entry, type EntryOf } from "../shared/protocol/index.ts";
import { Timeline } from "../shared/timeline/index.ts";
import { FakeClock } from "./kit/fake-clock.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { TestRooms, type TestRoomsOptions } from "./kit/server.ts";

const KEY = { tenant: "default", thread: "t" };

function open(more: TestRoomsOptions = {}) {
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: puppet }, ...more });
  const log = () => rooms.store.read(KEY, 0, 1_000);
  return { puppet, rooms, log };
}

const said = (id: string) => [{ id, role: "user", content: id }];
const text = (messageId: string) => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta: messageId },
  { type: "TEXT_MESSAGE_END", messageId },
];

/** A thread in which two people and an agent have done a bit of everything. */
async function busyThread(more: TestRoomsOptions = {}) {
  const opened = open(more);
  const { puppet, rooms } = opened;
  const [ana, bo] = [await rooms.join("t"), await rooms.join("t", "Bo")];
  await ana.ask({ type: "submit", inputId: "i1", runId: "r1", messages: said("m1") });
  (await puppet.next()).start(...text("a1")).emit({ type: "TEXT_MESSAGE_START", messageId: "a2" });
  await ana.entry((e) => e.kind === "event" && e.event.type === "TEXT_MESSAGE_END");
  await ana.ask({ type: "submit", inputId: "i2", runId: "r2", messages: said("m2") });
  await ana.ask({ type: "submit", inputId: "i3", runId: "r3", messages: said("m3") });
  await bo.ask({ type: "submit", inputId: "n1", start: false, messages: said("m4") });
  await bo.ask({ type: "withdraw", key: "k1", inputId: "i2" });
  await bo.ask({ type: "update", key: "k2", title: "Launch" });
  await bo.ask({ type: "cancel", key: "k3", runId: "r1" });
  (await puppet.next())
    .start(...text("a3"))
    .finish()
    .end();
  await ana.terminal("r3");
  await ana.leave();
  await bo.leave();
  return opened;
}

test("[L1] a log grows at its end alone: dense from 1, in the shapes of the protocol, whatever happens", async () => {
  const { puppet, rooms, log } = await busyThread();
  const before = await log();
  expect(before.map(({ seq }) => seq)).toEqual(before.map((_, i) => i + 1));
  // What a schema does not know would be missing in what it gives back.
  for (const entry of before) expect(Entry.parse(entry)).toEqual(entry);
  expect(new Set(before.map(({ kind }) => kind))).toEqual(new Set(["thread", "input", "message", "event"]));

  const cy = await rooms.join("t", "Cy");
  await cy.ask({ type: "submit", inputId: "i4", runId: "r4", messages: said("m5") });
  (await puppet.next()).start({ type: "MESSAGES_SNAPSHOT", messages: [] }).finish().end();
  await cy.terminal("r4");
  const after = await log();
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.map(({ seq }) => seq)).toEqual(after.map((_, i) => i + 1));
  expect(after.length).toBeGreaterThan(before.length);
});

test("[L2] an entry says who wrote it: a person, the server, or, without a word, the agent of its run", async () => {
  const entries = await (await busyThread()).log();
  const [ana, bo] = ["Ana", "Bo"].map((name) => ({ kind: "user", id: `guest:${name.toLowerCase()}`, name }));
  const by = (test: (entry: Entry) => boolean) => {
    const found = entries.filter(test);
    expect(found.length).toBeGreaterThan(0);
    return found.map((entry) => entry.by);
  };
  const input = (inputId: string, status: string) => (e: Entry) =>
    e.kind === "input" && e.inputId === inputId && e.status === status;
  const message = (id: string) => (e: Entry) => e.kind === "message" && e.message.id === id;
  const title = (is: (title: string) => boolean) => (e: Entry) =>
    e.kind === "thread" && is(e.title as string);
  expect(by(input("i1", "running"))).toEqual([ana]);
  expect(by(input("i3", "queued"))).toEqual([ana]);
  // It starts long after, and still in the name of who submitted it.
  expect(by(input("i3", "running"))).toEqual([ana]);
  expect(by(message("m3"))).toEqual([ana]);
  expect(by(message("m4"))).toEqual([bo]);
  expect(by(input("i2", "withdrawn"))).toEqual([bo]);
  expect(by(input("i1", "done"))).toEqual([{ kind: "system" }]);
  expect(by(title((name) => name === "Launch"))).toEqual([bo]);
  expect(by(title((name) => name !== "Launch"))).toEqual([{ kind: "system" }]);
  const event = (run: string) => (e: Entry) => e.kind === "event" && e.run === run;
  expect(new Set(by(event("r3")))).toEqual(new Set([undefined]));
  // Who stopped the run wrote its end.
  const end = by((e) => event("r1")(e) && (e as EntryOf<"event">).event.type === "RUN_FINISHED");
  expect(end).toEqual([bo]);
  const start = entries.find((e) => event("r3")(e)) as EntryOf<"event">;
  expect(start.start).toMatchObject({ agent: "planner", by: ana, inputId: "i3" });
});

test("[L2] nothing is ordered by the time of an entry", async () => {
  const clock = new FakeClock();
  const entries = await (await busyThread({ clock })).log();
  const fold = (at: (i: number) => number) => {
    const timeline = new Timeline();
    for (const [i, entry] of entries.entries()) timeline.apply({ ...entry, at: at(i) });
    const turns = [...timeline.turns.all()].map(({ id, parent, place }) => ({ id, parent, place }));
    return { ids: timeline.list.map(({ id }) => id), turns, title: timeline.title };
  };
  const forwards = fold((i) => i);
  expect(forwards.ids).toEqual(["m1", "a1", "a2", "m4", "m3", "a3"]);
  expect(fold((i) => -i)).toEqual(forwards);
  expect(fold(() => 0)).toEqual(forwards);

  // A clock that is set back by a day between two messages.
  const { rooms } = open({ clock });
  const ana = await rooms.join("back");
  for (const id of ["late", "early"]) {
    await ana.ask({ type: "submit", inputId: id, start: false, messages: said(id) });
    clock.sleep(-86_400_000);
  }
  const { catchUp } = (await rooms.join("back", "Bo")).reply;
  expect(catchUp).toMatchObject({ snapshot: { messages: [{ id: "late" }, { id: "early" }] } });
});

test("[L7] an input is in the conversation from the commit on that makes it run; a note at once", async () => {
  const { puppet, rooms, log } = open();
  const ana = await rooms.join("t");
  await ana.ask({ type: "submit", inputId: "i1", runId: "r1", messages: said("m1") });
  const secret = { secret: "for the agent alone" };
  const tools = [{ name: "secret", description: "secret", parameters: {} }];
  const context = [{ description: "secret", value: "secret" }];
  const more = { tools, context, forwardedProps: secret };
  await ana.ask({ type: "submit", inputId: "i2", runId: "r2", messages: said("m2"), ...more });
  await ana.ask({ type: "submit", inputId: "n1", start: false, messages: said("m3") });
  const waiting = await log();
  const messagesOf = (entries: Entry[], turn: string) =>
    entries.filter((e): e is EntryOf<"message"> => e.kind === "message" && e.turn === turn);
  const inputsOf = (entries: Entry[], inputId: string) =>
    entries.filter((e): e is EntryOf<"input"> => e.kind === "input" && e.inputId === inputId);
  expect(inputsOf(waiting, "i2")).toMatchObject([{ status: "queued", messages: [{ id: "m2" }] }]);
  expect(messagesOf(waiting, "i2")).toEqual([]);
  expect(inputsOf(waiting, "n1")).toEqual([]);
  expect(messagesOf(waiting, "n1")).toMatchObject([{ message: { id: "m3" } }]);

  (await puppet.next()).start().finish().end();
  const second = await puppet.next();
  expect(second.input).toMatchObject({ tools, context, forwardedProps: secret });
  second.start().finish().end();
  await ana.terminal("r2");
  const entries = await log();
  for (const [inputId, statuses] of [
    ["i1", ["running", "done"]],
    ["i2", ["queued", "running", "done"]],
  ] as const) {
    const steps = inputsOf(entries, inputId);
    expect(steps.map(({ status }) => status)).toEqual(statuses);
    // On the first entry and on no other one.
    expect(steps.map((step) => "messages" in step)).toEqual(statuses.map((_, i) => i === 0));
    const running = steps.find(({ status }) => status === "running")!;
    const messages = messagesOf(entries, inputId);
    expect(messages).toHaveLength(1);
    const marks = [running, ...messages].map(({ seq }) => rooms.store.mark(KEY, seq));
    expect(new Set(await Promise.all(marks)).size).toBe(1);
  }
  expect(JSON.stringify(entries)).not.toContain("secret");
  const { catchUp } = (await rooms.join("t", "Bo")).reply;
  expect(catchUp).toMatchObject({ snapshot: { messages: [{ id: "m1" }, { id: "m3" }, { id: "m2" }] } });
});
