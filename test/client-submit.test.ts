import { expect, test } from "vitest";
import { BACKOFF } from "../client/backoff.ts";
import { CothreadError, type Message, type Thread } from "../client/index.ts";
import { type ChangeFrame, createOutbox } from "../client/outbox.ts";
import { createRequests } from "../client/requests.ts";
import type { UpFrame } from "../shared/protocol/index.ts";
import { FakeClock } from "./kit/fake-clock.ts";
import { type Scene, scene } from "./kit/scripted-client.ts";
import { ANN, type ScriptedServer } from "./kit/scripted-server.ts";

const texts = (messages: readonly Message[]) => messages.map(({ content }) => content);
const state = (thread: Thread, index: number) =>
  thread.about(thread.messageIds[index]!)?.pending?.state ?? "there";
const submits = (server: ScriptedServer) =>
  server.connections.flatMap(({ got }) => got.filter((frame) => frame.type === "submit"));
const withoutRef = ({ ref: _ref, ...rest }: UpFrame & { ref?: unknown }) => rest;
/** What a promise came to, `waiting` as long as it has not. */
const outcome = (promise: Promise<unknown>) => {
  const seen: { is: unknown } = { is: "waiting" };
  promise.then(
    (value) => {
      seen.is = value;
    },
    (error) => {
      seen.is = error.code;
    },
  );
  return seen;
};
/** Answers the frames of one type with a reject, `times` times. */
const refuse = (
  server: ScriptedServer,
  type: string,
  code: string,
  retry: boolean,
  times = Number.POSITIVE_INFINITY,
) => {
  let left = times;
  server.intercept = (frame, connection) => {
    if (frame.type !== type || left-- <= 0) return;
    connection.send({
      type: "reject",
      ref: (frame as { ref: number }).ref,
      code,
      message: `It is ${code}.`,
      retry,
    });
    return true;
  };
};

async function joined(options: Parameters<typeof scene>[0] = {}): Promise<Scene & { thread: Thread }> {
  const made = scene(options);
  const thread = made.client.thread("a");
  await made.settle();
  return { ...made, thread };
}

test("[S1] what is sent shows at once, then is committed without a flicker or a double", async () => {
  const { client, server, thread, settle } = await joined();
  const shown: string[][] = [];
  thread.subscribe(() => shown.push(texts(thread.messages) as string[]));
  const sent = outcome(thread.send("hello", { agent: "planner", forwardedProps: { a: 1 } }));
  expect(texts(thread.messages)).toEqual(["hello"]);
  expect(client.unsent).toBe(1);
  const [id] = thread.messageIds;
  expect(thread.about(id!)).toMatchObject({
    by: { kind: "user", id: "guest:ann", name: "Ann" },
    streaming: false,
    pending: { state: "sending" },
  });
  await settle();
  const [frame] = submits(server);
  expect(frame).toMatchObject({
    agent: "planner",
    forwardedProps: { a: 1 },
    messages: [{ id, role: "user", content: "hello" }],
  });
  const { inputId } = frame!;
  expect(sent.is).toEqual({ inputId, status: "running", runId: expect.any(String), seq: 2 });
  expect(client.unsent).toBe(0);
  expect(thread.messageIds).toEqual([id]);
  expect(state(thread, 0)).toBe("there");
  expect(shown.every((all) => all.join() === "hello")).toBe(true);
});

test("pending messages stand at the end, behind what others write meanwhile", async () => {
  const { server, thread, settle } = await joined();
  server.intercept = (frame) => frame.type === "submit";
  void thread.send("mine");
  void thread.note("also mine");
  server.thread("a").message("m1", "theirs");
  await settle();
  expect(texts(thread.messages)).toEqual(["theirs", "mine", "also mine"]);
});

test("entries that overtake the ack show the message once", async () => {
  const { server, thread, settle } = await joined();
  server.intercept = (frame, connection) => {
    if (frame.type !== "submit") return;
    const [message] = frame.messages as Message[];
    server.thread("a").commit({ kind: "message", turn: frame.inputId, by: ANN, message: message! });
    connection.pair.flushDown();
    expect(texts(thread.messages)).toEqual(["hi"]);
    expect(state(thread, 0)).toBe("there");
    connection.send({ type: "ack", ref: frame.ref, inputId: frame.inputId, status: "done", seq: 1 });
    return true;
  };
  const sent = outcome(thread.note("hi"));
  await settle();
  expect(texts(thread.messages)).toEqual(["hi"]);
  expect(sent.is).toMatchObject({ status: "done" });
});

