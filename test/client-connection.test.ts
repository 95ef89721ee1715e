import { expect, test } from "vitest";
import {
  DEAD_DOWNLOADING_MS,
  DEAD_MS,
  DEAD_RESTORING_MS,
  HEALTHY_MS,
  PATIENCE,
  QUIET_MS,
  REFUSALS,
  WELCOME_MS,
} from "../client/connection.ts";
import { CothreadError, createClient } from "../client/index.ts";
import { PROTOCOL, SUBPROTOCOL } from "../shared/protocol/index.ts";
import { settled } from "./kit/fake-clock.ts";
import { scene } from "./kit/scripted-client.ts";

test("making a client dials nothing and sets no timer", () => {
  const { client, server, clock } = scene();
  expect(server.net.pairs).toHaveLength(0);
  expect(clock.pending).toBe(0);
  expect(client.status).toBe("connecting");
});

test("an address that is none is refused at once, with a sentence", () => {
  for (const url of ["ftp://x", "nonsense", "/v1"])
    expect(() => createClient({ url }), url).toThrow(/not the address of a server/);
});

test("addresses keep their base path", async () => {
  for (const [url, dialled] of [
    ["https://host.test/base/", "wss://host.test/base/v1/ws"],
    ["ws://host.test:8080", "ws://host.test:8080/v1/ws"],
  ] as const) {
    const { client, server } = scene({ url });
    client.connect();
    await settled();
    expect(server.net.last.client.url).toBe(dialled);
    expect(server.net.last.protocols).toEqual([SUBPROTOCOL]);
  }
});

test("[F3] hello is the first frame, and nothing follows it before welcome", async () => {
  const { client, server, settle } = scene({ token: async () => "secret" });
  server.intercept = () => true;
  const thread = client.thread("a");
  client.threads();
  void thread.send("hi");
  thread.setTyping(true);
  await settle();
  expect(server.last.got).toEqual([
    expect.objectContaining({ type: "hello", v: PROTOCOL, token: "secret", client: expect.any(String) }),
  ]);
  expect(client.status).toBe("connecting");
});

test("a guest has a name and one id over all connections", async () => {
  const { client, server, settle, pass } = scene({ user: { name: "  Bob " } });
  client.connect();
  await settle();
  server.last.pair.cut();
  await pass(60_000);
  const hellos = server.connections.map(({ got }) => got[0]);
  expect(hellos).toHaveLength(2);
  expect(hellos[0]).toMatchObject({ user: { id: expect.stringMatching(/^[a-z0-9]{22}$/), name: "Bob" } });
  expect(hellos[1]).toEqual(hellos[0]);
  expect(client.user).toMatchObject({ name: "Bob" });
});

test("setUser says hello anew under the new name", async () => {
  const { client, server, settle } = scene();
  client.connect();
  await settle();
  client.setUser({ name: "Anna" });
  expect(client.status).not.toBe("live");
  await settle();
  expect(client.status).toBe("live");
  expect(client.user).toEqual({ id: "guest:ann", name: "Anna" });
  expect(server.connections).toHaveLength(2);
});

test("a name given before the first welcome is the one that counts", async () => {
  const { client, server, settle } = scene();
  client.setUser({ name: "Early" });
  await settle();
  expect(server.connections).toHaveLength(0);
  client.connect();
  client.setUser({ name: "Meanwhile" });
  await settle();
  expect(client.user?.name).toBe("Meanwhile");
  expect(server.connections).toHaveLength(1);
});

test("one socket serves all threads and lists", async () => {
  const { client, server, settle } = scene();
  client.thread("a");
  client.thread("b");
  client.threads({ archived: false });
  await settle();
  expect(server.connections).toHaveLength(1);
  expect(server.last.got.map(({ type }) => type).sort()).toEqual(["hello", "join", "join", "watch"]);
});

