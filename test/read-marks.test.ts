import { expect, test } from "vitest";
import { openMemory } from "../server/store/memory.ts";
import { MoodyStore } from "./kit/moody-store.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { codeOf, type TestReader, TestRooms } from "./kit/server.ts";

const text = (messageId: string, delta: string) => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
  { type: "TEXT_MESSAGE_END", messageId },
];

/** What somebody has not read of the thread. */
async function unread(rooms: TestRooms, { caller, key }: TestReader): Promise<number> {
  const found = await rooms.rooms.unread({ tenant: key.tenant, user: caller.user.id, ids: [key.thread] });
  return new Map(found).get(key.thread) ?? 0;
}

const lastSeq = async (rooms: TestRooms, { key }: TestReader) => (await rooms.store.load(key))?.seq ?? 0;

test("[W4] what others write behind the mark is unread, what one writes oneself is not", async () => {
  const rooms = new TestRooms();
  const ana = await rooms.join("t", "Ana");
  const ben = await rooms.join("t", "Ben");
  await ana.submit("before anybody has read", { start: false });
  expect(await unread(rooms, ben)).toBe(0);
  expect(await ben.ask({ type: "read", seq: 0 })).toEqual({});
  expect(await unread(rooms, ben)).toBe(1);
  await ben.ask({ type: "read", seq: await lastSeq(rooms, ben) });
  expect(await unread(rooms, ben)).toBe(0);
  await ana.submit("one", { start: false });
  await ben.submit("mine", { start: false });
  await ana.submit("two", { start: false });
  expect(await unread(rooms, ben)).toBe(2);
  expect(await unread(rooms, ana)).toBe(0);
  await ben.ask({ type: "read", seq: 1_000_000 });
  expect(await unread(rooms, ben)).toBe(0);
  await ana.submit("three", { start: false });
  expect(await unread(rooms, ben)).toBe(1);
});

test("[W4] a mark only moves forward", async () => {
  const moody = new MoodyStore();
  const rooms = new TestRooms({ store: moody.store });
  const ana = await rooms.join("t", "Ana");
  const ben = await rooms.join("t", "Ben");
  for (const said of ["one", "two", "three"]) await ana.submit(said, { start: false });
  // The title of the thread is the first entry.
  await ben.ask({ type: "read", seq: 3 });
  expect(await unread(rooms, ben)).toBe(1);
  const { commits } = moody;
  for (const seq of [3, 2, 0, -5]) await ben.ask({ type: "read", seq });
  expect(await unread(rooms, ben)).toBe(1);
  expect(moody.commits).toBe(commits);
});

test("[W4] of an agent what it says counts, and no tool result, thought or activity", async () => {
  const agent = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: agent } });
  const ana = await rooms.join("t", "Ana");
  const ben = await rooms.join("t", "Ben");
  await ben.ask({ type: "read", seq: 0 });
  await ana.submit("plan it");
  const run = await agent.next();
  run
    .start(
      { type: "REASONING_START", messageId: "think" },
      { type: "REASONING_MESSAGE_START", messageId: "think", role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: "think", delta: "hm" },
      { type: "REASONING_MESSAGE_END", messageId: "think" },
      { type: "REASONING_END", messageId: "think" },
      { type: "ACTIVITY_SNAPSHOT", messageId: "act", activityType: "plan", content: { steps: [] } },
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "look", parentMessageId: "calls" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      { type: "TOOL_CALL_RESULT", messageId: "result", toolCallId: "c", content: "found" },
      ...text("a1", "Here"),
    )
    .finish()
    .end();
  await ana.terminal();
  expect(await unread(rooms, ben)).toBe(2);
  expect(await unread(rooms, ana)).toBe(0);
  await ana.ask({ type: "read", seq: 0 });
  expect(await unread(rooms, ana)).toBe(1);
});

