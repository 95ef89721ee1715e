import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { buildHttp } from "../server/gateway/http.ts";
import { type CothreadServer, createServer, type ServerOptions } from "../server/index.ts";
import { openMemory } from "../server/store/memory.ts";
import { CLI } from "./kit/build.ts";
import { RawClient } from "./kit/raw-client.ts";

const running: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});

async function start(options: ServerOptions = {}): Promise<CothreadServer> {
  const server = await createServer({ port: 0, store: "memory:", logLevel: "silent", ...options });
  running.push({ close: () => server.close({ drainMs: 0 }) });
  return server;
}

/** An application with a server of its own. */
async function host(): Promise<{ server: Server; url: string }> {
  const server = createHttpServer((request, response) => {
    if (request.url === "/hello") response.end("the application's own");
    else if (request.url === "/other") response.writeHead(404).end("not here");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  running.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const get = async (url: string) => {
  const response = await fetch(url);
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
};

describe("HTTP on a server of its own", () => {
  test("health, readiness and what it is", async () => {
    const { url } = await start();
    expect(JSON.parse((await get(`${url}/healthz`)).text)).toEqual({ status: "ok" });
    expect(await get(`${url}/readyz`)).toMatchObject({ status: 200 });
    const info = JSON.parse((await get(`${url}/v1/info`)).text);
    expect(info.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(info.agents).toEqual([
      { id: "planner", name: "Planner", default: true },
      { id: "echo", name: "Echo" },
    ]);
  });

  test("a path that is not there is told in a sentence, and a stranger's upgrade is refused", async () => {
    const { url } = await start();
    const missing = await get(`${url}/v1/nothing?token=secret`);
    expect(missing.status).toBe(404);
    expect(JSON.parse(missing.text)).toEqual({ message: "There is nothing at GET /v1/nothing." });
    await expect(RawClient.open(`${url}/elsewhere`)).rejects.toThrow(/404/);
  });

  test("a browser that asks for a path that is not there gets the sentence as a page", async () => {
    const { url } = await start({ basePath: "/co", app: false });
    const browser = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };
    const response = await fetch(`${url}/threads/<b>&"'?token=secret`, browser);
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("vary")).toBe("accept");
    const text = await response.text();
    expect(text).toContain("<p>There is nothing at GET /co/threads/%3Cb%3E&#38;%22&#39;.</p>");
    expect(text).not.toMatch(/secret|<a /);
    // Raw, as no browser but anybody may send it.
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.end(
      "GET /co/<script>x HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
    );
    let raw = "";
    for await (const chunk of socket) raw += chunk;
    expect(raw).toContain("&#60;script&#62;x");
    expect(raw).not.toContain("<script");
  });

  test("with the web app that page leads to it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "cothread-app-"));
    running.push({ close: () => rmSync(folder, { recursive: true }) });
    writeFileSync(join(folder, "index.html"), "the app");
    const { server, http } = await buildHttp({
      basePath: "/co",
      app: folder,
      info: { version: "0.0.0", agents: [] },
      ready: async () => null,
    });
    running.push({ close: () => http.close() });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const headers = { accept: "text/html" };
    expect(await (await fetch(`${url}/co/`, { headers })).text()).toBe("the app");
    const missing = await fetch(`${url}/co/launch`, { headers });
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('<a href="/co/">')]);
  });

  test("everything moves below the base path", async () => {
    const server = await start({ basePath: "/co" });
    expect(server.url).toMatch(/\/co$/);
    expect((await get(`${server.url}/healthz`)).status).toBe(200);
    expect((await get(server.url.replace("/co", "/healthz"))).status).toBe(404);
    await expect(RawClient.hello(server.url)).resolves.toBeDefined();
  });

  test("readiness ends when it stops, and it can be closed twice", async () => {
    const server = await start();
    await Promise.all([server.close({ drainMs: 0 }), server.close({ drainMs: 0 })]);
    await expect(get(`${server.url}/readyz`)).rejects.toThrow();
  });
});

