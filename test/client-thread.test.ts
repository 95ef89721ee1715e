import { expect, test } from "vitest";
import type { CothreadError, Cursor } from "../client/index.ts";
import { JOIN_ATTEMPTS, JOIN_MS } from "../client/thread-sync.ts";
import type { AGUIEvent, Message } from "../shared/protocol/index.ts";
import { takeEarlier } from "../shared/timeline/snapshot.ts";
import { scene, seeded } from "./kit/scripted-client.ts";
import { ANN, type ScriptedThread } from "./kit/scripted-server.ts";

const texts = (messages: readonly Message[]) => messages.map(({ content }) => content);

const begin = (thread: ScriptedThread, run = "r1") =>
  thread.event(run, { type: "RUN_STARTED", threadId: thread.id, runId: run });
const say = (thread: ScriptedThread, id: string, deltas: string[], run = "r1") => {
  thread.event(run, { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" });
  for (const delta of deltas) thread.event(run, { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta });
};

test("a thread is joined on first use and shows what the server has", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  log.message("m1", "hello");
  log.commit(
    { kind: "thread", title: "Launch" },
    { kind: "state", run: null, patch: [{ op: "add", path: "/n", value: 1 }], via: "patch" },
  );
  log.people = [{ client: "x", user: { id: "u", name: "Bo" } }];
  const thread = client.thread("a");
  expect(thread.status).toBe("loading");
  expect(thread.messages).toEqual([]);
  await settle();
  await thread.ready;
  expect(thread.snapshot).toMatchObject({
    id: "a",
    status: "live",
    title: "Launch",
    state: { n: 1 },
    people: [{ client: "x" }],
    role: "owner",
    before: 0,
    cursor: log.cursor,
  });
  expect(texts(thread.messages)).toEqual(["hello"]);
  expect(server.last.got[1]).toMatchObject({ type: "join", thread: "a", create: true, history: 200 });
});

test("what arrives live is folded as the server folds it", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  const thread = client.thread("a");
  await settle();
  log.message("m1", "plan it");
  begin(log);
  say(log, "m2", ["On ", "it."]);
  log.event("r1", { type: "STATE_SNAPSHOT", snapshot: { steps: [] } });
  await settle();
  expect(thread.messages).toEqual(log.timeline.list);
  expect(thread.runs).toMatchObject([{ runId: "r1", agent: "planner", by: ANN }]);
  expect(thread.runs[0]?.open).toMatchObject([{ type: "TEXT_MESSAGE_START" }]);
  expect(thread.about("m2")).toMatchObject({ agent: "planner", runId: "r1", by: ANN, streaming: true });
  expect(thread.about("m1")).toEqual({
    by: ANN,
    at: expect.any(Number),
    turn: "turn-m1",
    streaming: false,
  });
  log.event("r1", { type: "TEXT_MESSAGE_END", messageId: "m2" });
  log.event("r1", { type: "RUN_FINISHED", threadId: "a", runId: "r1" });
  await settle();
  expect(thread.about("m2")).toMatchObject({ streaming: false, end: { outcome: "success" } });
  expect(thread.runs).toEqual([]);
  expect(thread.state).toEqual({ steps: [] });
});

test("runs without a message are among the turns, with how they ended, for whoever comes later too", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  const thread = client.thread("a");
  await settle();
  const failed = { outcome: "error", code: "AGENT_UNREACHABLE", message: "It refused." };
  log.message("m1", "plan it");
  begin(log);
  log.event("r1", { type: "RUN_ERROR", code: failed.code, message: failed.message });
  begin(log, "r2");
  const outcome = { type: "cancelled" };
  const event = { type: "RUN_FINISHED", threadId: "a", runId: "r2", outcome } as unknown as AGUIEvent;
  log.commit({ kind: "event", run: "r2", by: ANN, event });
  await settle();
  const turns = [
    { id: "turn-m1", by: ANN },
    { id: "r1", by: ANN, agent: "planner", end: failed },
    { id: "r2", by: ANN, agent: "planner", end: { outcome: "cancelled", by: ANN } },
  ];
  expect(thread.turns).toMatchObject(turns);
  const kept = thread.turns;
  say(log, "m2", ["never mind"], "r2");
  await settle();
  expect(thread.turns).toBe(kept);

  const late = scene({ random: seeded(9) }, server);
  const other = late.client.thread("a");
  await late.settle();
  expect(other.turns).toMatchObject(turns);
});

