import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import WebSocket from "ws";
import { guests, newJoinCode } from "../server/auth/guests.ts";
import { hostName, isLoopback } from "../server/auth/loopback.ts";
import { type OriginRule, refuseOrigin } from "../server/auth/origin.ts";
import { createServer } from "../server/index.ts";
import { openMemory } from "../server/store/memory.ts";
import { PROTOCOL, SUBPROTOCOL } from "../shared/protocol/index.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";

const agents = () => ({ planner: new PuppetAgent() });

/** An upgrade request with these headers. @returns the HTTP status, or 101 */
function upgrade(url: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/ws`, SUBPROTOCOL, { headers });
  return new Promise((resolve, reject) => {
    socket.on("open", () => {
      socket.terminate();
      resolve({ status: 101, body: "" });
    });
    socket.on("unexpected-response", (request, response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => {
        request.destroy();
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
    socket.on("error", reject);
  });
}

describe("pages of other sites", () => {
  test("are refused with the option that would let them in; the log has it once for each origin", async () => {
    const lines: string[] = [];
    const logger = pino({ level: "warn", base: null }, { write: (line: string) => void lines.push(line) });
    const { url } = await openServer({ agents: agents(), logger });
    const [dev, other] = ["http://localhost:5173", "https://other.example"];
    const bodies = new Set<string>();
    for (const origin of [dev, dev, other, dev, "null"]) bodies.add((await upgrade(url, { origin })).body);
    const [first, , third] = bodies;
    expect(first).toBe(
      `Pages of ${dev} may not connect to this server. To allow it, start it with --cors "${dev}", in code cors: ["${dev}"].`,
    );
    expect(third).toMatch(/^Pages of null may .* --cors "\*"/);
    const logged = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
    expect(logged).toEqual([...bodies].map((msg) => expect.objectContaining({ level: 40, msg })));
    // Whoever connects chooses the origin: the log stays short.
    for (let i = 0; i < 120; i += 1) await upgrade(url, { origin: `https://site-${i}.example` });
    await upgrade(url, { origin: `https://${"x".repeat(5_000)}.example` });
    expect(lines).toHaveLength(100);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(1_000);
  });

  test("may not connect, unless they are named", async () => {
    const server = await openServer({ agents: agents(), cors: ["https://app.example.com"] });
    for (const origin of [
      "https://evil.example",
      "null",
      "file://",
      "https://app.example.com.evil.example",
      "http://app.example.com",
      "https://app.example.com:8443",
      `${server.url}.evil.example`,
      "http://localhost:1",
    ]) {
      const { status, body } = await upgrade(server.url, { origin });
      expect([origin, status]).toEqual([origin, 403]);
      expect(body).toContain(`Pages of ${origin} may not connect`);
    }
    for (const origin of [server.url, "https://app.example.com"])
      expect((await upgrade(server.url, { origin })).status).toBe(101);
    expect((await upgrade(server.url, {})).status).toBe(101);
  });

  test("may not reach the server through a name of their own", async () => {
    const server = await openServer({
      agents: agents(),
      publicUrl: "https://chat.example.com",
      insecure: true,
    });
    const { port } = new URL(server.url);
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1.evil.example",
      "localhost.evil.example",
    ]) {
      const { status, body } = await upgrade(server.url, { host, origin: `http://${host}` });
      expect([host, status]).toEqual([host, 403]);
      expect(body).toContain("is not known as");
    }
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
      "chat.example.com",
    ])
      expect([host, (await upgrade(server.url, { host })).status]).toEqual([host, 101]);
    const proxied = { host: "chat.example.com", origin: "https://chat.example.com" };
    expect((await upgrade(server.url, proxied)).status).toBe(101);
  });

  test("may hang up before the refusal is written: the server goes on", async () => {
    const server = await openServer({ agents: agents() });
    const { port } = new URL(server.url);
    for (let i = 0; i < 50; i += 1) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => {});
      await new Promise((open) => socket.once("connect", open));
      const head = ["GET /v1/ws HTTP/1.1", "Host: evil.example", "Upgrade: websocket", "Connection: Upgrade"];
      socket.write(
        `${head.join("\r\n")}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
      if (i % 2 === 0) socket.resetAndDestroy();
      else setImmediate(() => socket.resetAndDestroy());
    }
    expect((await RawClient.hello(server.url)).frames[0]?.type).toBe("welcome");
  });

  const rule = (more: Partial<OriginRule> = {}): OriginRule => ({ cors: [], host: "127.0.0.1", ...more });
  const request = (headers: IncomingMessage["headers"]) => ({ headers }) as IncomingMessage;
  test.each([
    ["no Host at all", rule(), {}, false],
    ["an empty Host", rule(), { host: "" }, false],
    ["a server for all networks, any name", rule({ host: "0.0.0.0" }), { host: "box.lan:4000" }, true],
    [
      "its own page there",
      rule({ host: "0.0.0.0" }),
      { host: "box.lan:4000", origin: "http://box.lan:4000" },
      true,
    ],
    [
      "another page there",
      rule({ host: "0.0.0.0" }),
      { host: "box.lan:4000", origin: "http://evil.lan" },
      false,
    ],
    ["cors *", rule({ cors: ["*"] }), { host: "localhost", origin: "https://any.example" }, true],
    ["cors * with a rebound name", rule({ cors: ["*"] }), { host: "evil.example" }, false],
    ["an origin that is no URL", rule(), { host: "localhost", origin: "://" }, false],
  ] as const)("%s", (_what, given, headers, allowed) => {
    expect(refuseOrigin(request(headers), given) === null).toBe(allowed);
  });

  test("loopback addresses and names, and what only looks like them", () => {
    for (const host of ["localhost", "127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])
      expect([host, isLoopback(host)]).toEqual([host, true]);
    for (const host of [
      "",
      "0.0.0.0",
      "::",
      "10.0.0.1",
      "127.0.0.1.evil.example",
      "localhost.",
      "128.0.0.1",
      "::ffff:10.0.0.1",
    ])
      expect([host, isLoopback(host)]).toEqual([host, false]);
    expect(["a:1", "[::1]:2", "[::1]", "B", undefined].map(hostName)).toEqual(["a", "::1", "::1", "b", ""]);
  });
});

describe("guests", () => {
  const from = (remoteAddress: string, headers: IncomingMessage["headers"] = { host: "127.0.0.1:4000" }) =>
    ({ socket: { remoteAddress }, headers }) as IncomingMessage;
  const hello = (more: object = {}) =>
    ({ type: "hello", v: PROTOCOL, client: "c", user: { id: "ana", name: " Ana " }, ...more }) as never;

  test("[I3] come from this machine without any code, under ids of their own", async () => {
    for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
      expect(await guests()(from(address), hello())).toEqual({
        tenant: "default",
        user: { id: "guest:ana", name: "Ana" },
      });
  });

  test("come from elsewhere only with the join code", async () => {
    const code = newJoinCode();
    expect(code).toMatch(/^[2-9A-HJ-NP-Z]{10}$/);
    const shared = guests(code);
    const lan = from("192.168.1.20", { host: "192.168.1.2:4000" });
    expect(await shared(lan, hello({ token: code }))).toMatchObject({ user: { id: "guest:ana" } });
    for (const token of [undefined, "", code.slice(1), `${code} `, code.toLowerCase(), newJoinCode()])
      expect(await shared(lan, hello({ token }))).toEqual({
        refused: "The join code is missing or wrong. Open the link again that you were given.",
      });
    expect(await guests()(lan, hello({ token: code }))).toEqual({
      refused: "This server takes guests from its own machine only.",
    });
    expect(await guests(undefined, true)(lan, hello())).toMatchObject({ user: { id: "guest:ana" } });
    expect(await guests()(from(undefined as never), hello())).toHaveProperty("refused");
  });

  test("behind a proxy on this machine, or through a rebound name, are not from this machine", async () => {
    const shared = guests("SECRET");
    for (const headers of [
      { host: "chat.example.com" },
      { host: "evil.example:4000" },
      { host: "127.0.0.1:4000", "x-forwarded-for": "203.0.113.9" },
      { host: "127.0.0.1:4000", forwarded: "for=203.0.113.9" },
      {},
    ]) {
      expect(await guests()(from("127.0.0.1", headers), hello())).toHaveProperty("refused");
      expect(await shared(from("127.0.0.1", headers), hello())).toHaveProperty("refused");
      expect(await shared(from("127.0.0.1", headers), hello({ token: "SECRET" }))).toHaveProperty("user");
    }
  });

  test("on a page from elsewhere are not from this machine, however a proxy addresses the server", async () => {
    // As nginx does it by default: Host is the address of the server, and nothing else tells.
    const page = (origin: string) => from("127.0.0.1", { host: "127.0.0.1:4000", origin });
    for (const origin of ["https://chat.example.com", "http://192.168.1.2:4000", "null", "file://", ""]) {
      expect(await guests()(page(origin), hello())).toHaveProperty("refused");
      expect(await guests("SECRET")(page(origin), hello())).toHaveProperty("refused");
      expect(await guests("SECRET")(page(origin), hello({ token: "SECRET" }))).toHaveProperty("user");
    }
    for (const origin of ["http://localhost:4000", "http://127.0.0.1:5173", "http://[::1]:4000"])
      expect(await guests()(page(origin), hello())).toHaveProperty("user");
  });

  test("behind a proxy that is known of need the code, whoever they say they are", async () => {
    for (const headers of [{}, { origin: "http://localhost:4000" }]) {
      const request = from("127.0.0.1", { host: "127.0.0.1:4000", ...headers });
      expect(await guests("SECRET", false, true)(request, hello())).toHaveProperty("refused");
      expect(await guests("SECRET", false, true)(request, hello({ token: "SECRET" }))).toHaveProperty("user");
    }
  });

  test("say who they are", async () => {
    expect(await guests()(from("127.0.0.1"), hello({ user: undefined }))).toHaveProperty("refused");
    expect(await guests()(from("127.0.0.1"), hello({ user: { id: "a", name: "  " } }))).toHaveProperty(
      "refused",
    );
  });
});

describe("a server that others can reach", () => {
  test("is refused without a way to sign in, and says what to do", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "box.lan"])
      await expect(createServer({ host, port: 0, store: "memory:", logLevel: "silent" })).rejects.toThrow(
        /^host .* can be reached from outside.*Start it with --share or --insecure, in code with share, insecure or authenticate\.$/,
      );
  });

  test("is refused without a way to sign in when only a proxy makes it so, on a server of its own or not", async () => {
    for (const publicUrl of [
      "https://chat.example.com",
      "http://192.168.1.2",
      "https://127.0.0.1.example.com",
    ])
      for (const server of [undefined, createHttpServer()])
        await expect(
          createServer({
            publicUrl,
            port: 0,
            store: "memory:",
            logLevel: "silent",
            ...(server && { server }),
          }),
        ).rejects.toThrow(
          /^publicUrl http.* can be reached from outside.*in code with share, insecure or authenticate\.$/,
        );
    await openServer({ publicUrl: "http://localhost:8080", agents: agents() });
    const publicUrl = "https://chat.example.com";
    await openServer({ publicUrl, insecure: true, agents: agents() });
    await openServer({ publicUrl, authenticate: async () => ({ refused: "No." }), agents: agents() });
    const shared = await openServer({ publicUrl, share: true, agents: agents() });
    const client = await RawClient.open(shared.url);
    client.send({ type: "hello", v: PROTOCOL, client: "c", user: { id: "bo", name: "Bo" } });
    expect((await client.closed).bye?.reason).toMatch(/join code/);
  });

  test("is allowed with share, with authenticate, and with insecure", async () => {
    const shared = await openServer({ share: true, agents: agents() });
    expect(shared.shareUrl).toMatch(/^http:\/\/[\d.]+:\d+\/#join=[2-9A-Z]{10}$/);
    // Who is on this machine needs no code.
    expect((await RawClient.hello(shared.url)).frames[0]?.type).toBe("welcome");
    // Whoever comes by the address others use does.
    const lan = new URL(shared.shareUrl as string);
    if (!isLoopback(lan.hostname)) {
      const open = await RawClient.open(lan.origin);
      open.send({ type: "hello", v: PROTOCOL, client: "c", user: { id: "bo", name: "Bo" } });
      expect(await open.closed).toMatchObject({ code: 4401 });
      const token = lan.hash.slice("#join=".length);
      const invited = await RawClient.open(lan.origin);
      invited.send({ type: "hello", v: PROTOCOL, client: "c", user: { id: "bo", name: "Bo" }, token });
      expect((await invited.next("welcome")).user.id).toBe("guest:bo");
    }
    const authenticate = async () => ({ refused: "Nobody comes in here today." });
    const closed = await openServer({ host: "0.0.0.0", authenticate, agents: agents() });
    const client = await RawClient.open(closed.url);
    client.send({ type: "hello", v: PROTOCOL, client: "c", user: { id: "bo", name: "Bo" } });
    expect((await client.closed).bye?.reason).toBe("Nobody comes in here today.");
    await openServer({ host: "0.0.0.0", insecure: true, agents: agents() });
  });
});

test("tokens, messages and what agents say never reach a log, whatever goes wrong", async () => {
  const CANARY = "canary-7f3a9c";
  const lines: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const puppet = new PuppetAgent();
  const store = openMemory();
  const { commit } = store;
  let failing = false;
  store.commit = async (batches) =>
    failing
      ? batches.map(() => ({ ok: false, code: "failed", error: new Error("no space left") }) as const)
      : commit(batches);
  let asked = 0;
  const server = await createServer({
    port: 0,
    store,
    app: false,
    logger,
    agents: { planner: { agent: puppet, idleMs: 60_000 } },
    authenticate: async (_request, hello) => {
      asked += 1;
      if (asked === 1) throw new Error("the identity provider is away");
      if (asked === 2) return { refused: "The token has expired; sign in again." };
      return { tenant: "default", user: { id: "ana", name: hello.user?.name ?? "" } };
    },
  });
  const hello = {
    type: "hello",
    v: PROTOCOL,
    client: CANARY,
    token: CANARY,
    user: { id: CANARY, name: CANARY },
  };
  for (let i = 0; i < 2; i += 1) {
    const refused = await RawClient.open(server.url);
    refused.send(hello);
    expect(await refused.closed).toMatchObject({ code: 4401 });
  }
  await upgrade(`${server.url}`, { origin: "https://evil.example" });
  for (const bad of [
    `{"${CANARY}`,
    JSON.stringify({ type: CANARY }),
    JSON.stringify({ ...hello, v: CANARY }),
  ]) {
    const client = await RawClient.open(server.url);
    client.send(bad);
    await client.closed;
  }
  const ana = await RawClient.open(server.url);
  ana.send(hello);
  await ana.next("welcome");
  await ana.join("t");
  const submit = (id: string, more: object = {}) => ({
    type: "submit",
    thread: "t",
    inputId: `i${id}`,
    runId: `r${id}`,
    messages: [{ id: `m${id}`, role: "user", content: CANARY, metadata: { CANARY } }],
    forwardedProps: { secret: CANARY },
    ...more,
  });
  await ana.ask(submit("1"));
  (await puppet.next())
    .start({ type: "CUSTOM", name: CANARY, value: CANARY })
    .fail(new Error("no more disk"));
  await ana.entry((e) => e.kind === "event" && e.event.type === "RUN_ERROR");
  await ana.ask(submit("2"));
  (await puppet.next()).start().finish().emit({ type: "TEXT_MESSAGE_START", messageId: CANARY, role: 5 });
  await ana.entry((e) => e.kind === "input" && e.inputId === "i2" && e.status === "done");
  await ana.ask({ ...submit("3"), messages: [{ id: "x", role: "system", content: CANARY }] });
  await ana.ask({ type: "submit", thread: "t", inputId: "i4", messages: CANARY });
  failing = true;
  expect(await ana.ask(submit("5"))).toMatchObject({ code: "store_failed" });
  failing = false;
  await ana.ask(submit("6"));
  (await puppet.next()).start();
  await ana.entry((e) => e.kind === "event" && e.run === "r6");
  await server.close({ drainMs: 0 });
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
  // The exception of an agent is for whoever runs the server, and for nobody else.
  expect(lines.filter((line) => line.includes("no more disk"))).toHaveLength(1);
  // What is there can be worked with: each line names what happened, and where.
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ msg: expect.stringMatching(/\w/) });
});