test("an input that is queued stands in the queue and not in the conversation", async () => {
  const { server, thread, settle } = await joined();
  server.busy = true;
  const seen = new Set<string>();
  thread.subscribe(() => seen.add(`${thread.messages.length} ${thread.inputs.length}`));
  const sent = outcome(thread.send("later"));
  await settle();
  expect(sent.is).toMatchObject({ status: "queued", place: 0 });
  expect(thread.messages).toEqual([]);
  expect(thread.inputs).toMatchObject([{ status: "queued", messages: [{ content: "later" }] }]);
  // At no moment it is in both places or in none.
  expect([...seen].sort()).toEqual(["0 1", "1 0"]);
  const [{ inputId, messages }] = thread.inputs as [(typeof thread.inputs)[0]];
  server
    .thread("a")
    .commit(
      { kind: "input", inputId, status: "running" },
      { kind: "message", turn: inputId, by: ANN, message: messages[0]! },
    );
  await settle();
  expect(texts(thread.messages)).toEqual(["later"]);
});

test("a queued input whose ack was lost stands in the queue only, also before it is acknowledged again", async () => {
  const { client, server, thread, settle, pass } = await joined();
  server.busy = true;
  void thread.send("later");
  server.last.pair.flushUp();
  server.last.pair.cut();
  expect(texts(thread.messages)).toEqual(["later"]);
  server.intercept = (frame) => frame.type === "submit";
  await pass(60_000);
  expect(thread.status).toBe("live");
  expect(client.unsent).toBe(1);
  expect(thread.inputs).toMatchObject([{ messages: [{ content: "later" }] }]);
  expect(thread.messages).toEqual([]);
  await settle();
});

test("a refused input stays as failed, with the reason; it can be sent again or forgotten", async () => {
  const { client, server, thread, settle } = await joined();
  refuse(server, "submit", "busy", false);
  const sent = outcome(thread.send("hi"));
  await settle();
  expect(sent.is).toBe("busy");
  expect(client.unsent).toBe(0);
  const { pending } = thread.about(thread.messageIds[0]!)!;
  expect(pending).toMatchObject({ state: "failed", reason: "It is busy.", error: { code: "busy" } });
  server.intercept = null;
  const again = outcome(pending!.retry());
  expect(state(thread, 0)).toBe("sending");
  await settle();
  expect(again.is).toMatchObject({ status: "running" });
  const [first, second] = submits(server);
  expect(withoutRef(second!)).toEqual(withoutRef(first!));
  expect(texts(thread.messages)).toEqual(["hi"]);

  refuse(server, "submit", "too_big", false);
  void thread.send("forget me");
  await settle();
  thread.about(thread.messageIds[1]!)!.pending!.discard();
  expect(texts(thread.messages)).toEqual(["hi"]);
});

test("offline nothing is lost: it is kept in order and sent when the connection is back", async () => {
  const { client, server, thread, settle, pass } = await joined();
  server.up = false;
  server.last.pair.cut();
  const sent = ["one", "two", "three"].map((text) => outcome(thread.send(text)));
  await pass(30_000);
  expect(client.unsent).toBe(3);
  expect(texts(thread.messages)).toEqual(["one", "two", "three"]);
  expect(sent.map(({ is }) => is)).toEqual(["waiting", "waiting", "waiting"]);
  server.up = true;
  await pass(30_000);
  await settle();
  expect(client.unsent).toBe(0);
  expect(sent.every(({ is }) => (is as { status?: string }).status === "running")).toBe(true);
  expect(thread.messages).toEqual(server.thread("a").timeline.list);
  expect(texts(thread.messages)).toEqual(["one", "two", "three"]);
});

test("[D1] an ack that was lost: the same input is sent again and applied once", async () => {
  const { server, thread, settle, pass } = await joined();
  const sent = outcome(thread.send("once"));
  server.last.pair.flushUp();
  expect(server.thread("a").log.length).toBeGreaterThan(0);
  server.last.pair.cut();
  expect(texts(thread.messages)).toEqual(["once"]);
  await pass(60_000);
  await settle();
  const [first, second] = submits(server);
  expect(withoutRef(second!)).toEqual(withoutRef(first!));
  expect(sent.is).toMatchObject({ duplicate: true });
  expect(texts(thread.messages)).toEqual(["once"]);
  expect(server.thread("a").log.filter(({ kind }) => kind === "message")).toHaveLength(1);
});

test("refused for now: it waits, says why, and is sent again; what follows does not overtake it", async () => {
  const { server, thread, settle, pass } = await joined();
  refuse(server, "submit", "rate", true, 3);
  const sent = [outcome(thread.send("one")), outcome(thread.send("two"))];
  await settle();
  expect(thread.about(thread.messageIds[0]!)?.pending).toMatchObject({
    state: "sending",
    reason: "It is rate.",
  });
  await pass(60_000);
  expect(sent.every(({ is }) => (is as { status?: string }).status === "running")).toBe(true);
  expect(texts(server.thread("a").timeline.list)).toEqual(["one", "two"]);
});

