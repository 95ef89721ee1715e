import { expect, test } from "vitest";
import { JOIN_ATTEMPTS } from "../client/thread-sync.ts";
import type { ThreadInfo } from "../shared/protocol/index.ts";
import { scene } from "./kit/scripted-client.ts";

const info = (id: string, updatedAt: number, more: Partial<ThreadInfo> = {}): ThreadInfo => ({
  ...{ id, title: id, agent: null, archived: false, createdAt: 0, updatedAt, lastMessage: "" },
  ...{ running: false, waiting: false, unread: 0, people: [], ...more },
});
const ids = (items: readonly ThreadInfo[]) => items.map(({ id }) => id);

test("[W3] a list holds all, then what changes, newest first", async () => {
  const { client, server, settle } = scene();
  server.listed([info("a", 1), info("b", 2)]);
  const list = client.threads({ archived: false });
  expect(list.snapshot).toEqual({ status: "loading", error: undefined, items: [] });
  await settle();
  expect(list.status).toBe("live");
  expect(ids(list.items)).toEqual(["b", "a"]);
  const [b] = list.items;
  server.listed([info("a", 3, { running: true }), info("c", 0)]);
  await settle();
  expect(ids(list.items)).toEqual(["a", "b", "c"]);
  expect(list.items[1]).toBe(b);
  server.listed([], ["b"]);
  await settle();
  expect(ids(list.items)).toEqual(["a", "c"]);
});

test("equal queries are one list; different ones are not", async () => {
  const { client, server, settle } = scene();
  const list = client.threads({ archived: false, text: "x" });
  expect(client.threads({ text: "x", archived: false })).toBe(list);
  expect(client.threads({ text: "y" })).not.toBe(list);
  await settle();
  expect(server.last.got.filter(({ type }) => type === "watch")).toMatchObject([
    { query: { archived: false, text: "x" } },
    { query: { text: "y" } },
  ]);
});

test("after a reconnect the list is watched anew and its first frame replaces all", async () => {
  const { client, server, settle, pass } = scene();
  server.listed([info("a", 1), info("b", 2)]);
  const list = client.threads();
  await settle();
  const old = server.last;
  old.pair.cut();
  expect(list.status).toBe("offline");
  expect(ids(list.items)).toEqual(["b", "a"]);
  server.list.delete("b");
  server.list.set("c", info("c", 9));
  await pass(60_000);
  expect(list.status).toBe("live");
  expect(ids(list.items)).toEqual(["c", "a"]);
  const [first] = old.watches.keys();
  expect([...server.last.watches.keys()]).not.toContain(first);
  // A frame of the former watch is not of this one.
  server.last.send({ type: "threads", watch: first, items: [info("ghost", 99)], removed: [] });
  await settle();
  expect(ids(list.items)).toEqual(["c", "a"]);
});

test("the last release ends the watch, a little later", async () => {
  const { client, server, settle, pass } = scene();
  const list = client.threads();
  await settle();
  list.release();
  const again = list.hold();
  await pass(10_000);
  expect(server.last.watches.size).toBe(1);
  again();
  await pass(2_000);
  expect(server.last.watches.size).toBe(0);
  expect(list.status).toBe("idle");
});

test("a watch refused for now is tried again, and not for ever; one refused for good is not", async () => {
  const { client, server, settle, pass } = scene();
  let refusals = 2;
  let retry = true;
  server.intercept = (frame, connection) => {
    if (frame.type !== "watch" || refusals-- <= 0) return;
    connection.send({ type: "reject", ref: frame.ref, code: "rate", message: "Slow down.", retry });
    return true;
  };
  const list = client.threads();
  await settle();
  expect(list.snapshot).toMatchObject({ status: "loading", error: { code: "rate" } });
  await pass(60_000);
  expect(list.snapshot).toMatchObject({ status: "live", error: undefined });

  refusals = Number.POSITIVE_INFINITY;
  const endless = client.threads({ text: "x" });
  const before = server.last.got.length;
  await pass(300_000);
  expect(endless.snapshot).toMatchObject({ status: "failed", error: { code: "rate" } });
  const watches = server.last.got.slice(before).filter(({ type }) => type === "watch");
  expect(watches).toHaveLength(JOIN_ATTEMPTS);

  retry = false;
  const final = client.threads({ text: "y" });
  await settle();
  expect(final.status).toBe("failed");
  refusals = 0;
  final.retry();
  await settle();
  expect(final.status).toBe("live");
});

test("a watch that is never answered shows an error", async () => {
  const { client, server, settle, pass } = scene();
  server.intercept = (frame) => frame.type === "watch";
  const list = client.threads();
  await settle();
  await pass(60_000);
  expect(list.error).toMatchObject({ code: "timeout" });
  await pass(900_000);
  expect(list.status).toBe("failed");
});