test("[T3] what did not change keeps its identity, and nothing is told when nothing happened", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  log.message("m1", "one");
  const thread = client.thread("a");
  await settle();
  const before = thread.snapshot;
  expect(thread.snapshot).toBe(before);
  begin(log);
  say(log, "m2", ["x"]);
  await settle();
  const during = thread.snapshot;
  expect(during.messages[0]).toBe(before.messages[0]);
  expect(during.state).toBe(before.state);
  expect(during.inputs).toBe(before.inputs);
  const ids = thread.messageIds;
  const view = thread.view("m1");
  log.event("r1", { type: "TEXT_MESSAGE_CONTENT", messageId: "m2", delta: "y" });
  await settle();
  expect(thread.messages).not.toBe(during.messages);
  expect(thread.messageIds).toBe(ids);
  expect(thread.view("m1")).toBe(view);
  expect(thread.runs).toBe(during.runs);
  const { messages } = thread;
  log.event("r1", { type: "STATE_SNAPSHOT", snapshot: 1 });
  log.event("r1", { type: "TEXT_MESSAGE_END", messageId: "m2" });
  log.event("r1", { type: "RUN_FINISHED", threadId: "a", runId: "r1" });
  await settle();
  expect(thread.messages).toBe(messages);
});

test("listeners are called once for each frame; events come each once and in order", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  begin(log);
  const thread = client.thread("a");
  await settle();
  let changes = 0;
  const events: AGUIEvent[] = [];
  const seqs: number[] = [];
  const complete: unknown[] = [];
  thread.subscribe(() => {
    changes += 1;
  });
  const off = thread.on("event", (event) => events.push(event));
  thread.on("entries", (items) => seqs.push(...items.map(({ seq }) => seq)));
  thread.on("message", ({ content }, about) => complete.push([content, about?.by.kind]));
  log.commit(
    ...(["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"] as const).map((type) => ({
      kind: "event" as const,
      run: "r1",
      event: { type, messageId: "m2", delta: "hi" } as unknown as AGUIEvent,
    })),
  );
  await settle();
  expect(changes).toBe(1);
  expect(events.map(({ type }) => type)).toEqual([
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
  ]);
  log.message("m3", "and I");
  await settle();
  expect(changes).toBe(2);
  expect(seqs).toEqual([2, 3, 4, 5]);
  expect(complete).toEqual([
    ["hi", "user"],
    ["and I", "user"],
  ]);
  off();
  log.event("r1", { type: "CUSTOM", name: "x", value: 1 });
  await settle();
  expect(events).toHaveLength(3);
});

test("events of a snapshot are not told again after a reconnect", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  const thread = client.thread("a");
  await settle();
  const events: string[] = [];
  let snapshots = 0;
  thread.on("event", ({ type }) => events.push(type));
  thread.on("snapshot", () => {
    snapshots += 1;
  });
  begin(log);
  await settle();
  server.last.pair.cut();
  log.event("r1", { type: "CUSTOM", name: "missed", value: 1 });
  await pass(60_000);
  expect(events).toEqual(["RUN_STARTED", "CUSTOM"]);
  expect(snapshots).toBe(0);
});

test("[J1] with a good cursor only what was missed is fetched", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  log.message("m1", "one");
  const thread = client.thread("a");
  await settle();
  const { cursor, messages } = thread;
  server.last.pair.cut();
  expect(thread.status).toBe("offline");
  expect(thread.messages).toBe(messages);
  log.message("m2", "two");
  await pass(60_000);
  expect(server.last.got[1]).toMatchObject({ type: "join", cursor });
  expect(thread.status).toBe("live");
  expect(texts(thread.messages)).toEqual(["one", "two"]);
  expect(thread.messages[0]).toBe(messages[0]);
});

test("recovery works when no event was seen yet, on an old connection, and again and again", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  const thread = client.thread("a");
  await settle();
  expect(thread.cursor).toMatchObject({ seq: 0, mark: "" });
  for (const id of ["m1", "m2", "m3"]) {
    await pass(120_000);
    server.last.pair.cut();
    log.message(id, id);
    await pass(60_000);
    expect(thread.status).toBe("live");
    expect(thread.messages).toEqual(log.timeline.list);
  }
  expect(server.connections.flatMap(({ got }) => got).filter(({ type }) => type === "join")).toHaveLength(4);
});

