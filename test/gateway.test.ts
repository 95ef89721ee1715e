import type { IncomingMessage } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Authenticate } from "../server/auth/authenticator.ts";
import { Gateway } from "../server/gateway/gateway.ts";
import { DEFAULT_LIMITS, type GatewayLimits } from "../server/gateway/limits.ts";
import { openMemory } from "../server/store/memory.ts";
import { type DownFrame, type DownFrameOf, type Entry, PROTOCOL } from "../shared/protocol/index.ts";
import { settled } from "./kit/fake-clock.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer, TestRooms, type TestRoomsOptions } from "./kit/server.ts";
import { ABNORMAL, SocketPair } from "./kit/socket-pair.ts";

const REQUEST = { socket: { remoteAddress: "127.0.0.1" }, headers: { host: "127.0.0.1" } } as IncomingMessage;
const guest: Authenticate = async (_request, hello) => ({
  tenant: hello.token ?? "default",
  user: { id: `guest:${hello.user?.id}`, name: hello.user?.name ?? "" },
});

/** A gateway on a clock that the test winds, with sockets that deliver when the test says so. */
class TestGateway {
  readonly rooms: TestRooms;
  readonly gateway: Gateway;
  readonly logged: { what: string; details: object }[] = [];

  constructor(
    limits: Partial<GatewayLimits> = {},
    more: TestRoomsOptions & { authenticate?: Authenticate } = {},
  ) {
    const { authenticate = guest, ...rest } = more;
    this.rooms = new TestRooms(rest);
    this.gateway = new Gateway({
      rooms: this.rooms.rooms,
      clock: this.rooms.clock,
      limits: { ...DEFAULT_LIMITS, ...limits },
      authenticate,
      origins: { cors: [], host: "127.0.0.1" },
      server: { version: "0.0.0", agents: [] },
      log: (what, details) => this.logged.push({ what, details }),
    });
    onTestFinished(() => this.gateway.close());
  }

  /** A socket that has been accepted; it reads only when told to. */
  dial(): TestSocket {
    const pair = new SocketPair();
    const connection = this.gateway.accept(pair.server, REQUEST);
    pair.server.onmessage = (data) => connection.receive(data);
    pair.server.onpong = () => connection.pong();
    pair.server.onclose = () => this.gateway.closed(connection);
    pair.accept();
    return new TestSocket(pair);
  }

  /** A socket that has said hello, and joined the thread. */
  async enter(name: string, thread?: string, more: object = {}): Promise<TestSocket> {
    const socket = this.dial();
    const user = { id: name.toLowerCase(), name };
    socket.say({ type: "hello", v: PROTOCOL, client: `client-${user.id}`, user, ...more });
    await socket.read();
    if (thread !== undefined) {
      socket.say({ type: "join", ref: "join", thread, create: true, ...more });
      await socket.read();
    }
    return socket;
  }

  /** Lets time pass as it does: what is due in between gets its turn. */
  async wait(ms: number, step = 20): Promise<void> {
    for (let at = 0; at < ms; at += step) {
      this.rooms.clock.advance(Math.min(step, ms - at));
      await settled();
    }
  }
}

class TestSocket {
  readonly pair: SocketPair;
  readonly frames: DownFrame[] = [];
  closed: { code: number } | null = null;

  constructor(pair: SocketPair) {
    this.pair = pair;
    pair.client.onmessage = ({ data }) => this.frames.push(JSON.parse(data as string) as DownFrame);
    pair.client.onclose = ({ code }) => {
      this.closed = { code };
    };
  }

  say(frame: object): void {
    this.pair.client.send(JSON.stringify(frame));
    this.pair.flushUp();
  }

  /** Reads what there is and what the server makes of it. */
  async read(): Promise<void> {
    for (let i = 0; i < 4; i += 1) {
      await settled();
      this.pair.flush();
    }
  }

  of<T extends DownFrame["type"]>(type: T): DownFrameOf<T>[] {
    return this.frames.filter((frame) => frame.type === type) as DownFrameOf<T>[];
  }

  answer(ref: string | number): DownFrame | undefined {
    return this.frames.find((frame) => "ref" in frame && frame.ref === ref);
  }

  /** Entries as a client has them in the end: live ones, and those it was brought back with. */
  get entries(): Entry[] {
    return this.of("entries").flatMap(({ items }) => items);
  }

  note(thread: string, id: string, size = 1): void {
    const messages = [{ id, role: "user", content: "x".repeat(size) }];
    this.say({ type: "submit", ref: id, thread, inputId: `i-${id}`, start: false, messages });
  }
}

const seqs = (entries: readonly Entry[]) => entries.map(({ seq }) => seq);
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

