// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test } from "vitest";
import { HEALTHY_MS } from "../client/connection.ts";
import { scene } from "./kit/scripted-client.ts";

let onLine = true;
let visibility = "visible";
/** Names of Web Locks that somebody holds. */
let locks = new Set<string>();

beforeEach(() => {
  onLine = true;
  visibility = "visible";
  locks = new Set();
  localStorage.clear();
  sessionStorage.clear();
  Object.defineProperty(navigator, "onLine", { configurable: true, get: () => onLine });
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => visibility });
  Object.defineProperty(navigator, "locks", {
    configurable: true,
    value: {
      async request(name: string, _options: object, run: (lock: unknown) => unknown) {
        if (locks.has(name)) return run(null);
        locks.add(name);
        await run({ name });
        locks.delete(name);
      },
    },
  });
});

afterEach(() => {
  Reflect.deleteProperty(navigator, "locks");
});

const network = (on: boolean) => {
  onLine = on;
  window.dispatchEvent(new Event(on ? "online" : "offline"));
};
const look = (state: string) => {
  visibility = state;
  document.dispatchEvent(new Event("visibilitychange"));
};

test("without a network the status is offline, and the first moment it is back it dials", async () => {
  const { client, server, settle, pass } = scene({ random: () => 0.9 });
  client.connect();
  await settle();
  server.up = false;
  onLine = false;
  server.last.pair.cut();
  expect(client.status).toBe("offline");
  expect(client.retryAt).toBeDefined();
  // Attempts go on: a browser may be wrong about a server on the same machine.
  await pass(120_000);
  const attempts = server.connections.length;
  expect(attempts).toBeGreaterThan(4);
  server.up = true;
  network(true);
  await settle();
  expect(server.connections.length).toBe(attempts + 1);
  expect(client.status).toBe("live");
});

test("somebody looks at the page again: it dials at once", async () => {
  const { client, server, settle, pass } = scene({ random: () => 0.99 });
  client.connect();
  await settle();
  server.up = false;
  server.last.pair.cut();
  await pass(100_000);
  server.up = true;
  const attempts = server.connections.length;
  look("hidden");
  await settle();
  expect(server.connections.length).toBe(attempts);
  look("visible");
  await settle();
  expect(client.status).toBe("live");
});

test("a server that asked for time is not dialled earlier because somebody looks", async () => {
  const { client, server, settle, pass } = scene();
  client.connect();
  await settle();
  server.last.send({ type: "bye", code: 4000, reason: "stopping", retryAfterMs: 30_000 });
  await settle();
  network(true);
  look("visible");
  await settle();
  expect(server.connections).toHaveLength(1);
  await pass(31_000);
  expect(client.status).toBe("live");
});

test("when the network goes and comes back a live connection is asked for a sign of life", async () => {
  const { client, server, settle, pass } = scene();
  client.connect();
  await settle();
  await pass(HEALTHY_MS);
  const first = server.last;
  const pings = () => first.got.filter(({ type }) => type === "ping").length;
  network(false);
  network(true);
  await settle();
  expect(pings()).toBe(1);
  expect(client.status).toBe("live");
  // The address has changed and nothing gets through any more.
  server.intercept = (_frame, connection) => connection === first;
  look("visible");
  await pass(11_000);
  expect(server.connections.length).toBeGreaterThan(1);
  expect(client.status).toBe("live");
});

test("a closed client hears of the page no more", async () => {
  const { client, server, settle } = scene();
  client.connect();
  await settle();
  client.close();
  network(true);
  look("visible");
  await settle();
  expect(server.connections).toHaveLength(1);
});

test("the guest id is kept in localStorage, the client id of the tab in sessionStorage", async () => {
  const first = scene({ user: { name: "Ann" } });
  first.client.connect();
  await first.settle();
  const hello = first.server.last.got[0];
  first.client.close();
  await first.settle();
  const reloaded = scene({ user: { name: "Ann" } });
  reloaded.client.connect();
  await reloaded.settle();
  expect(reloaded.server.last.got[0]).toEqual(hello);
});

test("a duplicated tab, which cannot get the lock, takes an id of its own", async () => {
  const first = scene({ random: Math.random });
  first.client.connect();
  await first.settle();
  // The copy has the same sessionStorage while the first tab is still open.
  const copy = scene({ random: Math.random });
  copy.client.connect();
  await copy.settle();
  expect(copy.server.last.client).not.toBe(first.server.last.client);
  copy.client.close();
  await copy.settle();
  const reloaded = scene({ random: Math.random });
  reloaded.client.connect();
  await reloaded.settle();
  expect(reloaded.server.last.client).toBe(copy.server.last.client);
});

test("without Web Locks, as in a page without https, each load has an id of its own", async () => {
  Reflect.deleteProperty(navigator, "locks");
  const ids = [];
  for (let i = 0; i < 2; i += 1) {
    const { client, server, settle } = scene({ random: Math.random });
    client.connect();
    await settle();
    ids.push(server.last.client);
    client.close();
  }
  expect(ids[0]).not.toBe(ids[1]);
});

test("storage that throws costs nothing but memory of the id", async () => {
  const { getItem, setItem } = Storage.prototype;
  Storage.prototype.setItem = () => {
    throw new Error("QuotaExceededError");
  };
  try {
    const { client, server, settle } = scene({ user: { name: "Ann" } });
    client.connect();
    await settle();
    expect(client.status).toBe("live");
    expect(server.last.user.id).toMatch(/^guest:[a-z0-9]{22}$/);
    Storage.prototype.getItem = () => {
      throw new Error("SecurityError");
    };
    const other = scene({ user: { name: "Ann" } });
    other.client.connect();
    await other.settle();
    expect(other.client.status).toBe("live");
  } finally {
    Object.assign(Storage.prototype, { getItem, setItem });
  }
});

test("the default address is where the page came from", async () => {
  const { client, server, settle } = scene({ url: undefined as never });
  client.connect();
  await settle();
  expect(server.net.last.client.url).toBe(`${location.origin.replace("http", "ws")}/v1/ws`);
});