test("[C4] a frame that does not begin where the last one ended makes it join again", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  log.message("m1", "one");
  const thread = client.thread("a");
  await settle();
  const { cursor } = thread;
  log.write({ kind: "message", turn: "t2", by: ANN, message: { id: "m2", role: "user", content: "two" } });
  log.message("m3", "three");
  await settle();
  expect(server.connections).toHaveLength(1);
  expect(server.last.got.filter(({ type }) => type === "join")[1]).toMatchObject({ cursor });
  expect(texts(thread.messages)).toEqual(["one", "two", "three"]);
  expect(thread.status).toBe("live");
});

test("a frame that comes twice is not applied twice", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  begin(log);
  const thread = client.thread("a");
  await settle();
  const written = log.write(
    {
      kind: "event",
      run: "r1",
      event: { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" } as never,
    },
    {
      kind: "event",
      run: "r1",
      event: { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hello" } as never,
    },
  );
  log.tell(written);
  log.tell(written);
  await settle();
  expect(texts(thread.messages)).toEqual(["Hello"]);
  expect(thread.status).toBe("live");
});

test("frames between a new join and its answer belong to the old one and are ignored", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  const thread = client.thread("a");
  await settle();
  // A gap makes it join again; before that is answered, frames of the old join arrive.
  log.write({ kind: "thread", title: "missed" });
  log.commit({ kind: "thread", title: "gap" });
  const { pair } = server.last;
  pair.flushDown();
  log.message("m1", "old join");
  server.last.send({ ...log.snapshot(), title: "old join" });
  server.last.send({ type: "people", thread: "a", all: [{ client: "old", user: { id: "o", name: "O" } }] });
  pair.flushDown();
  expect(thread.status).toBe("loading");
  expect(thread.title).toBe("");
  expect(thread.people).toEqual([]);
  await settle();
  expect(thread.title).toBe("gap");
  expect(texts(thread.messages)).toEqual(["old join"]);
  expect(thread.status).toBe("live");
});

test("the answer to an older join is not taken for that of the present one", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  const refs: unknown[] = [];
  server.intercept = (frame) => frame.type === "join" && refs.push(frame.ref) > 0;
  const thread = client.thread("a");
  await settle();
  thread.release();
  await pass(2_000);
  thread.hold();
  await settle();
  expect(refs).toHaveLength(2);
  const joined = { type: "joined", thread: "a", channel: 1, generation: 0, recovered: false, role: "owner" };
  log.message("m1", "one");
  for (const [ref, title] of [
    [refs[0], "older"],
    [refs[1], "present"],
  ] as const) {
    server.last.send({ ...joined, ...log.cursor, ref });
    server.last.send({ ...log.snapshot(), title });
    await settle();
    expect(thread.title).toBe(title === "older" ? "" : title);
  }
  expect(thread.status).toBe("live");
});

test("[J5] a snapshot may come at any time and replaces everything", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  log.message("m1", "one");
  const thread = client.thread("a");
  await settle();
  log.write({ kind: "head", turn: null, why: "rollback" });
  log.write({ kind: "thread", title: "rolled back" });
  server.last.send(log.snapshot());
  await settle();
  expect(thread.messages).toEqual([]);
  expect(thread.title).toBe("rolled back");
  log.message("m2", "two");
  await settle();
  expect(texts(thread.messages)).toEqual(["two"]);
});

test("[C2] a log that was lost is shown as it is now", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  log.message("m1", "before");
  const thread = client.thread("a");
  await settle();
  server.last.pair.cut();
  log.lose("e2");
  log.message("m9", "after");
  await pass(60_000);
  expect(texts(thread.messages)).toEqual(["after"]);
  expect(thread.cursor?.epoch).toBe("e2");
});