describe("[B4] heartbeat", () => {
  test("who answers stays; who leaves two pings unanswered is cut and leaves its threads", async () => {
    const gateway = new TestGateway();
    const ana = await gateway.enter("Ana", "t");
    const bo = await gateway.enter("Bo", "t");
    for (let i = 0; i < 3; i += 1) {
      await gateway.wait(25_000, 500);
      await ana.read();
    }
    expect(ana.closed).toBeNull();
    expect(bo.closed).toEqual({ code: ABNORMAL });
    await gateway.wait(200);
    await ana.read();
    expect(ana.of("people").at(-1)).toMatchObject({ leave: ["client-bo"] });
    expect(gateway.gateway.size).toBe(1);
  });

  test("a pong in between starts the count anew", async () => {
    const gateway = new TestGateway();
    const ana = await gateway.enter("Ana", "t");
    for (let i = 0; i < 8; i += 1) {
      await gateway.wait(25_000, 1_000);
      if (i % 2 === 1) await ana.read();
    }
    expect(ana.closed).toBeNull();
  });
});

describe("[B4] pings behind what a slow reader has not read yet", () => {
  test("cut nobody who takes some of it", async () => {
    const gateway = new TestGateway();
    const ana = await gateway.enter("Ana", "t");
    const bo = await gateway.enter("Bo", "t");
    await ana.read();
    for (let i = 0; i < 200; i += 1) ana.say({ type: "ping", ref: i });
    await settled();
    for (let s = 0; s < 200; s += 1) {
      await gateway.wait(1_000, 500);
      if (s < 120) ana.pair.flushDown(1);
      if (s % 20 === 0) await bo.read();
      if (s === 120) expect(ana.closed).toBeNull();
    }
    // It stopped reading, and then it is cut as others are.
    expect(ana.closed).toEqual({ code: ABNORMAL });
    expect(bo.closed).toBeNull();
  });
});

describe("[F8] a second socket of one client", () => {
  test("[F7] closes the older one with 4409; the older one's late end does not touch the new one", async () => {
    const gateway = new TestGateway();
    const old = await gateway.enter("Ana", "t");
    const fresh = gateway.dial();
    fresh.say({ type: "hello", v: PROTOCOL, client: "client-ana", user: { id: "ana", name: "Ana" } });
    await fresh.read();
    expect(fresh.of("welcome")).toHaveLength(1);
    await old.read();
    expect(old.closed).toEqual({ code: 4409 });
    expect(old.of("bye")).toMatchObject([
      { code: 4409, reason: "Another socket of the same client took over." },
    ]);
    fresh.say({ type: "ping", ref: 1 });
    await fresh.read();
    expect(fresh.answer(1)).toMatchObject({ type: "ack" });
    const third = await gateway.enter("Ana", "t");
    await fresh.read();
    expect([fresh.closed?.code, third.closed]).toEqual([4409, null]);
  });

  test("is not one of another user, or of another tenant, with the same client id", async () => {
    const gateway = new TestGateway();
    const ana = await gateway.enter("Ana");
    const bo = await gateway.enter("Bo", undefined, { client: "client-ana" });
    const other = await gateway.enter("Ana", undefined, { token: "acme" });
    for (const socket of [ana, bo, other]) {
      await socket.read();
      expect(socket.closed).toBeNull();
    }
  });
});

describe("[F3] greeting", () => {
  test("no hello within 5 s", async () => {
    const gateway = new TestGateway();
    const socket = gateway.dial();
    await gateway.wait(4_999, 4_999);
    await socket.read();
    expect(socket.closed).toBeNull();
    await gateway.wait(1);
    await socket.read();
    expect(socket.closed).toEqual({ code: 4401 });
    expect(socket.frames).toMatchObject([{ type: "bye", code: 4401, reason: "No hello came in time." }]);
  });

  test("whoever is to say who somebody is may take a while, but not for ever", async () => {
    let answer = (_identity: Awaited<ReturnType<Authenticate>>) => {};
    const authenticate: Authenticate = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const gateway = new TestGateway({}, { authenticate });
    const hello = { type: "hello", v: PROTOCOL, client: "c", user: { id: "ana", name: "Ana" } };
    const patient = gateway.dial();
    patient.say(hello);
    await gateway.wait(20_000, 1_000);
    answer({ tenant: "default", user: { id: "ana", name: "Ana" } });
    await patient.read();
    expect(patient.frames).toMatchObject([{ type: "welcome", user: { id: "ana", name: "Ana" } }]);
    await gateway.wait(60_000, 1_000);
    await patient.read();
    const unlucky = gateway.dial();
    unlucky.say(hello);
    await gateway.wait(35_000, 1_000);
    // Too late: nobody is there any more.
    answer({ tenant: "default", user: { id: "ana", name: "Ana" } });
    await unlucky.read();
    expect(unlucky.closed).toEqual({ code: 4401 });
    expect(unlucky.frames).toMatchObject([{ type: "bye", code: 4401, retryAfterMs: 1_000 }]);
  });

  test("welcome says who is who, and what clients are held to", async () => {
    const gateway = new TestGateway({ frame: 1_000, message: 900 });
    const ana = await gateway.enter("Ana");
    expect(ana.of("welcome")[0]).toMatchObject({
      v: PROTOCOL,
      user: { id: "guest:ana", name: "Ana" },
      limits: { frame: 1_000, message: 900, presence: 4_096 },
    });
  });
});