describe("mounted on the server of an application", () => {
  test("its own paths are answered, the application's are left alone", async () => {
    const { server, url } = await host();
    const cothread = await start({ server });
    expect(cothread.url).toBe(url);
    expect((await get(`${url}/hello`)).text).toBe("the application's own");
    expect((await get(`${url}/other`)).text).toBe("not here");
    expect((await get(`${url}/healthz`)).status).toBe(200);
    const client = await RawClient.hello(url);
    expect((await client.join("t")).joined?.seq).toBe(0);
  });

  test("an upgrade of the application's own is left to it; closing leaves its server open", async () => {
    const { server, url } = await host();
    const cothread = await start({ server, basePath: "/co" });
    server.on("upgrade", (request, socket) => {
      if (request.url === "/v1/ws") socket.end("HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\n\r\n");
    });
    await expect(RawClient.open(url)).rejects.toThrow(/418/);
    const client = await RawClient.hello(`${url}/co`);
    await cothread.close({ drainMs: 0 });
    expect(await client.closed).toMatchObject({ code: 4000, bye: { code: 4000 } });
    expect((await get(`${url}/hello`)).status).toBe(200);
    expect(server.listenerCount("request")).toBe(1);
  });
});

describe("a start that fails", () => {
  test("leaves nothing behind that keeps the process from ending", async () => {
    const taken = createHttpServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    running.push(taken);
    const { port } = taken.address() as AddressInfo;
    const script = `
      import { createServer } from ${JSON.stringify(new URL("index.js", pathToFileURL(CLI)).href)};
      const options = { port: ${port}, store: "memory:", app: false, logLevel: "silent" };
      createServer(options).catch(({ code }) => console.log(code));`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script]);
    running.push({ close: () => child.kill("SIGKILL") });
    let printed = "";
    child.stdout.on("data", (data) => {
      printed += data;
    });
    const status = await new Promise((resolve) => child.once("close", resolve));
    expect([status, printed]).toEqual([0, "EADDRINUSE\n"]);
  });

  test("leaves the server of an application as it was", async () => {
    const { server, url } = await host();
    const store = openMemory();
    store.unfinished = async () => {
      throw new Error("the disk is gone");
    };
    await expect(start({ server, store })).rejects.toThrow("the disk is gone");
    expect((await get(`${url}/hello`)).status).toBe(200);
    expect([server.listenerCount("request"), server.listenerCount("upgrade")]).toEqual([1, 0]);
  });
});

test("graceful close waits for a run to end, within drainMs", async () => {
  let finish = () => {};
  let calls = 0;
  const slow = async function* (input: { threadId: string; runId: string }) {
    const { threadId, runId } = input;
    calls += 1;
    yield { type: "RUN_STARTED", threadId, runId } as never;
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    yield { type: "RUN_FINISHED", threadId, runId } as never;
  };
  const server = await start({ agents: { slow } });
  const client = await RawClient.hello(server.url);
  await client.join("t");
  await client.ask({
    type: "submit",
    thread: "t",
    inputId: "i",
    messages: [{ id: "m", role: "user", content: "go" }],
  });
  await client.entry((entry) => entry.kind === "event" && (entry.event.type as string) === "RUN_STARTED");
  const queued = {
    type: "submit",
    thread: "t",
    inputId: "j",
    messages: [{ id: "n", role: "user", content: "next" }],
  };
  expect(await client.ask(queued)).toMatchObject({ status: "queued" });
  const closing = server.close({ drainMs: 60_000 });
  expect((await client.closed).code).toBe(4000);
  finish();
  // What waits in the queue does not start any more: it would hold up the stop, and be cut off by it.
  await closing;
  expect(calls).toBe(1);
});

test("somebody who hangs up on a refused upgrade does no harm", async () => {
  const { url } = await start();
  const { port } = new URL(url);
  for (let n = 0; n < 20; n += 1) {
    const socket = connect(Number(port), "127.0.0.1");
    await new Promise<void>((resolve) => socket.once("connect", resolve));
    socket.write(
      "GET /elsewhere HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    socket.resetAndDestroy();
  }
  expect((await get(`${url}/healthz`)).status).toBe(200);
});