test("[J6] a thread that must exist and does not fails with the reason", async () => {
  const { client, server, settle, pass } = scene();
  const thread = client.thread("a", { create: false });
  const errors: CothreadError[] = [];
  thread.on("error", (error) => errors.push(error));
  await settle();
  expect(thread.status).toBe("failed");
  expect(thread.error).toMatchObject({ code: "not_found", message: "There is no such thread." });
  await expect(thread.ready).rejects.toMatchObject({ code: "not_found" });
  expect(errors).toHaveLength(1);
  await pass(300_000);
  expect(server.last.got.filter(({ type }) => type === "join")).toHaveLength(1);
  server.thread("a").message("m1", "now it is there");
  thread.retry();
  expect(thread.status).toBe("loading");
  await settle();
  await thread.ready;
  expect(texts(thread.messages)).toEqual(["now it is there"]);
});

test("a join refused for now is tried again, and not for ever", async () => {
  const { client, server, settle, pass } = scene();
  let refusals = 3;
  server.intercept = (frame, connection) => {
    if (frame.type !== "join" || refusals-- <= 0) return;
    connection.send({ type: "reject", ref: frame.ref, code: "rate", message: "Slow down.", retry: true });
    return true;
  };
  const thread = client.thread("a");
  await settle();
  expect(thread.snapshot).toMatchObject({ status: "loading", error: { code: "rate" } });
  await pass(60_000);
  expect(thread.status).toBe("live");
  expect(thread.error).toBeUndefined();

  refusals = Number.POSITIVE_INFINITY;
  const other = client.thread("b");
  await pass(300_000);
  expect(other.snapshot).toMatchObject({ status: "failed", error: { code: "rate" } });
  const joins = server.last.got.filter((frame) => frame.type === "join" && frame.thread === "b");
  expect(joins).toHaveLength(JOIN_ATTEMPTS + 1);
  await expect(other.ready).rejects.toMatchObject({ code: "rate" });
});

test("a join that is never answered ends in an error, not in endless loading", async () => {
  const { client, server, settle, pass } = scene();
  server.intercept = (frame) => frame.type === "join";
  const thread = client.thread("a");
  await settle();
  await pass(JOIN_MS);
  expect(thread.snapshot).toMatchObject({ status: "loading", error: { code: "timeout" } });
  await pass(JOIN_MS * (JOIN_ATTEMPTS + 2));
  expect(thread.status).toBe("failed");
  expect(client.status).toBe("live");
});

test("what a slow line holds up is asked for once: the snapshot, and what waits behind it", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  log.message("m1", "hello");
  const held: (() => void)[] = [];
  server.intercept = (frame, connection) => {
    if (frame.type === "hello" || !("ref" in frame)) return false;
    const { ref } = frame;
    if (frame.type !== "join") held.push(() => connection.send({ type: "ack", ref }));
    else {
      const place = { thread: frame.thread, channel: 1, generation: 0, role: "owner", ...log.cursor };
      const joined = () => connection.send({ type: "joined", ref, recovered: false, ...place });
      if (frame.thread === "a") joined();
      else held.push(joined);
      held.push(() => connection.send({ ...log.snapshot(), thread: frame.thread }));
    }
    if (frame.type === "watch")
      held.push(() => connection.send({ type: "threads", watch: frame.watch, items: [], removed: [] }));
    return true;
  };
  const followed = [client.thread("a"), client.thread("b"), client.threads()];
  await settle();
  await pass(3 * JOIN_MS);
  expect(followed.map(({ status, error }) => [status, error])).toEqual(
    followed.map(() => ["loading", undefined]),
  );
  server.intercept = null;
  for (const send of held) send();
  await settle();
  await pass(0.9 * JOIN_MS);
  expect(followed.map(({ status }) => status)).toEqual(followed.map(() => "live"));
  const asked = server.last.got.map(({ type }) => type);
  expect(asked.filter((type) => type !== "ping")).toEqual(["hello", "join", "join", "watch"]);
  expect(server.connections).toHaveLength(1);
});

test("a server that answers and never sends the snapshot ends in an error, not in endless loading", async () => {
  const { client, server, settle, pass } = scene();
  server.intercept = (frame, connection) => {
    if (frame.type !== "join") return false;
    const place = { thread: "a", channel: 1, generation: 0, role: "owner", epoch: "e", seq: 1, mark: "m" };
    connection.send({ type: "joined", ref: frame.ref, recovered: false, ...place });
    return true;
  };
  const thread = client.thread("a");
  await settle();
  await pass(JOIN_MS);
  expect(thread.snapshot).toMatchObject({ status: "loading", error: { code: "timeout" } });
  await pass(JOIN_MS * (JOIN_ATTEMPTS + 2));
  expect(thread.status).toBe("failed");
  expect(client.status).toBe("live");
});