describe("[B1] a reader that does not read", () => {
  /** Bo writes, Ana reads nothing from here on. */
  async function slow(limits: Partial<GatewayLimits> = {}) {
    const gateway = new TestGateway({ softBytes: 10_000, hardBytes: 100_000, ...limits });
    const ana = await gateway.enter("Ana", "t");
    const bo = await gateway.enter("Bo", "t");
    await ana.read();
    return { gateway, ana, bo };
  }

  test("is held back at the soft bound, others are not, and it comes back with nothing missing or twice", async () => {
    const { gateway, ana, bo } = await slow();
    for (let i = 0; i < 60; i += 1) {
      bo.note("t", `m${i}`, 1_000);
      await bo.read();
      await gateway.wait(20);
    }
    expect(seqs(bo.entries)).toEqual(upTo(61));
    // One frame over the bound, and no more.
    expect(ana.pair.server.bufferedAmount).toBeLessThan(12_500);
    const held = ana.pair.down.length;
    await ana.read();
    expect(seqs(ana.entries)).toEqual(upTo(ana.entries.length));
    expect(ana.entries.length).toBeLessThan(15);
    expect(ana.of("entries").length).toBeLessThanOrEqual(held);
    await gateway.wait(20);
    await ana.read();
    expect(seqs(ana.entries)).toEqual(upTo(61));
    // Live again, without a gap.
    bo.note("t", "last");
    await bo.read();
    await ana.read();
    expect(seqs(ana.entries)).toEqual(upTo(62));
    expect(ana.closed).toBeNull();
  });

  test("drinks from the tap as fast as it can: in the end it has everything once", async () => {
    const { gateway, ana, bo } = await slow({ softBytes: 4_000 });
    for (let i = 0; i < 120; i += 1) {
      bo.note("t", `m${i}`, 700);
      await bo.read();
      await gateway.wait(20);
      ana.pair.flushDown(i % 7 === 0 ? 3 : 0);
    }
    for (let i = 0; i < 10; i += 1) {
      await ana.read();
      await gateway.wait(20);
    }
    expect(seqs(ana.entries)).toEqual(upTo(121));
    expect(ana.of("snapshot")).toHaveLength(1);
  });

  test("is told who is here when it is back; presence meanwhile is dropped", async () => {
    const { gateway, ana, bo } = await slow();
    for (let i = 0; i < 20; i += 1) bo.note("t", `m${i}`, 1_000);
    await bo.read();
    const before = ana.pair.down.length;
    for (let i = 0; i < 100; i += 1) {
      bo.say({ type: "presence", thread: "t", data: { i, fill: "x".repeat(2_000) } });
      await gateway.wait(20);
    }
    expect(ana.pair.down.length).toBe(before);
    await ana.read();
    await gateway.wait(40);
    await ana.read();
    const people = ana.of("people").at(-1);
    expect(people?.all?.find(({ client }) => client === "client-bo")?.data).toMatchObject({ i: 99 });
  });

  test("is cut when it takes no byte for 60 s, and not when it takes one now and then", async () => {
    const { gateway, ana, bo } = await slow({ pingMs: 1_000_000 });
    const cy = await gateway.enter("Cy", "t");
    for (let i = 0; i < 60; i += 1) bo.note("t", `m${i}`, 100);
    await bo.read();
    for (let s = 0; s < 59; s += 1) {
      await gateway.wait(1_000, 250);
      if (s % 20 === 0) cy.pair.flushDown(1);
    }
    expect(ana.closed).toBeNull();
    await gateway.wait(2_000, 250);
    expect(ana.closed).toEqual({ code: ABNORMAL });
    await gateway.wait(30_000, 250);
    expect(cy.closed).toBeNull();
  });

  test("is cut at the hard bound when it goes on asking", async () => {
    const { ana, bo } = await slow();
    let most = 0;
    for (let i = 0; i < 20_000 && !ana.closed; i += 1) {
      ana.say({ type: "ping", ref: `${i}`.padStart(100, "x") });
      most = Math.max(most, ana.pair.server.bufferedAmount);
      if (i % 50 === 0) await settled();
    }
    expect(ana.closed).toEqual({ code: ABNORMAL });
    expect(most).toBeLessThan(101_000);
    bo.note("t", "m1");
    await bo.read();
    expect(bo.entries).toHaveLength(2);
  });

  test("gets one snapshot that is larger than any bound, and the next only when it has read it", async () => {
    const { gateway, ana, bo } = await slow({ pingMs: 1_000_000 });
    for (let i = 0; i < 30; i += 1) {
      bo.note("t", `m${i}`, 10_000);
      await bo.read();
    }
    await ana.read();
    await gateway.wait(40);
    await ana.read();
    for (let i = 0; i < 20; i += 1) {
      ana.say({ type: "join", ref: `j${i}`, thread: "t" });
      for (let n = 0; n < 4; n += 1) await settled();
    }
    // What is sent behind a join waits with it and keeps its place.
    ana.note("t", "behind");
    for (let i = 0; i < 10; i += 1) await gateway.wait(20);
    expect(ana.closed).toBeNull();
    expect(ana.pair.server.bufferedAmount).toBeLessThan(700_000);
    for (let i = 0; i < 40; i += 1) {
      await ana.read();
      await gateway.wait(20);
    }
    expect(ana.answer("j19")).toMatchObject({ type: "joined" });
    expect(ana.answer("behind")).toMatchObject({ type: "ack" });
    expect(ana.closed).toBeNull();
  });

  test("on a real socket: others do not wait, and it catches up when it reads again", async () => {
    const puppet = new PuppetAgent();
    const server = await openServer({ agents: { planner: puppet }, limits: { softBytes: 64 * 1024 } });
    const ana = await RawClient.hello(server.url, "Ana");
    await ana.join("t");
    const bo = await RawClient.hello(server.url, "Bo");
    await bo.join("t");
    await bo.ask({ type: "submit", thread: "t", inputId: "i", runId: "r1", messages: [] });
    const run = await puppet.next();
    ana.socket.pause();
    run.start();
    const value = "x".repeat(100_000);
    // Far more than this machine's sockets hold by themselves.
    for (let i = 0; i < 200; i += 1) {
      run.emit({ type: "CUSTOM", name: "n", value: { i, value } });
      await bo.entry((e) => e.kind === "event" && (e.event.value as { i: number } | undefined)?.i === i);
    }
    run.finish().end();
    await bo.entry((e) => e.kind === "event" && e.event.type === "RUN_FINISHED");
    const last = bo.frames.findLast((frame) => frame.type === "entries") as DownFrameOf<"entries">;
    ana.socket.resume();
    await ana.find(
      (frame) =>
        (frame.type === "entries" && frame.seq >= last.seq) ||
        (frame.type === "snapshot" && frame.seq >= last.seq),
    );
    // The frames make one line: each begins where the one before ended, or is a snapshot.
    let at = 0;
    for (const frame of ana.frames) {
      if (frame.type === "snapshot") at = frame.seq;
      if (frame.type !== "entries") continue;
      expect(frame.after).toBe(at);
      at = frame.seq;
    }
    expect(at).toBeGreaterThanOrEqual(last.seq);
    expect(ana.frames.filter((frame) => frame.type === "snapshot").length).toBeGreaterThan(1);
  });
});