test("[W4] an answer that goes on behind the mark is unread when it is done, after a restart too", async () => {
  const agent = new PuppetAgent();
  const store = openMemory();
  const rooms = new TestRooms({ agents: { planner: agent }, store });
  const ana = await rooms.join("t", "Ana");
  await ana.submit("tell me a story");
  const run = await agent.next();
  const [start, content, end] = text("a1", "Once ");
  run.start(start as object, content as object);
  await ana.entry((entry) => entry.kind === "event" && entry.event.type === "TEXT_MESSAGE_CONTENT");
  await ana.ask({ type: "read", seq: await lastSeq(rooms, ana) });
  expect(await unread(rooms, ana)).toBe(0);
  run
    .emit({ ...content, delta: "upon a time" }, end as object)
    .finish()
    .end();
  await ana.terminal();
  expect(await unread(rooms, ana)).toBe(1);
  await rooms.rooms.close();
  const again = new TestRooms({ agents: { planner: agent }, store });
  const later = await again.join("t", "Ana");
  await (await again.join("t", "Ben", { client: "other" })).submit("", {
    start: false,
    inputId: "note",
    messages: [{ id: "note", role: "user", content: "and then?" }],
  });
  expect(await unread(again, later)).toBe(2);
  await later.ask({ type: "read", seq: await lastSeq(again, later) });
  expect(await unread(again, later)).toBe(0);
});

test("[W4] messages that an agent takes out again are neither read nor unread", async () => {
  const agent = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: agent } });
  const ana = await rooms.join("t", "Ana");
  const ben = await rooms.join("t", "Ben");
  await ana.submit("plan it");
  const first = await agent.next();
  first
    .start(...text("a1", "one"), ...text("a2", "two"))
    .finish()
    .end();
  await ana.terminal();
  await ben.ask({ type: "read", seq: await lastSeq(rooms, ben) });
  await ana.submit("shorter");
  const second = await agent.next();
  const kept = second.input.messages.filter(({ id }) => id !== "a1" && id !== "a2");
  const put = { id: "a3", role: "assistant", content: "short" };
  second
    .start({ type: "MESSAGES_SNAPSHOT", messages: [...kept, put] })
    .finish()
    .end();
  await ana.terminal(second.input.runId);
  expect(await unread(rooms, ben)).toBe(2);
});

test("[W4] a mark outlives the room and a commit that failed", async () => {
  const store = openMemory();
  const before = new TestRooms({ store });
  const ana = await before.join("t", "Ana");
  await ana.submit("one", { start: false });
  await ana.ask({ type: "read", seq: 0 });
  await before.rooms.close();
  const after = new TestRooms({ store });
  const ben = await after.join("t", "Ben");
  await ben.submit("two", {
    start: false,
    inputId: "second",
    messages: [{ id: "m2", role: "user", content: "two" }],
  });
  const again = await after.join("t", "Ana");
  expect(await unread(after, again)).toBe(1);

  const failing = new MoodyStore();
  const rooms = new TestRooms({ store: failing.store });
  const cy = await rooms.join("t", "Cy");
  const di = await rooms.join("t", "Di");
  await di.submit("one", { start: false });
  await cy.ask({ type: "read", seq: 0 });
  failing.moods = ["failed"];
  expect(await codeOf(cy.ask({ type: "read", seq: 2 }))).toBe("store_failed");
  expect(await unread(rooms, cy)).toBe(1);
  expect(await cy.ask({ type: "read", seq: 2 })).toEqual({});
  expect(await unread(rooms, cy)).toBe(0);
});

test("[W4] who may only read has a mark too", async () => {
  const rooms = new TestRooms();
  const ana = await rooms.join("t", "Ana");
  await ana.submit("one", { start: false });
  const reader = await rooms.join("t", "Ben");
  reader.caller.role = "viewer";
  expect(await reader.ask({ type: "read", seq: 0 })).toEqual({});
  expect(await unread(rooms, reader)).toBe(1);
});