test("what cannot be read shows as an error after bounded attempts, and other threads go on", async () => {
  const { client, server, settle, pass } = scene();
  server.intercept = (frame, connection) => {
    if (frame.type !== "join" || frame.thread !== "bad") return;
    const place = { thread: "bad", epoch: "e", seq: 1, mark: "m" };
    connection.send({
      type: "joined",
      ref: frame.ref,
      ...place,
      channel: 1,
      generation: 0,
      recovered: false,
      role: "editor",
    });
    connection.send({ type: "snapshot", ...place, messages: null });
    return true;
  };
  const bad = client.thread("bad");
  const good = client.thread("good");
  await settle();
  server.thread("good").message("m1", "fine");
  await pass(300_000);
  expect(bad.snapshot).toMatchObject({ status: "failed", error: { code: "bad_frame" } });
  expect(server.connections).toHaveLength(1);
  expect(good.status).toBe("live");
  expect(texts(good.messages)).toEqual(["fine"]);
});

test("a server that leaves gaps without end is given up", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  log.message("m1", "one");
  server.intercept = (frame, connection) => {
    if (frame.type !== "join") return;
    const { thread, ref } = frame;
    const joined = { type: "joined", ref, channel: 1, generation: 0, recovered: false, role: "editor" };
    connection.send({ ...joined, thread, ...log.cursor });
    connection.send(log.snapshot());
    connection.send({ type: "entries", thread, after: 7, seq: 8, mark: "m", items: [] });
    return true;
  };
  const thread = client.thread("a");
  await settle();
  await pass(300_000);
  expect(thread.status).toBe("failed");
  expect(server.last.got.filter(({ type }) => type === "join")).toHaveLength(JOIN_ATTEMPTS + 1);
});

test("a server whose recovery leaves gaps is asked for a snapshot after a few attempts", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  const thread = client.thread("a");
  await settle();
  log.message("m1", "one");
  await settle();
  const cursors: unknown[] = [];
  let broken = true;
  server.intercept = (frame, connection) => {
    if (frame.type !== "join") return;
    cursors.push(frame.cursor);
    if (!frame.cursor && !broken) return;
    const { ref } = frame;
    const joined = { type: "joined", thread: "a", channel: 1, generation: 0, recovered: true, role: "owner" };
    connection.send({ ...joined, ...log.cursor, ref });
    // Empty, and then something that is not the next: that is no progress.
    const { seq, mark } = (frame.cursor ?? log.cursor) as Cursor;
    connection.send({ type: "entries", thread: "a", after: seq, seq, mark, items: [] });
    connection.send({ type: "entries", thread: "a", after: seq + 5, seq: seq + 6, mark: "m", items: [] });
    return true;
  };
  log.write({ kind: "thread", title: "missed" });
  log.commit({ kind: "thread", title: "there" });
  broken = false;
  await settle();
  await pass(60_000);
  expect(thread.status).toBe("live");
  expect(thread.title).toBe("there");
  expect(cursors.map((cursor) => cursor !== undefined)).toEqual([true, true, false]);

  // One that never gets it right is given up.
  broken = true;
  cursors.length = 0;
  log.write({ kind: "thread", title: "missed" });
  log.commit({ kind: "thread", title: "never" });
  await settle();
  await pass(300_000);
  expect(thread.status).toBe("failed");
  expect(cursors.length).toBeLessThanOrEqual(JOIN_ATTEMPTS);
});

test("the last release leaves the thread, a little later; who comes back meanwhile never left", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  const thread = client.thread("a");
  expect(client.thread("a")).toBe(thread);
  await settle();
  thread.release();
  await pass(10_000);
  expect(thread.status).toBe("live");
  thread.release();
  thread.hold();
  await pass(10_000);
  expect(server.last.got.filter(({ type }) => type === "leave")).toEqual([]);
  thread.release();
  await pass(1_999);
  expect(thread.status).toBe("live");
  await pass(1);
  expect(thread.status).toBe("idle");
  expect(server.last.got.at(-1)).toMatchObject({ type: "leave", thread: "a" });
  log.message("m1", "nobody here");
  server.last.send({ type: "people", thread: "a", all: [{ client: "x", user: { id: "x", name: "X" } }] });
  await settle();
  expect(thread.messages).toEqual([]);
  expect(thread.people).toEqual([]);
  // Back again: with the cursor it left with.
  const release = thread.hold();
  await settle();
  expect(server.last.got.at(-1)).toMatchObject({ type: "join", cursor: { seq: 0 } });
  expect(texts(thread.messages)).toEqual(["nobody here"]);
  release();
  release();
  expect(thread.status).toBe("live");
});