describe("joining", () => {
  test("[J7] again replaces the first; channel numbers are never used twice", async () => {
    const gateway = new TestGateway();
    const ana = await gateway.enter("Ana", "t");
    for (const ref of ["a", "b", "c"]) ana.say({ type: "join", ref, thread: "t" });
    await ana.read();
    // Those that were replaced before they were done are told so; each join has one answer.
    const answers = ["a", "b", "c"].map((ref) => ana.frames.filter((f) => "ref" in f && f.ref === ref));
    expect(answers.map((list) => list.length)).toEqual([1, 1, 1]);
    expect(answers.map(([answer]) => answer?.type)).toEqual(["reject", "reject", "joined"]);
    expect(ana.of("joined").map(({ channel }) => channel)).toEqual([1, 4]);
    const bo = await gateway.enter("Bo", "t");
    bo.note("t", "m1");
    await bo.read();
    await ana.read();
    expect(seqs(ana.entries)).toEqual(upTo(ana.entries.length));
    expect(ana.entries.length).toBeGreaterThan(0);
  });

  test.each([
    ["again", false],
    ["leaves and joins again", true],
  ])("[J7] [W1] who joins and, wherever that has come to, %s, is there for others", async (_how, leaves) => {
    for (let ticks = 0; ticks < 30; ticks += 1) {
      const gateway = new TestGateway({}, { idleMs: 1_000 });
      const bo = await gateway.enter("Bo", "t");
      const ana = await gateway.enter("Ana");
      ana.say({ type: "join", ref: 1, thread: "t" });
      for (let i = 0; i < ticks; i += 1) await Promise.resolve();
      if (leaves) ana.say({ type: "leave", ref: 2, thread: "t" });
      ana.say({ type: "join", ref: 3, thread: "t" });
      await ana.read();
      expect(ana.answer(3)).toMatchObject({ type: "joined" });
      ana.say({ type: "presence", thread: "t", data: { typing: true } });
      await gateway.wait(200);
      await bo.read();
      const told = bo.of("people").flatMap(({ join = [], update = [] }) => [...join, ...update]);
      expect(told.at(-1), `after ${ticks}`).toMatchObject({ client: "client-ana", data: { typing: true } });
      // And gone when it goes, so that nobody is counted for ever.
      ana.pair.cut();
      await gateway.wait(200);
      await bo.read();
      expect(bo.of("people").at(-1)).toMatchObject({ leave: ["client-ana"] });
    }
  });

  test("[J7] a second join that is left takes out whoever the first one brought in", async () => {
    for (let ticks = 0; ticks < 30; ticks += 1) {
      const gateway = new TestGateway();
      const bo = await gateway.enter("Bo", "t");
      const ana = await gateway.enter("Ana");
      ana.say({ type: "join", ref: 1, thread: "t" });
      for (let i = 0; i < ticks; i += 1) await Promise.resolve();
      ana.say({ type: "join", ref: 2, thread: "t" });
      ana.say({ type: "leave", ref: 3, thread: "t" });
      await ana.read();
      const cy = await gateway.enter("Cy", "t");
      expect(cy.of("people")[0]?.all?.map(({ client }) => client)).toEqual(["client-bo", "client-cy"]);
      expect(bo.closed).toBeNull();
    }
  });

  test("[F5] requests sent right behind a join wait for it, in their order", async () => {
    const gateway = new TestGateway();
    const ana = await gateway.enter("Ana");
    ana.say({ type: "join", ref: "join", thread: "t", create: true });
    for (let i = 0; i < 5; i += 1) ana.note("t", `m${i}`);
    ana.say({ type: "update", ref: "u", key: "k", thread: "t", title: "Named" });
    await ana.read();
    const refs = ana.frames.flatMap((frame) => ("ref" in frame ? [frame.ref] : []));
    expect(refs).toEqual(["join", "m0", "m1", "m2", "m3", "m4", "u"]);
    const messages = ana.entries.flatMap((e) => (e.kind === "message" ? [e.message.id] : []));
    expect(messages).toEqual(["m0", "m1", "m2", "m3", "m4"]);
  });

  test("[J6] requests behind a join that is refused are refused too", async () => {
    const gateway = new TestGateway();
    const ana = await gateway.enter("Ana");
    ana.say({ type: "join", ref: "join", thread: "t" });
    ana.note("t", "m1");
    await ana.read();
    expect(ana.answer("join")).toMatchObject({ type: "reject", code: "not_found", retry: false });
    expect(ana.answer("m1")).toMatchObject({ type: "reject", code: "not_found" });
  });

  test("leaving in the middle of a join leaves nobody behind", async () => {
    const gateway = new TestGateway();
    const bo = await gateway.enter("Bo", "t");
    const ana = await gateway.enter("Ana");
    ana.say({ type: "join", ref: "join", thread: "t" });
    ana.say({ type: "leave", ref: "leave", thread: "t" });
    await ana.read();
    expect(ana.answer("leave")).toMatchObject({ type: "ack" });
    expect(ana.answer("join")).toMatchObject({ type: "reject", code: "not_joined" });
    await gateway.wait(200);
    await bo.read();
    expect(bo.of("people").at(-1)?.all ?? []).not.toContainEqual(
      expect.objectContaining({ client: "client-ana" }),
    );
    const cy = await gateway.enter("Cy", "t");
    expect(cy.of("people")[0]?.all?.map(({ client }) => client)).toEqual(["client-bo", "client-cy"]);
  });

  test("a socket that closes in the middle of a join leaves nobody behind", async () => {
    const gateway = new TestGateway();
    await gateway.enter("Bo", "t");
    const ana = await gateway.enter("Ana");
    ana.say({ type: "join", ref: "join", thread: "t" });
    ana.pair.cut();
    await settled();
    await settled();
    const cy = await gateway.enter("Cy", "t");
    expect(cy.of("people")[0]?.all?.map(({ client }) => client)).toEqual(["client-bo", "client-cy"]);
  });

  test("[J1] joined, then contents, then people, then what is live", async () => {
    const gateway = new TestGateway();
    const bo = await gateway.enter("Bo", "t");
    const ana = await gateway.enter("Ana");
    ana.say({ type: "join", ref: "join", thread: "t" });
    for (let i = 0; i < 3; i += 1) bo.note("t", `m${i}`);
    await ana.read();
    await bo.read();
    await ana.read();
    expect(ana.frames.slice(1, 4).map(({ type }) => type)).toEqual(["joined", "snapshot", "people"]);
    const { seq } = ana.of("snapshot")[0] as DownFrameOf<"snapshot">;
    expect(seqs(ana.entries)).toEqual(upTo(4).filter((n) => n > seq));
  });

  test("[J5] a reader with a window gets a snapshot when a message before it changes; one with all does not", async () => {
    const puppet = new PuppetAgent();
    const gateway = new TestGateway({}, { agents: { planner: puppet } });
    const bo = await gateway.enter("Bo", "t");
    const submit = (ref: string) => ({ type: "submit", ref, thread: "t", inputId: ref, runId: `r-${ref}` });
    bo.say(submit("first"));
    const open = { type: "TEXT_MESSAGE_START", messageId: "old", role: "assistant" };
    (await puppet.next())
      .start(
        open,
        { type: "TEXT_MESSAGE_CONTENT", messageId: "old", delta: "a" },
        { type: "TEXT_MESSAGE_END", messageId: "old" },
      )
      .finish()
      .end();
    await bo.read();
    for (let i = 0; i < 5; i += 1) bo.note("t", `m${i}`);
    await bo.read();
    const ana = await gateway.enter("Ana", "t", { history: 2 });
    expect(ana.of("snapshot")[0]).toMatchObject({ before: 4 });
    bo.say(submit("second"));
    (await puppet.next()).start(open, { type: "TEXT_MESSAGE_CONTENT", messageId: "old", delta: "b" });
    await bo.read();
    await gateway.wait(100);
    await ana.read();
    await bo.read();
    expect(ana.of("snapshot").length).toBe(2);
    // The message that is being written is in it, whole.
    expect(ana.of("snapshot")[1]?.messages[0]).toMatchObject({ id: "old" });
    expect(bo.of("snapshot")).toHaveLength(1);
    const at = ana.frames.findLastIndex(({ type }) => type === "snapshot");
    let { seq } = ana.frames[at] as DownFrameOf<"snapshot">;
    for (const frame of ana.frames.slice(at)) {
      if (frame.type !== "entries") continue;
      expect(frame.after).toBe(seq);
      seq = frame.seq;
    }
    expect(seq).toBe(bo.of("entries").at(-1)?.seq);
  });

  test("a thread that is lost closes the socket with 4001, and it comes back", async () => {
    const store = openMemory();
    const { commit, load } = store;
    let broken = false;
    store.commit = async (batches) =>
      broken
        ? batches.map(() => ({ ok: false, code: "failed", error: new Error("gone") }) as const)
        : commit(batches);
    store.load = async (key) => {
      if (broken) throw new Error("gone");
      return load(key);
    };
    const gateway = new TestGateway({}, { store });
    const ana = await gateway.enter("Ana", "t");
    broken = true;
    ana.note("t", "m1");
    await ana.read();
    expect(ana.answer("m1")).toMatchObject({ type: "reject", code: "store_failed", retry: true });
    expect(ana.of("bye")).toMatchObject([{ code: 4001, retryAfterMs: 1_000 }]);
    expect(ana.closed).toEqual({ code: 4001 });
    const again = await gateway.enter("Ana", "t");
    expect(again.answer("join")).toMatchObject({ type: "reject", code: "store_failed", retry: true });
    expect(again.closed).toBeNull();
    broken = false;
    again.say({ type: "join", ref: "now", thread: "t" });
    await again.read();
    expect(again.answer("now")).toMatchObject({ type: "joined", seq: 0 });
  });
});