test("a cut is followed by attempts that wait longer, and says when the next one is", async () => {
  const { client, server, clock, settle, pass } = scene({ random: () => 0.5 });
  client.connect();
  await settle();
  await pass(HEALTHY_MS);
  server.up = false;
  server.last.pair.cut();
  const waits: number[] = [];
  for (let i = 0; i < 8; i += 1) {
    expect(client.status).toBe("reconnecting");
    expect(client.reason).toMatch(/lost/);
    const wait = client.retryAt! - clock.now();
    waits.push(wait);
    await pass(wait - 1);
    expect(server.connections).toHaveLength(1 + i);
    await pass(1);
    expect(server.connections).toHaveLength(2 + i);
  }
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test("the wait is a short one again only after a connection that lasted", async () => {
  const { client, server, clock, settle, pass } = scene({ random: () => 0.5 });
  client.connect();
  await settle();
  const nextWait = async () => {
    server.last.pair.cut();
    const wait = client.retryAt! - clock.now();
    await pass(wait);
    expect(client.status).toBe("live");
    return wait;
  };
  // Each of these came through, and broke at once.
  expect([await nextWait(), await nextWait(), await nextWait()]).toEqual([250, 500, 1_000]);
  await pass(HEALTHY_MS);
  expect(await nextWait()).toBe(250);
});

test("bye is honoured: no attempt before retryAfterMs", async () => {
  const { client, server, clock, settle, pass } = scene();
  client.connect();
  await settle();
  server.last.send({ type: "bye", code: 4000, reason: "The server is stopping.", retryAfterMs: 7_000 });
  server.last.pair.server.close(4000, "shutdown");
  await settle();
  expect(client.snapshot).toMatchObject({ status: "reconnecting", reason: "The server is stopping." });
  expect(client.retryAt! - clock.now()).toBeGreaterThanOrEqual(7_000);
  await pass(6_999);
  expect(server.connections).toHaveLength(1);
  await pass(1_000);
  expect(client.status).toBe("live");
});

test("a retryAfterMs that is no sensible number does no harm", async () => {
  for (const retryAfterMs of [-5, Number.NaN, "soon", 1e15]) {
    const { client, server, clock, settle } = scene();
    client.connect();
    await settle();
    server.last.send({ type: "bye", code: 4000, reason: "", retryAfterMs });
    await settle();
    expect(client.retryAt! - clock.now()).toBeGreaterThanOrEqual(0);
    expect(client.retryAt! - clock.now()).toBeLessThan(700_000);
  }
});

test("codes that say stay away end in `refused` with the reason, and reconnect() tries again", async () => {
  const { client, server, settle, pass } = scene();
  const errors: CothreadError[] = [];
  client.on("error", (error) => errors.push(error));
  const thread = client.thread("a");
  await settle();
  await thread.ready;
  server.last.send({ type: "bye", code: 4409, reason: "This tab was opened again." });
  server.last.pair.server.close(4409, "replaced");
  await settle();
  expect(client.status).toBe("refused");
  expect(client.error).toMatchObject({ code: "refused", details: { close: 4409 } });
  expect(errors.map(({ message }) => message)).toEqual(["This tab was opened again."]);
  expect(thread.status).toBe("failed");
  expect(thread.error?.message).toBe("This tab was opened again.");
  await pass(300_000);
  expect(server.connections).toHaveLength(1);
  client.reconnect();
  await settle();
  expect(client.status).toBe("live");
  expect(thread.status).toBe("live");
});

test("an expired token is fetched anew; the server that never takes one is given up", async () => {
  let asked = 0;
  const { client, server, settle, pass } = scene({
    token: () => {
      asked += 1;
      return `token-${asked}`;
    },
  });
  server.intercept = (frame, connection) => {
    if (frame.type !== "hello" || frame.token === "token-2") return;
    connection.pair.server.close(4401, "unauthorized");
    return true;
  };
  client.connect();
  await settle();
  expect(client.status).toBe("reconnecting");
  await pass(60_000);
  expect(client.status).toBe("live");
  expect(asked).toBe(2);

  // The connection did not last, so this refusal counts together with the first.
  server.last.pair.server.close(4401, "unauthorized");
  await settle();
  for (let i = 0; i < 20; i += 1) await pass(60_000);
  expect(client.status).toBe("refused");
  expect(server.connections.length).toBeLessThanOrEqual(2 + REFUSALS);
});

test("a token that cannot be fetched is tried again, and the reason shows", async () => {
  let offline = true;
  const { client, settle, pass } = scene({
    token: async () => {
      if (offline) throw new Error("no network");
      return "t";
    },
  });
  client.connect();
  await settle();
  expect(client.snapshot).toMatchObject({
    status: "reconnecting",
    reason: expect.stringMatching(/no network/),
  });
  offline = false;
  await pass(60_000);
  expect(client.status).toBe("live");
});

test("a server that accepts and says nothing is left after a while", async () => {
  const { client, server, settle, pass } = scene();
  server.intercept = () => true;
  client.connect();
  await settle();
  await pass(WELCOME_MS - 1);
  expect(client.status).toBe("connecting");
  await pass(1);
  expect(client.status).toBe("reconnecting");
  expect(client.reason).toMatch(/did not answer/);
});

test("a bad first frame shows, and the attempts are bounded", async () => {
  for (const bad of ["not json", '{"type":"snapshot"}', "null", '{"no":"type"}']) {
    const { client, server, settle, pass } = scene();
    server.intercept = (_frame, connection) => {
      connection.pair.server.send(bad);
      return true;
    };
    const thread = client.thread("a");
    const ready = thread.ready.then(
      () => "ready",
      (error: CothreadError) => error.code,
    );
    await settle();
    expect(client.reason, bad).toBeTruthy();
    for (let i = 0; i < 20; i += 1) await pass(60_000);
    expect(client.status, bad).toBe("refused");
    expect(server.connections.length, bad).toBe(REFUSALS);
    expect(thread.status, bad).toBe("failed");
    expect(await ready, bad).toBe("refused");
  }
});

test("another protocol version is refused at once", async () => {
  const { client, server, settle, pass } = scene();
  server.intercept = (_frame, connection) => {
    connection.send({ type: "welcome", v: PROTOCOL + 1, connection: "c", user: { id: "u", name: "U" } });
    return true;
  };
  client.connect();
  await settle();
  expect(client.snapshot).toMatchObject({ status: "refused", reason: expect.stringMatching(/version/) });
  await pass(300_000);
  expect(server.connections).toHaveLength(1);
});

test("[F2] frames of unknown type are ignored", async () => {
  const { client, server, settle } = scene();
  client.connect();
  await settle();
  server.last.send({ type: "weather", sunny: true });
  server.last.pair.server.sendBinary(new Uint8Array([1, 2, 3]));
  await settle();
  expect(client.status).toBe("live");
});

test("a silent server is asked for a sign of life and left when there is none", async () => {
  const { client, server, settle, pass } = scene();
  client.connect();
  await settle();
  const pings = () => server.connections[0]!.got.filter(({ type }) => type === "ping").length;
  await pass(QUIET_MS - 1);
  expect(pings()).toBe(0);
  await pass(1);
  expect(pings()).toBe(1);
  // It answered, so everything begins anew.
  await pass(QUIET_MS + DEAD_MS - 1);
  expect(client.status).toBe("live");
  server.intercept = () => true;
  await pass(QUIET_MS + DEAD_MS);
  expect(client.status).not.toBe("live");
  expect(client.reason).toMatch(/silent/);
  server.intercept = null;
  await pass(60_000);
  expect(client.status).toBe("live");
});

test("a server that is busy sending a large snapshot gets more time to give a sign of life", async () => {
  const { client, server, settle, pass } = scene();
  client.connect();
  await settle();
  server.intercept = () => true;
  client.thread("a");
  await settle();
  await pass(QUIET_MS + DEAD_MS + 1_000);
  expect(client.status).toBe("live");
  await pass(DEAD_RESTORING_MS);
  expect(client.status).not.toBe("live");
});

test("a download that shows nothing gets more time, and twice as much each time it was for nothing", async () => {
  const { client, server, settle, pass } = scene();
  const log = server.thread("a");
  log.message("m1", "hello");
  // The answer to the join comes, and then nothing: a large snapshot, or a dead line.
  server.intercept = (frame, connection) => {
    if (frame.type === "hello") return false;
    if (frame.type === "join") {
      const place = { thread: "a", channel: 1, generation: 0, role: "owner", ...log.cursor };
      connection.send({ type: "joined", ref: frame.ref, recovered: false, ...place });
    }
    return true;
  };
  const thread = client.thread("a");
  await settle();
  for (const times of [1, 2, 4, PATIENCE, PATIENCE]) {
    await pass(QUIET_MS + times * DEAD_DOWNLOADING_MS - 1_000);
    expect(client.status).toBe("live");
    await pass(1_000);
    expect(client.status).toBe("reconnecting");
    await pass(60_000);
    expect(client.status).toBe("live");
    // From here on the clock of the new connection counts.
    client.reconnect();
    await settle();
  }
  server.last.send(log.snapshot());
  server.last.send({ type: "people", thread: "a", all: [] });
  await settle();
  expect(thread.status).toBe("live");
  // It is there: silence is what it was before.
  await pass(QUIET_MS + DEAD_MS);
  expect(client.status).not.toBe("live");
});

test("a timer that comes late, as in a sleeping machine, asks before it gives up", async () => {
  const { client, server, clock, settle } = scene();
  client.connect();
  await settle();
  clock.sleep(600_000);
  clock.advance(0);
  expect(client.status).toBe("live");
  await settle();
  expect(server.last.got.at(-1)).toMatchObject({ type: "ping" });
  clock.advance(DEAD_MS);
  expect(client.status).toBe("live");
});

test("the new socket wins: what the old one still says and its late close change nothing", async () => {
  const { client, server, settle } = scene();
  const thread = client.thread("a");
  await settle();
  await thread.ready;
  const old = server.last;
  old.send({ type: "people", thread: "a", all: [{ client: "ghost", user: { id: "g", name: "Ghost" } }] });
  old.pair.server.close(4409, "replaced");
  const handlers = { message: old.pair.client.onmessage, close: old.pair.client.onclose };
  client.reconnect();
  await settle();
  expect(server.connections).toHaveLength(2);
  // Even a socket that calls handlers it was told to forget.
  handlers.message?.({ type: "message", data: '{"type":"bye","code":4403,"reason":"late"}' });
  handlers.close?.({ type: "close", code: 4403, reason: "", wasClean: true });
  await settle();
  expect(client.status).toBe("live");
  expect(thread.people).toEqual([]);
});

test("close() is final: it ends what waits, stops timers and sockets", async () => {
  const { client, server, clock, settle, pass } = scene();
  const thread = client.thread("a");
  client.threads();
  await settle();
  server.intercept = (frame) => frame.type === "submit";
  const sent = thread.send("hi").catch((error: CothreadError) => error.code);
  const never = client.thread("b").ready.catch((error: CothreadError) => error.code);
  client.close();
  expect(await sent).toBe("closed");
  expect(await never).toBe("closed");
  expect(client.snapshot).toMatchObject({ status: "closed", unsent: 0 });
  expect(clock.pending).toBe(0);
  await pass(300_000);
  expect(server.last.pair.server.closed).not.toBeNull();
  expect(server.connections).toHaveLength(1);
  client.reconnect();
  const late = client.thread("c");
  await expect(late.ready).rejects.toMatchObject({ code: "closed" });
  expect(late.status).toBe("failed");
  expect(await thread.send("late").catch((error: CothreadError) => error.code)).toBe("closed");
  await settle();
  expect(server.connections).toHaveLength(1);
});

test("close() and reconnect() may be called by those who hear of a change", async () => {
  for (const status of ["live", "reconnecting", "refused"]) {
    for (const what of ["close", "reconnect"] as const) {
      const { client, server, clock, settle, pass } = scene();
      const thread = client.thread("a");
      let called = false;
      const hear = () => {
        if (called || client.status !== status) return;
        called = true;
        client[what]();
      };
      client.subscribe(hear);
      thread.subscribe(hear);
      await settle();
      if (status === "reconnecting") server.last.pair.cut();
      if (status === "refused") server.last.send({ type: "bye", code: 4403, reason: "no" });
      await settle();
      await pass(60_000);
      expect(called, `${status} ${what}`).toBe(true);
      expect(client.status, `${status} ${what}`).toBe(what === "close" ? "closed" : "live");
      const open = server.connections.filter(({ pair }) => !pair.server.closed);
      expect(open, `${status} ${what}`).toHaveLength(what === "close" ? 0 : 1);
      if (what === "close") expect(clock.pending, `${status} ${what}`).toBe(0);
    }
  }
});

test("a thread's listener that hears of the cut first may close or reconnect the client", async () => {
  for (const what of ["close", "reconnect"] as const) {
    const { client, server, clock, settle, pass } = scene();
    const thread = client.thread("a");
    await settle();
    let called = 0;
    thread.on("status", (status) => {
      if (status === "offline" && called++ === 0) client[what]();
    });
    server.last.pair.cut();
    expect(called, what).toBe(1);
    await settle();
    await pass(60_000);
    expect(client.status, what).toBe(what === "close" ? "closed" : "live");
    expect(server.connections, what).toHaveLength(what === "close" ? 1 : 2);
    if (what === "close") expect(clock.pending).toBe(0);
  }
});

test("without a WebSocket the error says what to do: at once, or where a hook holds the thread", async () => {
  const { WebSocket } = globalThis as { WebSocket?: unknown };
  Reflect.deleteProperty(globalThis, "WebSocket");
  try {
    // Rendering on a server gets so far without one.
    const client = createClient({ url: "http://server.test" });
    const thread = client.peek("t");
    const help = /give createClient a `WebSocket`/;
    expect(() => client.thread("t")).toThrow(help);
    thread.hold();
    await expect(thread.ready).rejects.toThrow(help);
    expect(client.status).toBe("refused");
    client.close();
  } finally {
    if (WebSocket) Object.assign(globalThis, { WebSocket });
  }
});

test("a reject that answers nothing is told as an error of the client", async () => {
  const { client, server, settle } = scene();
  const errors: CothreadError[] = [];
  client.on("error", (error) => errors.push(error));
  client.connect();
  await settle();
  server.last.send({
    type: "reject",
    code: "too_big",
    message: "Presence data may have 4096 bytes.",
    retry: false,
  });
  await settle();
  expect(errors[0]).toBeInstanceOf(CothreadError);
  expect(errors[0]).toMatchObject({ code: "too_big", retry: false });
});

test("a listener that throws stops neither the others nor the client", async () => {
  const { client, settle } = scene();
  const reported: unknown[] = [];
  const { reportError } = globalThis as { reportError?: unknown };
  Object.assign(globalThis, { reportError: (error: unknown) => reported.push(error) });
  try {
    let heard = 0;
    client.on("status", () => {
      throw new Error("mine");
    });
    client.on("status", () => {
      heard += 1;
    });
    client.connect();
    await settle();
    expect(client.status).toBe("live");
    expect(heard).toBeGreaterThan(0);
    expect(reported).toHaveLength(heard);
  } finally {
    Object.assign(globalThis, { reportError });
  }
});