test("a stop does not wait behind messages", async () => {
  const { server, thread, settle } = await joined();
  server.thread("a").event("r1", { type: "RUN_STARTED", threadId: "a", runId: "r1" });
  await settle();
  server.intercept = (frame) => frame.type === "submit";
  void thread.send("stuck");
  const stopped = outcome(thread.cancel());
  await settle();
  expect(stopped.is).toBeUndefined();
  expect(server.last.got.at(-1)).toMatchObject({ type: "cancel", runId: "r1", key: expect.any(String) });
});

test("cancel without a run rejects and sends nothing", async () => {
  const { server, thread, settle } = await joined();
  const stopped = outcome(thread.cancel());
  await settle();
  expect(stopped.is).toBe("not_running");
  expect(server.last.got.some(({ type }) => type === "cancel")).toBe(false);
});

test("cancel, withdraw and update are sent again with the same key", async () => {
  const { client, server, thread, settle, pass } = await joined();
  const done = [
    outcome(thread.cancel("r1")),
    outcome(thread.withdraw("i1")),
    outcome(thread.update({ title: "New" })),
    outcome(client.update("other", { archived: true })),
  ];
  server.last.pair.flushUp();
  server.last.pair.cut();
  expect(client.unsent).toBe(4);
  await pass(60_000);
  await settle();
  expect(done.map(({ is }) => is)).toEqual([undefined, undefined, undefined, undefined]);
  const keys = (connection: number) =>
    server.connections[connection]!.got.flatMap((frame) => ("key" in frame ? [withoutRef(frame)] : []));
  expect(keys(1)).toEqual(expect.arrayContaining(keys(0)));
  expect(keys(0)).toHaveLength(4);
  expect(thread.title).toBe("New");
});

test("a thread is renamed from a list without being joined", async () => {
  const { client, server, settle } = scene();
  client.connect();
  await settle();
  const done = outcome(client.update("a", { title: "Named" }));
  await settle();
  expect(done.is).toBeUndefined();
  expect(server.last.got.map(({ type }) => type)).toEqual(["hello", "update"]);
});

test("what was not sent yet is taken back without the server; what may have arrived is withdrawn there", async () => {
  const { client, server, thread, settle, pass } = await joined();
  server.up = false;
  server.last.pair.cut();
  const sent = outcome(thread.send("never mind", { inputId: "i1" }));
  await thread.withdraw("i1");
  await pass(0);
  expect(sent.is).toBe("withdrawn");
  expect(thread.messages).toEqual([]);
  expect(client.unsent).toBe(0);

  server.up = true;
  await pass(60_000);
  server.busy = true;
  const late = outcome(thread.send("too late", { inputId: "i2" }));
  server.last.pair.flushUp();
  server.last.pair.cut();
  const back = outcome(thread.withdraw("i2"));
  expect(late.is).toBe("waiting");
  await pass(60_000);
  await settle();
  const asked = server.last.got.map(({ type }) => type).filter((type) => type !== "ping");
  expect(asked.slice(-2)).toEqual(["submit", "withdraw"]);
  expect(back.is).toBeUndefined();
  expect(thread.messages).toEqual([]);
  expect(thread.inputs).toEqual([]);
});

test("a first message that was only ever refused for now can be taken back", async () => {
  const { server, thread, settle } = await joined();
  refuse(server, "submit", "rate", true);
  const sent = outcome(thread.send("x", { inputId: "i1" }));
  await settle();
  await thread.withdraw("i1");
  await settle();
  expect(sent.is).toBe("withdrawn");
  expect(server.last.got.some(({ type }) => type === "withdraw")).toBe(false);
});

test("taking back what waits lets the next go at once", async () => {
  const { server, thread, settle } = await joined();
  refuse(server, "submit", "rate", true, 1);
  void thread.send("x", { inputId: "i1" });
  const next = outcome(thread.send("y"));
  await settle();
  expect(next.is).toBe("waiting");
  await thread.withdraw("i1");
  await settle();
  expect(next.is).toMatchObject({ status: "running" });
});

test("the same input id twice is one input", async () => {
  const { server, thread, settle } = await joined();
  const sent = [outcome(thread.send("x", { inputId: "i1" })), outcome(thread.send("x", { inputId: "i1" }))];
  expect(texts(thread.messages)).toEqual(["x"]);
  await settle();
  expect(submits(server)).toHaveLength(1);
  expect(sent[0]!.is).toEqual(sent[1]!.is);
});