test("a thread that was left before it was ready has a new promise when it is held again", async () => {
  const { client, server, settle, pass } = scene();
  server.up = false;
  const thread = client.thread("a");
  const first = thread.ready;
  await settle();
  thread.release();
  await pass(2_000);
  await expect(first).rejects.toMatchObject({ code: "closed" });
  thread.hold();
  const second = thread.ready;
  expect(second).not.toBe(first);
  server.up = true;
  await pass(60_000);
  await second;
  expect(thread.status).toBe("live");
});

test("fast switching between threads mixes nothing", async () => {
  const { client, server, settle, pass, clock } = scene();
  const ids = ["a", "b", "c"];
  for (const id of ids) server.thread(id).message(`${id}1`, id);
  client.connect();
  await settle();
  const release: (() => void)[] = [];
  for (let i = 0; i < 30; i += 1) {
    const id = ids[i % 3]!;
    const thread = client.peek(id);
    release.push(thread.hold());
    server.last.pair.flushUp(i % 2);
    server.thread(id).message(`${id}-${i}`, id);
    server.last.pair.flushDown(i % 4);
    for (const message of thread.messages) expect(message.content).toBe(id);
    if (i % 2 === 0) clock.advance(2_500);
    release.shift()?.();
  }
  await pass(0);
  for (const id of ids) {
    const thread = client.thread(id);
    await settle();
    expect(thread.messages).toEqual(server.thread(id).timeline.list);
  }
});

test("[J4] earlier messages are put before those that are here, once", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  for (let i = 0; i < 10; i += 1) log.message(`m${i}`, `${i}`);
  const thread = client.thread("a", { history: 3 });
  await settle();
  expect(texts(thread.messages)).toEqual(["7", "8", "9"]);
  expect(thread.before).toBe(7);
  const [first, second] = [thread.earlier(4), thread.earlier(4)];
  log.message("m10", "10");
  await settle();
  expect(await first).toBe(4);
  expect(await second).toBe(4);
  expect(texts(thread.messages)).toEqual(["3", "4", "5", "6", "7", "8", "9", "10"]);
  expect(thread.about("m3")).toMatchObject({ by: ANN });
  const rest = thread.earlier();
  await settle();
  expect(await rest).toBe(3);
  expect(thread.before).toBe(0);
  expect(thread.messages).toEqual(log.timeline.list);
  expect(await thread.earlier()).toBe(0);
});

test("a page that was overtaken by a snapshot is not put in; without a connection it rejects", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  for (let i = 0; i < 10; i += 1) log.message(`m${i}`, `${i}`);
  const thread = client.thread("a", { history: 3 });
  await settle();
  const page = thread.earlier(4);
  server.last.send(log.snapshot(5));
  await settle();
  expect(await page).toBe(0);
  expect(texts(thread.messages)).toEqual(["5", "6", "7", "8", "9"]);
  server.last.pair.cut();
  await expect(thread.earlier(2)).rejects.toMatchObject({ code: "offline", retry: true });
});

test("a page older than what has passed already is asked for again", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  for (let i = 0; i < 6; i += 1) log.message(`m${i}`, `${i}`);
  const thread = client.thread("a", { history: 2 });
  await settle();
  let asked = 0;
  server.intercept = (frame, connection) => {
    if (frame.type !== "earlier" || ++asked > 1) return;
    // The page is read, and before it is sent an entry changes one of its messages.
    const page = takeEarlier(log.timeline, frame.before, frame.limit);
    const { seq } = log.head;
    const message = { id: "m3", role: "user" as const, content: "rewritten" };
    log.commit({ kind: "messages", run: "r", put: [{ message, after: "m2" }], drop: [] });
    connection.send({ type: "ack", ref: frame.ref, ...page, seq });
    return true;
  };
  const page = thread.earlier(4);
  await settle();
  expect(await page).toBe(4);
  expect(asked).toBe(2);
  expect(texts(thread.messages)).toEqual(["0", "1", "2", "rewritten", "4", "5"]);
});

