import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import WebSocket from "ws";
import { openDoc } from "../client/doc/index.ts";
import { createClient } from "../client/index.ts";
import { FakeClock } from "./kit/fake-clock.ts";
import { type ServerProcess, startServer } from "./kit/server-process.ts";

test("[Y1] a day without a server: what was typed is merged with what others typed, and nothing is lost", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cothread-offline-"));
  const store = ["--store", `sqlite:${join(folder, "t.db")}`];
  let server: ServerProcess = await startServer(store);
  const port = Number(new URL(server.url).port);
  const clock = new FakeClock();
  const make = (name: string, more: object = {}) =>
    createClient({ url: server.url, user: { id: name, name }, WebSocket, ...more });
  const traveller = make("ana", { clock });
  const doc = openDoc(traveller.thread("t"));
  onTestFinished(async () => {
    doc.close();
    traveller.close();
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await doc.ready;
  doc.draft.insert(0, "one two");
  await vi.waitFor(() => expect(doc.unsaved).toBe(false));

  await server.kill();
  await vi.waitFor(() => expect(doc.synced).toBe(false));
  for (let hour = 0; hour < 24; hour += 1) {
    doc.draft.insert(doc.draft.length, ` ${hour}`);
    clock.advance(3_600_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(doc.unsaved).toBe(true);

  // Somebody else was there first when the server came back.
  server = await startServer(store, port);
  const other = make("ben");
  const there = openDoc(other.thread("t"));
  await there.ready;
  expect(there.draft.toString()).toBe("one two");
  there.draft.insert(0, "zero ");
  const whole = `zero one two ${Array.from({ length: 24 }, (_, hour) => hour).join(" ")}`;
  await vi.waitFor(
    () => {
      // The next try of the one who was away, whenever its clock says so.
      clock.advance(60_000);
      expect(there.draft.toString()).toBe(whole);
    },
    { timeout: 15_000, interval: 100 },
  );
  await vi.waitFor(() => expect([doc.draft.toString(), doc.unsaved]).toEqual([whole, false]));
  there.close();
  other.close();
}, 60_000);
