import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createServer } from "../server/index.ts";
import type { Cursor, DownFrameOf } from "../shared/protocol/index.ts";
import { RawClient } from "./kit/raw-client.ts";

const folder = mkdtempSync(join(tmpdir(), "cothread-copy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const start = (file: string) =>
  createServer({ port: 0, store: `sqlite:${file}`, logLevel: "silent", app: false, demoSpeed: 0 });

async function note(client: RawClient, id: string): Promise<void> {
  const messages = [{ id, role: "user", content: id }];
  expect(
    (await client.ask({ type: "submit", thread: "t", inputId: `i-${id}`, start: false, messages })).type,
  ).toBe("ack");
}

const cursorOf = ({ epoch, seq, mark }: Cursor): Cursor => ({ epoch, seq, mark });

test("[C2] [C3] a database put back from an older copy and written on: old cursors get a snapshot", async () => {
  const file = join(folder, "threads.db");
  const copy = join(folder, "older.db");
  const cursors: Cursor[] = [];

  let server = await start(file);
  let client = await RawClient.hello(server.url);
  await client.join("t");
  for (const id of ["a", "b"]) await note(client, id);
  const shared = (await client.join("t")).joined as DownFrameOf<"joined">;
  await server.close({ drainMs: 0 });
  copyFileSync(file, copy);

  server = await start(file);
  client = await RawClient.hello(server.url);
  await client.join("t");
  for (const id of ["c", "d", "e"]) {
    await note(client, id);
    cursors.push(cursorOf((await client.join("t")).joined as DownFrameOf<"joined">));
  }
  await server.close({ drainMs: 0 });

  // The operator puts the copy back; people write on, past where the old cursors stand.
  copyFileSync(copy, file);
  for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true });
  server = await start(file);
  client = await RawClient.hello(server.url);
  const before = await client.join("t", { cursor: cursors[2] });
  expect(before.joined?.recovered, "a cursor ahead of the restored log").toBe(false);
  for (const id of ["x", "y", "z", "zz"]) await note(client, id);

  for (const cursor of cursors) {
    const { joined, contents } = await client.join("t", { cursor });
    expect(joined?.recovered, `cursor at ${cursor.seq}`).toBe(false);
    expect(contents?.type === "snapshot" && contents.messages.map((m) => m.id)).toEqual([
      "a",
      "b",
      "x",
      "y",
      "z",
      "zz",
    ]);
  }
  // What both histories share is still recovered exactly.
  const { joined, contents } = await client.join("t", { cursor: cursorOf(shared) });
  expect(joined?.recovered).toBe(true);
  expect(
    contents?.type === "entries" &&
      contents.items.flatMap((e) => (e.kind === "message" ? [e.message.id] : [])),
  ).toEqual(["x", "y", "z", "zz"]);
  await server.close({ drainMs: 0 });
});

test.each([
  ["no cursor", undefined],
  ["another epoch", { epoch: "other", seq: 2, mark: "" }],
  ["ahead of the log", { seq: 1_000 }],
  ["negative", { seq: -1 }],
  ["not a whole number", { seq: 1.5 }],
  ["no number", { seq: "2" }],
  ["another mark", { mark: "AAAAAAAAAAAA" }],
  ["at zero with a mark", { seq: 0, mark: "AAAAAAAAAAAA" }],
  ["no object", "2"],
  ["null", null],
])("[C3] a cursor that is no good (%s) gets a snapshot", async (_what, change) => {
  const server = await start(join(folder, "bad-cursors.db"));
  const client = await RawClient.hello(server.url);
  await client.join("t");
  await note(client, `n${Math.random()}`);
  const good = cursorOf((await client.join("t")).joined as DownFrameOf<"joined">);
  const cursor = change && typeof change === "object" ? { ...good, ...change } : change;
  const { joined, contents } = await client.join("t", { cursor });
  expect(joined?.recovered).toBe(false);
  expect(contents?.type).toBe("snapshot");
  const again = await client.join("t", { cursor: good });
  expect(again.joined?.recovered).toBe(true);
  expect(again.contents).toMatchObject({ type: "entries", after: good.seq, seq: good.seq, items: [] });
  await server.close({ drainMs: 0 });
});

test("[C1] a cursor at the start of an empty thread recovers, and so does a second recovery", async () => {
  const server = await start(join(folder, "zero.db"));
  const client = await RawClient.hello(server.url);
  const first = cursorOf((await client.join("t")).joined as DownFrameOf<"joined">);
  expect(first).toMatchObject({ seq: 0, mark: "" });
  await note(client, "a");
  for (let n = 0; n < 2; n += 1) {
    const { joined, contents } = await client.join("t", { cursor: first });
    expect(joined?.recovered).toBe(true);
    expect(contents?.type === "entries" && contents.items.length).toBeGreaterThan(0);
  }
  await server.close({ drainMs: 0 });
});