test("[W1] people come and go by client", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  const person = (id: string, data?: Record<string, unknown>) => ({
    client: id,
    user: { id, name: id },
    ...(data && { data }),
  });
  log.people = [person("x")];
  const thread = client.thread("a");
  await settle();
  const tell = (frame: object) => server.broadcast("a", { type: "people", thread: "a", ...frame });
  tell({ join: [person("y")] });
  tell({ update: [person("x", { typing: true })] });
  await settle();
  expect(thread.people).toEqual([person("x", { typing: true }), person("y")]);
  expect(thread.peopleCount).toBe(2);
  tell({ leave: ["x"], count: 120 });
  await settle();
  expect(thread.people).toEqual([person("y")]);
  expect(thread.peopleCount).toBe(120);
  server.last.pair.cut();
  log.people = [person("z")];
  await pass(60_000);
  expect(thread.people).toEqual([person("z")]);
});

test("[W2] typing is told once, ends by itself, and is told again after a reconnect", async () => {
  const { client, server, settle, pass } = scene();
  const thread = client.thread("a");
  await settle();
  const told = () =>
    server.connections.flatMap(({ got }) => got.flatMap((f) => (f.type === "presence" ? [f.data] : [])));
  thread.setTyping(true);
  thread.setTyping(true);
  await pass(500);
  expect(told()).toEqual([{ typing: true }]);
  thread.setPresence({ at: "line 3" });
  await pass(5_000);
  expect(told().at(-1)).toEqual({ at: "line 3", typing: true });
  await pass(1_000);
  expect(told()).toEqual([{ typing: true }, { at: "line 3", typing: true }, { at: "line 3" }]);
  server.last.pair.cut();
  await pass(60_000);
  expect(told().at(-1)).toEqual({ at: "line 3" });
  expect(told()).toHaveLength(4);
});

test("presence that changes fast is told at most ten times a second, the last value always", async () => {
  const { client, server, settle, pass } = scene();
  const thread = client.thread("a");
  await settle();
  for (let i = 0; i < 100; i += 1) {
    thread.setPresence({ i });
    await pass(10);
  }
  await pass(200);
  const told = server.last.got.flatMap((frame) => (frame.type === "presence" ? [frame.data] : []));
  expect(told.length).toBeLessThanOrEqual(12);
  expect(told.at(-1)).toEqual({ i: 99 });
});

test("[W4] what is shown is marked as read when a message has come or is done, at most once a second", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  log.message("m1", "hello");
  const thread = client.thread("a");
  thread.read();
  await settle();
  const told = () => server.last.got.flatMap((frame) => (frame.type === "read" ? [frame.seq] : []));
  expect(told()).toEqual([]);
  thread.read();
  thread.read();
  await pass(2_000);
  expect(told()).toEqual([1]);
  begin(log);
  say(log, "m2", ["On "]);
  await settle();
  const begun = log.head.seq;
  thread.read();
  log.message("m3", "and");
  await settle();
  thread.read();
  await pass(500);
  expect(told()).toEqual([1, begun]);
  await pass(500);
  expect(told()).toEqual([1, begun, log.head.seq]);
  // More of a message is nothing new before it is done.
  log.event("r1", { type: "TEXT_MESSAGE_CONTENT", messageId: "m2", delta: "it." });
  await settle();
  thread.read();
  await pass(2_000);
  expect(told()).toHaveLength(3);
  log.event("r1", { type: "TEXT_MESSAGE_END", messageId: "m2" });
  await settle();
  thread.read();
  await pass(2_000);
  expect(told().slice(3)).toEqual([log.head.seq]);
  // What did not arrive is told again.
  server.intercept = (frame) => frame.type === "read";
  log.message("m4", "more");
  await settle();
  thread.read();
  await settle();
  server.last.pair.cut();
  server.intercept = null;
  await pass(60_000);
  thread.read();
  await settle();
  expect(told()).toEqual([log.head.seq]);
});