describe("[W3] thread lists", () => {
  const watch = (socket: TestSocket, id: string, query: object = {}) =>
    socket.say({ type: "watch", ref: `watch-${id}`, watch: id, query });
  const lists = (socket: TestSocket, id: string) =>
    socket.of("threads").filter((frame) => frame.watch === id);

  test("the first frame has everything and comes before the ack; later ones what changed, at most two a second", async () => {
    const gateway = new TestGateway();
    const bo = await gateway.enter("Bo", "a");
    bo.note("a", "m1");
    await bo.read();
    await gateway.wait(20);
    const ana = await gateway.enter("Ana");
    watch(ana, "w");
    await ana.read();
    const order = ana.frames.slice(1).map(({ type }) => type);
    expect(order).toEqual(["threads", "ack"]);
    expect(lists(ana, "w")[0]).toMatchObject({
      items: [
        { id: "a", lastMessage: "x", title: "x", archived: false, running: false, people: [{ name: "Bo" }] },
      ],
      removed: [],
    });
    await gateway.wait(1_000);
    await ana.read();
    const before = lists(ana, "w").length;
    for (let i = 0; i < 100; i += 1) {
      bo.note("a", `n${i}`);
      await gateway.wait(20);
    }
    await gateway.wait(500);
    await ana.read();
    const later = lists(ana, "w").slice(before);
    expect(later.length).toBeGreaterThan(2);
    expect(later.length).toBeLessThanOrEqual(5);
    await gateway.wait(2_000);
    await ana.read();
    expect(lists(ana, "w")).toHaveLength(before + later.length);
  });

  test("[W4] everybody sees what they have not read themselves, and sees it go when they read", async () => {
    const gateway = new TestGateway();
    const bo = await gateway.enter("Bo", "a");
    const ana = await gateway.enter("Ana", "a");
    const unread = (socket: TestSocket) => lists(socket, "w").at(-1)?.items[0]?.unread;
    for (const socket of [ana, bo]) {
      socket.say({ type: "read", ref: "r0", thread: "a", seq: 0 });
      watch(socket, "w");
      await socket.read();
      expect(socket.answer("r0")).toEqual({ type: "ack", ref: "r0" });
    }
    bo.note("a", "m1");
    bo.note("a", "m2");
    await bo.read();
    await gateway.wait(500);
    for (const socket of [ana, bo]) await socket.read();
    expect([unread(ana), unread(bo)]).toEqual([2, 0]);
    const before = lists(bo, "w").length;
    ana.say({ type: "read", ref: "r1", thread: "a", seq: 2 });
    await ana.read();
    await gateway.wait(500);
    for (const socket of [ana, bo]) await socket.read();
    expect(unread(ana)).toBe(1);
    expect(lists(bo, "w")).toHaveLength(before);
    const cy = await gateway.enter("Cy");
    watch(cy, "w");
    cy.say({ type: "read", ref: "r", thread: "a", seq: 2 });
    await cy.read();
    expect(unread(cy)).toBe(0);
    expect(cy.answer("r")).toMatchObject({ type: "reject", code: "not_joined" });
  });

  test("a thread that no longer fits is removed, one that fits now comes", async () => {
    const gateway = new TestGateway();
    const bo = await gateway.enter("Bo", "a");
    await gateway.enter("Cy", "b");
    const ana = await gateway.enter("Ana");
    watch(ana, "open", { archived: false });
    watch(ana, "gone", { archived: true });
    await ana.read();
    expect(
      lists(ana, "open")[0]
        ?.items.map(({ id }) => id)
        .sort(),
    ).toEqual(["a", "b"]);
    expect(lists(ana, "gone")).toMatchObject([{ items: [], removed: [] }]);
    bo.say({ type: "update", ref: "u", key: "k", thread: "a", archived: true });
    await bo.read();
    await gateway.wait(500);
    await ana.read();
    expect(lists(ana, "open").at(-1)).toMatchObject({ items: [], removed: ["a"] });
    expect(lists(ana, "gone").at(-1)).toMatchObject({ items: [{ id: "a" }], removed: [] });
    ana.say({ type: "unwatch", ref: "un", watch: "open" });
    bo.say({ type: "update", ref: "u2", key: "k2", thread: "a", archived: false });
    await bo.read();
    const before = lists(ana, "open").length;
    await gateway.wait(500);
    await ana.read();
    expect(lists(ana, "open")).toHaveLength(before);
    expect(lists(ana, "gone").at(-1)).toMatchObject({ removed: ["a"] });
  });

  test("text finds titles and last messages, and what is in it is only text", async () => {
    const gateway = new TestGateway();
    const bo = await gateway.enter("Bo", "a");
    bo.say({ type: "update", ref: "u", key: "k", thread: "a", title: "50% off_launch" });
    await gateway.enter("Cy", "b");
    await bo.read();
    const ana = await gateway.enter("Ana");
    const found = async (text: string) => {
      watch(ana, "w", { text });
      await ana.read();
      return lists(ana, "w")
        .at(-1)
        ?.items.map(({ id }) => id);
    };
    expect(await found("LAUNCH")).toEqual(["a"]);
    expect(await found("50%")).toEqual(["a"]);
    for (const text of ["%", "5_%", "off.launch", "' OR 1=1 --", "\\", "launch%"])
      expect([text, await found(text)]).toEqual([text, text === "%" ? ["a"] : []]);
  });

  test("equal lists of many are asked once", async () => {
    const store = openMemory();
    const { threads } = store;
    let asked = 0;
    store.threads = (query) => {
      asked += 1;
      return threads(query);
    };
    const gateway = new TestGateway({}, { store });
    const bo = await gateway.enter("Bo", "a");
    for (let i = 0; i < 20; i += 1) watch(await gateway.enter(`P${i}`), "w", { archived: false });
    await gateway.wait(1_000);
    asked = 0;
    bo.note("a", "m1");
    await bo.read();
    await gateway.wait(500);
    expect(asked).toBe(1);
  });

  test("a watcher that does not read is held back, and told the rest when it does", async () => {
    const gateway = new TestGateway({ softBytes: 2_000, pingMs: 1_000_000 });
    const bo = await gateway.enter("Bo", "a");
    const ana = await gateway.enter("Ana");
    watch(ana, "w");
    await ana.read();
    for (let i = 0; i < 60; i += 1) {
      bo.say({ type: "update", ref: `u${i}`, key: `k${i}`, thread: "a", title: `${i} ${"x".repeat(150)}` });
      await bo.read();
      await gateway.wait(500, 100);
    }
    expect(ana.pair.server.bufferedAmount).toBeLessThan(2_600);
    await ana.read();
    await gateway.wait(1_000);
    await ana.read();
    expect(lists(ana, "w").at(-1)?.items[0]?.title).toMatch(/^59 /);
  });

  test("a list that cannot be read is refused, and asked again later by those who have it", async () => {
    const store = openMemory();
    const { threads } = store;
    let broken = false;
    store.threads = async (query) => {
      if (broken) throw new Error("gone");
      return threads(query);
    };
    const gateway = new TestGateway({}, { store });
    const bo = await gateway.enter("Bo", "a");
    const ana = await gateway.enter("Ana");
    watch(ana, "w");
    await ana.read();
    broken = true;
    watch(ana, "x");
    await ana.read();
    expect(ana.answer("watch-x")).toMatchObject({ type: "reject", code: "store_failed", retry: true });
    bo.say({ type: "update", ref: "u", key: "k", thread: "a", title: "Named" });
    await bo.read();
    await gateway.wait(1_000);
    broken = false;
    await gateway.wait(500);
    await ana.read();
    expect(lists(ana, "w").at(-1)?.items[0]?.title).toBe("Named");
    expect(lists(ana, "x")).toEqual([]);
  });
});

