import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readFrame } from "../server/gateway/read-frame.ts";
import type { CothreadServer } from "../server/index.ts";
import { type CLOSES, NOT_YET, PROTOCOL, REJECTS, type RejectCode } from "../shared/protocol/index.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";

const echo = async function* (input: { threadId: string; runId: string }) {
  const { threadId, runId } = input;
  yield { type: "RUN_STARTED", threadId, runId } as never;
  yield { type: "RUN_FINISHED", threadId, runId } as never;
};

/** A server with a frame limit that tests can reach, and an agent that answers at once. */
function open(limits: object = {}): Promise<CothreadServer> {
  return openServer({ agents: { echo }, limits: { frame: 64 * 1024, message: 32 * 1024, ...limits } });
}

const hello = (more: object = {}) => ({
  type: "hello",
  v: PROTOCOL,
  client: "c",
  user: { id: "eve", name: "Eve" },
  ...more,
});

/** A sentence a person can act on: some words, a full stop, no stack, no object. */
function expectSentence(text: unknown): void {
  expect(text).toMatch(/^[A-Z0-9"].{10,400}[.!?]$/s);
  expect(text).not.toMatch(/\[object|undefined|\bat .*\.ts|TypeError|ZodError/);
}

async function expectClose(client: RawClient, code: keyof typeof CLOSES): Promise<void> {
  const closed = await client.closed;
  expect(closed.code).toBe(code);
  expect(closed.bye?.code).toBe(code);
  expectSentence(closed.bye?.reason);
}

/** Sends a frame with a ref and expects it to be refused. */
async function expectReject(
  client: RawClient,
  frame: Parameters<RawClient["ask"]>[0],
  code: RejectCode,
): Promise<{ details?: unknown; message: string }> {
  const answer = await client.ask(frame);
  expect(answer).toMatchObject({ type: "reject", code, retry: REJECTS[code].retry });
  expectSentence(answer.message);
  return answer as never;
}

/** The thread works: somebody else's message comes back to them, and an agent answers it. */
async function expectAlive(other: RawClient, thread = "t"): Promise<void> {
  const inputId = randomUUID();
  const ack = await other.ask({
    type: "submit",
    thread,
    inputId,
    messages: [{ id: `m-${inputId}`, role: "user", content: "still here?" }],
  });
  expect(ack).toMatchObject({ type: "ack", inputId, status: "running" });
  await other.entry(
    (entry) => entry.kind === "input" && entry.inputId === inputId && entry.status === "done",
  );
}

/** Somebody in the thread who does nothing bad, and the one who does. */
async function pair(server: CothreadServer): Promise<{ good: RawClient; evil: RawClient }> {
  const good = await RawClient.hello(server.url, "Ana");
  await good.join("t");
  const evil = await RawClient.hello(server.url, "Eve");
  await evil.join("t");
  return { good, evil };
}

describe("[F7] frames that end a connection, with a bye before", () => {
  const greeted: [string, string | Uint8Array, keyof typeof CLOSES][] = [
    ["no JSON", "{nope", 4402],
    ["half of a JSON text", '{"type":"ping"', 4402],
    ["an empty text", "", 4402],
    ["no type", "{}", 4402],
    ["null", "null", 4402],
    ["a number", "5", 4402],
    ["an array", "[]", 4402],
    ["a type that is no string", '{"type":5}', 4402],
    ["a second hello", JSON.stringify(hello()), 4402],
    ["just over the size limit", `"${"x".repeat(64 * 1024)}"`, 4413],
    ["three times the size limit", `"${"x".repeat(3 * 64 * 1024)}"`, 4413],
    ["many times the size limit", `"${"x".repeat(8 * 1024 * 1024)}"`, 4413],
    ["over the limit in bytes, not in characters", JSON.stringify({ type: "ä".repeat(40 * 1024) }), 4413],
    ["a binary frame without a channel", new Uint8Array(0), 4402],
    ["a binary frame whose channel does not end", new Uint8Array([0x80, 0x80]), 4402],
    ["a binary frame for channel 0", new Uint8Array([0, 1]), 4402],
    ["a binary frame for a channel never issued", new Uint8Array([2, 1]), 4402],
    ["a binary frame for a channel of 2^53", new Uint8Array([...Array(7).fill(0xff), 0x7f, 0]), 4402],
  ];
  test.each(greeted)("[F1] %s", async (_what, data, code) => {
    const server = await open();
    const { good, evil } = await pair(server);
    evil.send(data);
    await expectClose(evil, code);
    await expectAlive(good);
  });

  const first: [string, object | string, keyof typeof CLOSES][] = [
    ["a frame before hello", { type: "ping", ref: 1 }, 4402],
    ["no hello at all but a join", { type: "join", ref: 1, thread: "t" }, 4402],
    ["a hello of another version", hello({ v: 2 }), 4426],
    ["a hello of another version and another shape", { type: "hello", v: 99, who: "me" }, 4426],
    ["a hello whose version is no number", hello({ v: "1" }), 4402],
    ["a hello without a client", { type: "hello", v: PROTOCOL, user: { id: "a", name: "A" } }, 4402],
    ["a hello without a user", { type: "hello", v: PROTOCOL, client: "c" }, 4401],
    ["a hello with an empty name", hello({ user: { id: "eve", name: "" } }), 4402],
    ["a hello with a name of spaces", hello({ user: { id: "eve", name: " \t " } }), 4401],
    [
      "a hello with a name of 10,000 characters",
      hello({ user: { id: "eve", name: "x".repeat(10_000) } }),
      4402,
    ],
    ["a hello with an empty user id", hello({ user: { id: "", name: "Eve" } }), 4402],
    ["a hello with half a character in its user id", hello({ user: { id: "\ud800", name: "Eve" } }), 4402],
    ["a hello with half a character in its client", hello({ client: "\udc00" }), 4402],
    [
      "a hello nested 10,000 deep",
      `{"type":"hello","v":1,"user":${"[".repeat(1e4)}${"]".repeat(1e4)}}`,
      4402,
    ],
  ];
  test.each(first)("%s", async (_what, frame, code) => {
    const server = await open();
    const client = await RawClient.open(server.url);
    client.send(frame);
    await expectClose(client, code);
  });

  test("a hello that does not come in time", async () => {
    const server = await open({ helloMs: 30 });
    const client = await RawClient.open(server.url);
    await expectClose(client, 4401);
  });

  test("a frame between hello and welcome", async () => {
    const server = await openServer({
      authenticate: () => new Promise(() => {}),
      agents: { echo },
    });
    const client = await RawClient.open(server.url);
    client.send(hello());
    client.send({ type: "ping", ref: 1 });
    await expectClose(client, 4402);
  });

  test("a second hello while the first is being checked", async () => {
    const server = await openServer({ authenticate: () => new Promise(() => {}), agents: { echo } });
    const client = await RawClient.open(server.url);
    client.send(hello());
    client.send(hello());
    await expectClose(client, 4402);
  });

  test("text that is not UTF-8, and frames that are no WebSocket frames, get a bye too", async () => {
    const server = await open();
    const { good } = await pair(server);
    const damaged = {
      // Written past the client library, which would not send them: header, mask of zeros, payload.
      utf8: Buffer.from([0x81, 0x83, 0, 0, 0, 0, 0xff, 0xfe, 0xfd]),
      reserved: Buffer.from([0xf1, 0x80, 0, 0, 0, 0]),
      unmasked: Buffer.from([0x81, 0x02, 0x7b, 0x7d]),
    };
    for (const bytes of Object.values(damaged)) {
      const evil = await RawClient.hello(server.url, "Eve");
      (evil.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(bytes);
      await expectClose(evil, 4402);
    }
    await expectAlive(good);
  });
});

describe("frames that are refused", () => {
  test("[F6] an unknown type, with and without a ref", async () => {
    const { good, evil } = await pair(await open());
    const { message } = await expectReject(evil, { type: "dance" }, "bad_frame");
    expect(message).toContain('"dance"');
    evil.send({ type: "__proto__" });
    expect(await evil.next("reject")).toMatchObject({ code: "bad_frame", retry: false });
    await expectAlive(good);
  });

  test("[F4] a ref that is none does not come back", async () => {
    const { evil } = await pair(await open());
    for (const ref of ["1e999", "null", "[1]", '{"a":1}', `"${"x".repeat(200)}"`, "true"]) {
      evil.send(`{"type":"ping","ref":${ref}}`);
      const answer = await evil.next("reject");
      expect(answer.code).toBe("bad_frame");
      expect(answer).not.toHaveProperty("ref");
    }
    expect(await evil.ask({ type: "ping", ref: -0.5 })).toMatchObject({ type: "ack", ref: -0.5 });
  });

  const ids: [string, string][] = [
    ["empty", ""],
    ["257 characters", "x".repeat(257)],
    ["a zero byte", "a\u0000b"],
    ["a newline", "a\nb"],
    ["a C1 control character", "a\u009bb"],
    ["half of a surrogate pair", "a\ud83d"],
  ];
  test.each(ids)("[I1] a thread id with %s", async (_what, thread) => {
    const { good, evil } = await pair(await open());
    await expectReject(evil, { type: "join", thread, create: true }, "bad_frame");
    await expectReject(evil, { type: "submit", thread, inputId: "i", messages: [] }, "bad_frame");
    await expectAlive(good);
  });

  const odd = [
    "__proto__",
    "constructor",
    "%00",
    "%2e%2e%2f",
    "../..",
    "a/b",
    "a%",
    "💥",
    "x".repeat(256),
    " ",
  ];
  test.each(odd)("[I1] a thread may be called %j, and is that one thread", async (thread) => {
    const server = await open();
    const client = await RawClient.hello(server.url, "Eve");
    const { joined } = await client.join(thread);
    expect(joined?.thread).toBe(thread);
    await expectAlive(client, thread);
    const other = await RawClient.hello(server.url, "Ana");
    await other.ask({ type: "watch", watch: "w", query: {} });
    expect((await other.next("threads")).items.map(({ id }) => id)).toEqual([thread]);
    const { contents } = await other.join(thread, { create: false });
    expect(contents).toMatchObject({ type: "snapshot", thread });
  });

  const messages: [string, unknown, RejectCode][] = [
    ["without an id", { role: "user", content: "x" }, "bad_message"],
    ["with an empty id", { id: "", role: "user", content: "x" }, "bad_message"],
    ["with a control character in its id", { id: "a\u0000", role: "user", content: "x" }, "bad_message"],
    ["with half a character in its id", { id: "\ud800", role: "user", content: "x" }, "bad_message"],
    ["with an id of 257 characters", { id: "x".repeat(257), role: "user", content: "x" }, "bad_message"],
    ["without content", { id: "m", role: "user" }, "bad_message"],
    ["with a number as content", { id: "m", role: "user", content: 5 }, "bad_message"],
    ["with a part of no kind", { id: "m", role: "user", content: [{ type: "dance" }] }, "bad_message"],
    ["of an assistant", { id: "m", role: "assistant", content: "x" }, "bad_message"],
    ["of the system", { id: "m", role: "system", content: "x" }, "bad_message"],
    ["of a developer", { id: "m", role: "developer", content: "x" }, "bad_message"],
    ["of a tool", { id: "m", role: "tool", content: "x", toolCallId: "c" }, "bad_message"],
    ["of nobody", { id: "m", role: "__proto__", content: "x" }, "bad_message"],
    ["that is null", null, "bad_message"],
    ["that is a number", 1, "bad_message"],
    ["that is a list", [[]], "bad_message"],
    ["that is too big", { id: "m", role: "user", content: "x".repeat(33 * 1024) }, "too_big"],
  ];
  test.each(messages)("a message %s", async (_what, message, code) => {
    const { good, evil } = await pair(await open());
    for (const start of [true, false]) {
      const inputId = randomUUID();
      await expectReject(evil, { type: "submit", thread: "t", inputId, start, messages: [message] }, code);
    }
    await expectAlive(good);
    const fresh = await RawClient.hello(evil.socket.url.replace(/^ws/, "http").replace("/v1/ws", ""), "Bo");
    const { contents } = await fresh.join("t");
    expect(contents).toMatchObject({ messages: [{ content: "still here?" }] });
  });

  test("[S4] [D2] one id for two things: input, run, message, key", async () => {
    const { good, evil } = await pair(await open());
    const submit = (more: object) => ({ type: "submit", thread: "t", ...more });
    const text = (id: string, content = "x") => [{ id, role: "user", content }];
    const first = submit({ inputId: "i1", runId: "r1", messages: text("m1") });
    expect(await evil.ask(first)).toMatchObject({ type: "ack", runId: "r1" });
    const conflicts = [
      submit({ inputId: "i1", messages: text("m2") }),
      submit({ inputId: "i1", runId: "r1", messages: text("m1", "other words") }),
      submit({ inputId: "i1", start: false, messages: text("m2") }),
      submit({ inputId: "r1", messages: text("m2") }),
      submit({ inputId: "i2", runId: "r1", messages: text("m2") }),
      submit({ inputId: "i2", runId: "i1", messages: text("m2") }),
      submit({ inputId: "i2", runId: "i2", messages: text("m2") }),
      submit({ inputId: "i2", messages: text("m1") }),
      submit({ inputId: "i2", start: false, messages: text("m1") }),
      submit({ inputId: "i2", messages: [...text("m2"), ...text("m2")] }),
    ];
    for (const frame of conflicts) await expectReject(evil, frame, "conflict");
    await expectReject(good, first, "conflict");

    const update = (key: string, title: string) => ({ type: "update", key, thread: "t", title });
    expect(await evil.ask(update("k", "one"))).toMatchObject({ type: "ack" });
    await expectReject(evil, update("k", "two"), "conflict");
    const cancel = (runId: string) => ({ type: "cancel", key: "k2", thread: "t", runId });
    await expectReject(evil, cancel("no such run"), "not_running");
    await expectAlive(good);
  });

  test("[S4] a queued input holds its ids too", async () => {
    const hang = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) });
    const server = await openServer({ agents: { hang } });
    const evil = await RawClient.hello(server.url, "Eve");
    await evil.join("t");
    const submit = (inputId: string, runId: string, id: string) => ({
      type: "submit",
      thread: "t",
      inputId,
      runId,
      messages: [{ id, role: "user", content: "x" }],
    });
    await evil.ask(submit("i1", "r1", "m1"));
    expect(await evil.ask(submit("i2", "r2", "m2"))).toMatchObject({ status: "queued", place: 1 });
    await expectReject(evil, submit("r2", "r3", "m3"), "conflict");
    await expectReject(evil, submit("i3", "i2", "m3"), "conflict");
    await expectReject(evil, submit("i3", "r2", "m3"), "conflict");
    await expectReject(evil, submit("i3", "r3", "m2"), "conflict");
    await evil.ask({ type: "cancel", thread: "t", key: "k", runId: "r1" });
  });

  test("[F6] frames of features that are not there yet, whatever is in them", async () => {
    const { good, evil } = await pair(await open());
    for (const type of NOT_YET) await expectReject(evil, { type }, "not_supported");
    const large = JSON.stringify({ type: "auth", ref: "p", content: Array(20_000).fill(0) });
    evil.send(large);
    expect(await evil.find((f) => f.type === "reject" && f.ref === "p")).toMatchObject({
      code: "not_supported",
    });
    await expectAlive(good);
  });

  test("[F6] fields of features that are not there yet", async () => {
    const { good, evil } = await pair(await open());
    const submit = { type: "submit", thread: "t", inputId: "i", messages: [] };
    await expectReject(evil, { type: "update", key: "k", thread: "t", members: {} }, "not_supported");
    for (const more of [{}, { settings: {} }, { settings: { trigger: "sometimes" } }, { settings: 1 }])
      await expectReject(evil, { type: "update", key: "k", thread: "t", ...more }, "bad_frame");
    await expectReject(evil, { ...submit, agent: "nobody" }, "no_agent");
    await expectReject(evil, { ...submit, draft: { messageId: "m", text: "" } }, "bad_message");
    await expectReject(evil, { ...submit, start: false, draft: { messageId: "m", text: "x" } }, "draft_sent");
    await expectAlive(good);
  });

  test("presence that is too big, or for a thread that was not joined", async () => {
    const { good, evil } = await pair(await open());
    evil.send({ type: "presence", thread: "t", data: { note: "x".repeat(4_096) } });
    expect(await evil.next("reject")).toMatchObject({ code: "too_big", retry: false });
    evil.send({ type: "presence", thread: "elsewhere", data: {} });
    expect(await evil.next("reject")).toMatchObject({ code: "not_joined" });
    evil.send({ type: "presence", thread: "t", data: [] });
    expect(await evil.next("reject")).toMatchObject({ code: "bad_frame" });
    evil.send({ type: "presence", thread: "t", data: { note: "x".repeat(4_000) } });
    await good.find(
      (f) => f.type === "people" && [...(f.join ?? []), ...(f.update ?? [])].some((p) => p.data?.note),
    );
    await expectAlive(good);
  });

  test("threads and thread lists beyond the quotas", async () => {
    const server = await open({ threads: 3, watches: 2 });
    const client = await RawClient.hello(server.url, "Eve");
    for (const thread of ["a", "b", "c"]) await client.join(thread);
    const { reject } = await client.join("d");
    expect(reject).toMatchObject({ code: "quota", retry: false });
    expectSentence(reject?.message);
    // Joined again is not one more, and one that was left makes room.
    expect((await client.join("a")).joined).toBeDefined();
    await client.ask({ type: "leave", thread: "b" });
    expect((await client.join("d")).joined).toBeDefined();
    for (const watch of ["1", "2"]) await client.ask({ type: "watch", watch, query: {} });
    await expectReject(client, { type: "watch", watch: "3", query: {} }, "quota");
    expect(await client.ask({ type: "watch", watch: "1", query: { text: "x" } })).toMatchObject({
      type: "ack",
    });
    await client.ask({ type: "unwatch", watch: "2" });
    expect(await client.ask({ type: "watch", watch: "3", query: {} })).toMatchObject({ type: "ack" });
  });

  test("requests for a thread that was not joined, or does not exist", async () => {
    const server = await open();
    const client = await RawClient.hello(server.url, "Eve");
    for (const frame of [
      { type: "submit", inputId: "i", messages: [] },
      { type: "cancel", key: "k", runId: "r" },
      { type: "withdraw", key: "k", inputId: "i" },
      { type: "earlier", before: "m", limit: 1 },
    ])
      await expectReject(client, { thread: "t", ...frame }, "not_joined");
    await expectReject(client, { type: "update", key: "k", thread: "t", title: "x" }, "not_found");
    expect((await client.join("t", { create: false })).reject).toMatchObject({ code: "not_found" });
    await expectReject(client, { type: "submit", thread: "t", inputId: "i", messages: [] }, "not_joined");
  });

  test("any cursor at all gets the thread, never an error", async () => {
    const server = await open();
    const { good, evil } = await pair(server);
    await expectAlive(good);
    const { joined } = await evil.join("t");
    const { epoch, mark, seq } = joined!;
    const cursors = [
      null,
      5,
      "x",
      [],
      {},
      { epoch, seq: -1, mark },
      { epoch, seq: 1e300, mark },
      { epoch, seq: 0.5, mark },
      { epoch, seq: "1", mark },
      { epoch, seq: seq + 1, mark },
      { epoch, seq, mark: "" },
      { epoch, seq: 0, mark },
      { epoch: "", seq, mark },
      { epoch: "x".repeat(1_000), seq, mark },
      { epoch, seq, mark: "\ud800" },
      Array(5_000).fill(0),
    ];
    for (const cursor of cursors) {
      const { joined: again } = await evil.join("t", { cursor });
      const contents = evil.frames[evil.frames.indexOf(again as never) + 1];
      expect(again, JSON.stringify(cursor)?.slice(0, 80)).toMatchObject({ recovered: false, seq });
      expect(contents?.type).toBe("snapshot");
    }
    evil.send('{"type":"join","ref":"big","thread":"t","cursor":{"epoch":"e","seq":1e999,"mark":"m"}}');
    expect(await evil.find((f) => f.type === "joined" && f.ref === "big")).toMatchObject({
      recovered: false,
    });
    expect((await evil.join("t", { cursor: { epoch, seq, mark } })).joined?.recovered).toBe(true);
  });
});

describe("frames that cost more than they weigh", () => {
  const submit = (inputId: string, fields: string) =>
    `{"type":"submit","ref":"${inputId}","thread":"t","inputId":"${inputId}",${fields}}`;
  const list = (item: string, n: number) => `[${Array(n).fill(item).join(",")}]`;
  const nested = (n: number) => "[".repeat(n) + "]".repeat(n);
  const object = (n: number) => `${'{"a":'.repeat(n)}1${"}".repeat(n)}`;
  const cases: [string, string, RejectCode][] = [
    ["200,000 levels of lists", submit("x", `"forwardedProps":${nested(200_000)}`), "bad_frame"],
    ["101 levels of objects", submit("x", `"forwardedProps":${object(101)}`), "bad_frame"],
    [
      "a message nested 5,000 deep",
      submit("x", `"messages":[{"id":"m","role":"user","content":"x","metadata":{"a":${nested(5_000)}}}]`),
      "bad_frame",
    ],
    ["100,000 messages", submit("x", `"messages":${list("{}", 100_000)}`), "bad_frame"],
    ["101 messages", submit("x", `"messages":${list("{}", 101)}`), "bad_frame"],
    ["a million wrong tools", submit("x", `"tools":${list("0", 1_000_000)}`), "bad_frame"],
    ["30,000 wrong tools", submit("x", `"tools":${list("0", 30_000)}`), "bad_frame"],
    [
      "a million members",
      `{"type":"update","ref":"x","key":"k","thread":"t","members":{${Array(20_000)
        .fill(0)
        .map((_, i) => `"${i}":0`)
        .join(",")}}}`,
      "bad_frame",
    ],
    ["two million zeros", submit("x", `"forwardedProps":${list("0", 1_900_000)}`), "bad_frame"],
    ["a key that is __proto__", submit("x", '"forwardedProps":{"__proto__":{"polluted":1}}'), "bad_frame"],
    [
      "the same key in disguise",
      submit("x", '"forwardedProps":[{"\\u005f_pro\\u0074o__":{"polluted":1}}]'),
      "bad_frame",
    ],
    [
      "a __proto__ in a message",
      submit("x", '"messages":[{"id":"m","role":"user","content":"x","__proto__":{"role":"system"}}]'),
      "bad_frame",
    ],
  ];
  test.each(cases)("%s", async (_what, frame, code) => {
    const server = await open({ frame: 4 * 1024 * 1024 });
    const { good, evil } = await pair(server);
    evil.send(frame);
    const answer = await evil.find((f) => f.type === "reject" && f.ref === "x");
    expect(answer).toMatchObject({ code, retry: false });
    expectSentence((answer as { message: string }).message);
    // Everybody else waits while a frame is read. Processor time, because other programs run here too; what
    // is refused took from 150 ms to 7 s before it was.
    const cost = () => {
      const began = process.cpuUsage();
      readFrame(frame, false);
      return process.cpuUsage(began).user / 1_000;
    };
    expect(Math.min(cost(), cost(), cost())).toBeLessThan(50);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    await expectAlive(good);
  });

  test("100 levels, half characters in texts and keys called constructor are content like any other", async () => {
    const server = await open();
    const { good, evil } = await pair(server);
    const metadata = { constructor: { prototype: 1 }, toString: "x", half: "\ud800" };
    const ack = await evil.ask({
      type: "submit",
      thread: "t",
      inputId: "i",
      messages: [{ id: "m", role: "user", content: 'a "quoted \\" [[[{{{ ,,, \ud83d', metadata }],
      forwardedProps: JSON.parse(nested(99)),
    });
    expect(ack.type).toBe("ack");
    const entry = await good.entry((e) => e.kind === "message" && e.message.id === "m");
    const { message } = entry as unknown as { message: { content: string; metadata: object } };
    expect(message.content).toBe('a "quoted \\" [[[{{{ ,,, \ud83d');
    expect(message.metadata).toMatchObject(metadata);
    await expectAlive(good);
  });

  test("a text of quotes and backslashes is read as what it is", async () => {
    const server = await open();
    const { evil } = await pair(server);
    for (const content of ["\\", '\\\\"', '"]}', '\\"[{', `${"[".repeat(500)}`, '","'.repeat(3)]) {
      const id = randomUUID();
      const ack = await evil.ask({
        type: "submit",
        thread: "t",
        start: false,
        inputId: id,
        messages: [{ id: `m-${id}`, role: "user", content }],
      });
      expect(ack, content).toMatchObject({ type: "ack", status: "done" });
    }
  });
});

describe("[F1] binary frames", () => {
  test("on an issued channel the lane opens; on a left one they are ignored", async () => {
    const server = await open();
    const { good, evil } = await pair(server);
    evil.send(new Uint8Array([1, 0, 0, 1, 0]));
    await evil.ask({ type: "leave", thread: "t" });
    evil.send(new Uint8Array([1, 0, 0]));
    expect(await evil.ask({ type: "ping" })).toMatchObject({ type: "ack" });
    expect(evil.frames.filter((frame) => frame.type === "reject")).toHaveLength(0);
    // The next channel is another one.
    expect((await evil.join("t")).joined?.channel).toBe(2);
    evil.send(new Uint8Array([3]));
    await expectClose(evil, 4402);
    await expectAlive(good);
  });
});

test("what an authenticator gives is looked at before it is used", async () => {
  const answers = [
    null,
    undefined,
    { tenant: "", user: { id: "a", name: "A" } },
    { tenant: "default", user: { id: "", name: "A" } },
    { tenant: "default", user: { id: "\ud800", name: "A" } },
    { tenant: "default", user: { id: "a" } },
    { tenant: "default" },
    { refused: "You may not come in today." },
  ];
  let asked = 0;
  const server = await openServer({
    agents: { echo },
    authenticate: async () => {
      asked += 1;
      if (asked > answers.length) throw new Error("the identity provider is away");
      return answers[asked - 1] as never;
    },
  });
  for (let i = 0; i <= answers.length; i += 1) {
    const client = await RawClient.open(server.url);
    client.send(hello());
    await expectClose(client, 4401);
  }
});