test("a released thread stays until what was sent there has arrived", async () => {
  const { server, thread, pass } = await joined();
  server.up = false;
  server.last.pair.cut();
  const sent = outcome(thread.send("keep me"));
  thread.release();
  await pass(60_000);
  expect(thread.status).toBe("offline");
  server.up = true;
  await pass(60_000);
  expect(sent.is).toMatchObject({ status: "running" });
  expect(thread.status).toBe("idle");
  expect(server.thread("a").timeline.list).toHaveLength(1);
});

test("what is sent to a thread that cannot be had fails with its reason", async () => {
  const { client, server, settle } = scene();
  const thread = client.thread("gone", { create: false });
  const sent = outcome(thread.send("hi"));
  await settle();
  expect(sent.is).toBe("not_found");
  expect(state(thread, 0)).toBe("failed");
  expect(client.unsent).toBe(0);
  server.thread("gone");
  thread.retry();
  const again = outcome(thread.about(thread.messageIds[0]!)!.pending!.retry());
  await settle();
  expect(again.is).toMatchObject({ status: "running" });
});

test("while the connection is refused, what was sent is kept", async () => {
  const { client, server, thread, settle } = await joined();
  server.last.send({ type: "bye", code: 4403, reason: "Not here." });
  await settle();
  const sent = outcome(thread.send("hi"));
  await settle();
  expect(sent.is).toBe("waiting");
  expect(client.unsent).toBe(1);
  client.reconnect();
  await settle();
  expect(sent.is).toMatchObject({ status: "running" });
});

test("a message over the server's limit fails here and does not cost the connection", async () => {
  const { client, server, thread, settle } = await joined();
  const sent = outcome(thread.send("ä".repeat(600_000)));
  await settle();
  expect(sent.is).toBe("too_big");
  expect(client.status).toBe("live");
  expect(submits(server)).toEqual([]);
});

test("what JSON cannot carry is refused at once", async () => {
  const { thread, settle } = await joined();
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const sent = outcome(thread.send("hi", { forwardedProps: circle }));
  await settle();
  expect(sent.is).toBe("bad_message");
  expect(thread.about(thread.messageIds[0]!)?.pending).toMatchObject({ state: "failed" });
});

test("messages are taken as text, as one, or as several; ids that are given stay", async () => {
  const { server, thread, settle } = await joined();
  void thread.send([{ content: "a", id: "mine" }, { content: [{ type: "text", text: "b" }] }]);
  void thread.note({ content: "c", metadata: { x: 1 } });
  await settle();
  const [both, note] = submits(server);
  expect(both!.messages).toMatchObject([
    { id: "mine", role: "user", content: "a" },
    { id: expect.stringMatching(/^[a-z0-9]{22}$/), role: "user", content: [{ type: "text", text: "b" }] },
  ]);
  expect(both).not.toHaveProperty("start");
  const metadata = { x: 1, cothread: { note: true } };
  expect(note).toMatchObject({ start: false, messages: [{ content: "c", metadata }] });
});

test("an acknowledged input whose log was lost does not stay pending for ever", async () => {
  const { server, thread, settle, pass } = await joined();
  for (let i = 0; i < 3; i += 1) server.thread("a").message(`m${i}`, `${i}`);
  await settle();
  void thread.send("acked");
  server.last.pair.flushUp();
  // The ack arrives, its entries do not.
  server.last.pair.flushDown(1);
  expect(texts(thread.messages).at(-1)).toBe("acked");
  server.last.pair.cut();
  server.thread("a").lose("e2");
  await pass(60_000);
  expect(thread.messages).toEqual([]);
});

test("a failure nobody waits for is no unhandled rejection", async () => {
  const { server, thread, settle } = await joined();
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  refuse(server, "submit", "busy", false);
  void thread.send("x");
  void thread.cancel();
  void thread.ready;
  await settle();
  await settle();
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

test("what is sent behind a change that failed with its thread goes out when that one's answer comes", () => {
  const sent: string[] = [];
  const requests = createRequests((text) => sent.push(text) > 0);
  const outbox = createOutbox({
    requests,
    clock: new FakeClock(),
    random: () => 0,
    backoff: BACKOFF,
    ready: () => true,
    limit: () => 1_000_000,
    changed() {},
  });
  const came: unknown[] = [];
  const add = (inputId: string) => {
    const frame: ChangeFrame = { type: "submit", thread: "a", inputId, messages: [] };
    outbox.add(frame, (answer) => came.push([inputId, answer.ok]));
  };
  add("1");
  outbox.fail(new CothreadError("not_found", "There is no such thread."), "a");
  add("2");
  expect(sent).toHaveLength(1);
  requests.answer({ type: "ack", ref: 1 });
  expect(sent).toHaveLength(2);
  requests.answer({ type: "ack", ref: 2 });
  expect(came).toEqual([
    ["1", false],
    ["2", true],
  ]);
  expect(outbox.size).toBe(0);
});