describe("ends", () => {
  test("[F7] a server that stops says when to come back, not all at once", async () => {
    const gateway = new TestGateway();
    const sockets = await Promise.all(Array.from({ length: 20 }, (_, i) => gateway.enter(`P${i}`, "t")));
    gateway.gateway.close();
    for (const socket of sockets) await socket.read();
    const waits = sockets.map((socket) => socket.of("bye")[0]?.retryAfterMs as number);
    expect(waits.every((ms) => ms >= 500 && ms <= 2_000)).toBe(true);
    expect(new Set(waits).size).toBeGreaterThan(5);
    expect(sockets.map((socket) => socket.closed?.code)).toEqual(Array(20).fill(4000));
  });

  test("a connection that is gone leaves nothing in memory", async () => {
    const gateway = new TestGateway({}, { idleMs: 0 });
    for (let round = 0; round < 3; round += 1) {
      const socket = await gateway.enter("Ana", `t${round}`);
      socket.say({ type: "watch", ref: 1, watch: "w", query: {} });
      await socket.read();
      if (round === 0) socket.pair.cut();
      else if (round === 1) socket.pair.client.close();
      else socket.say({ type: "hello" });
      await socket.read();
      expect(socket.closed).not.toBeNull();
    }
    await gateway.wait(1_000);
    type Inside = {
      clients: Map<unknown, unknown>;
      connections: Set<unknown>;
    };
    const inside = gateway.gateway as unknown as Inside & {
      host: { feeds: { byKey: Map<unknown, unknown> } };
    };
    const { byWatcher } = (inside as unknown as { watches: { byWatcher: Map<unknown, unknown> } }).watches;
    const { live } = gateway.rooms.rooms as unknown as { live: Map<unknown, unknown> };
    const { clients, connections, host } = inside;
    const sizes = [clients, connections, host.feeds.byKey, byWatcher, live].map(({ size }) => size);
    expect(sizes).toEqual([0, 0, 0, 0, 0]);
  });

  test("an upgrade while the server stops is refused, and one for another path is none of ours", async () => {
    const server = await openServer({ agents: { planner: new PuppetAgent() } });
    await expect(RawClient.open(`${server.url}/elsewhere`)).rejects.toThrow(/404/);
    await server.close();
    await expect(RawClient.open(server.url)).rejects.toThrow();
  });
});
