import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../server/store/open.ts";
import type { Store } from "../server/store/store.ts";
import type { Entry } from "../shared/protocol/index.ts";
import { FakeClock, settled } from "./kit/fake-clock.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { RawClient } from "./kit/raw-client.ts";
import { codeOf, openServer, type TestReader, TestRooms } from "./kit/server.ts";

const KEY = { tenant: "default", thread: "t" };

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "cothread-once-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const text = (id: string) => [{ id, role: "user", content: id }];
/** Requests that depend on each other, as a client would send them again after every doubt. */
const REQUESTS = {
  run: { type: "submit", inputId: "i-run", runId: "r-run", messages: text("m-run") },
  second: { type: "submit", inputId: "i-second", runId: "r-second", messages: text("m-second") },
  note: { type: "submit", inputId: "i-note", start: false, messages: text("m-note") },
  withdraw: { type: "withdraw", key: "k-withdraw", inputId: "i-second" },
  cancel: { type: "cancel", key: "k-cancel", runId: "r-run" },
  update: { type: "update", key: "k-update", title: "Launch" },
} as const;
type Name = keyof typeof REQUESTS;
const NAMES = Object.keys(REQUESTS) as Name[];

/** What each request may have done, at most once. */
const EFFECTS: Record<Name, (entry: Entry) => boolean> = {
  // [L7] `messages` stands on the first entry of an input.
  run: (e) => e.kind === "input" && e.inputId === "i-run" && e.messages !== undefined,
  second: (e) => e.kind === "input" && e.inputId === "i-second" && e.messages !== undefined,
  note: (e) => e.kind === "message" && e.message.id === "m-note",
  withdraw: (e) => e.kind === "input" && e.status === "withdrawn",
  cancel: (e) =>
    e.kind === "event" && (e.event.outcome as { type?: string } | undefined)?.type === "cancelled",
  update: (e) => e.kind === "thread" && e.title === "Launch",
};

describe("[D1] requests sent again", () => {
  type Step = { send: Name[] } | "reconnect" | "restart" | "unload";
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ send: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 5 }) }),
    },
    { weight: 1, arbitrary: fc.constantFrom("reconnect" as const, "restart" as const, "unload" as const) },
  );

  /** Sends what the schedule says and holds every answer against the first one. */
  async function play(file: string, steps: readonly Step[]): Promise<void> {
    const clock = new FakeClock();
    const first = new Map<Name, Record<string, unknown>>();
    let store: Store = await openStore(`sqlite:${file}`);
    let rooms = new TestRooms({ store, clock, idleMs: 0, agents: { planner: new PuppetAgent() } });
    await rooms.rooms.boot();
    let ana: TestReader = await rooms.join("t");
    try {
      for (const next of steps) {
        if (next === "reconnect") ana = await rooms.join("t");
        else if (next === "unload") {
          await ana.leave();
          clock.advance(1);
          await settled();
          ana = await rooms.join("t");
        } else if (next === "restart") {
          await rooms.rooms.close();
          await store.close();
          store = await openStore(`sqlite:${file}`);
          rooms = new TestRooms({ store, clock, idleMs: 0, agents: { planner: new PuppetAgent() } });
          await rooms.rooms.boot();
          ana = await rooms.join("t");
        } else {
          const reader = ana;
          const answers = await Promise.all(
            next.send.map(async (name) => ({
              name,
              answer: await reader.ask(REQUESTS[name]).catch((error: { code: string }) => error.code),
            })),
          );
          for (const { name, answer } of answers) {
            const known = first.get(name);
            if (typeof answer === "string") expect(known, `${name} was refused: ${answer}`).toBeUndefined();
            else if (known) expect(answer).toEqual({ ...known, duplicate: true });
            else {
              expect(answer).not.toHaveProperty("duplicate");
              first.set(name, answer);
            }
          }
        }
      }
      await settled();
      const log = await store.read(KEY, 0, 10_000);
      for (const name of NAMES) {
        const times = log.filter(EFFECTS[name]).length;
        expect(times, name).toBeLessThanOrEqual(1);
        if (first.has(name)) expect(times, name).toBe(1);
      }
      const messages = log.flatMap((entry) => (entry.kind === "message" ? [entry.message.id] : []));
      expect(new Set(messages).size).toBe(messages.length);
    } finally {
      await rooms.rooms.close();
      await store.close();
    }
  }

  test("one to five times each, interleaved, across reconnects, unloads and restarts: one effect", async () => {
    const path = folder();
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        n += 1;
        await play(join(path, `${n}.db`), steps);
      }),
      { numRuns: process.env.COTHREAD_SOAK ? 1_000 : 40 },
    );
  });

  test("each five times at once, after a restart, and after another", async () => {
    const file = join(folder(), "a.db");
    const five = (name: Name): Step => ({ send: Array(5).fill(name) });
    const all = (["run", "second", "note", "update", "withdraw", "cancel"] as const).map(five);
    await play(file, [...all, "restart", ...all, "restart", ...all]);
  });

  test("of two users with one key each has their own answer", async () => {
    const rooms = new TestRooms();
    const [ana, bo] = [await rooms.join("t"), await rooms.join("t", "Bo")];
    const update = (title: string) => ({ type: "update" as const, key: "k", title });
    const first = await ana.ask(update("A"));
    expect(await bo.ask(update("B"))).not.toHaveProperty("duplicate");
    expect(await ana.ask(update("A"))).toEqual({ ...first, duplicate: true });
    // [D2] the key is that of the type of request, too
    expect(await codeOf(ana.ask({ type: "cancel", key: "k", runId: "r" }))).toBe("not_running");
    expect(await codeOf(ana.ask(update("B")))).toBe("conflict");
    expect((await rooms.join("t", "Cy")).reply.catchUp).toMatchObject({ snapshot: { title: "B" } });
  });

  test("a request that was refused is no earlier answer", async () => {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ agents: { planner: puppet } });
    const ana = await rooms.join("t");
    const cancel = () => ana.ask({ type: "cancel", key: "k", runId: "r1" });
    expect(await codeOf(cancel())).toBe("not_running");
    await ana.submit("go", { runId: "r1" });
    expect(await cancel()).not.toHaveProperty("duplicate");
    expect(await cancel()).toHaveProperty("duplicate", true);
  });

  test("an answer that has left the room's memory is read from the store", async () => {
    const rooms = new TestRooms();
    const ana = await rooms.join("t");
    const note = (i: number) =>
      ana.ask({ type: "submit", inputId: `i${i}`, start: false, messages: text(`m${i}`) });
    const first = await note(0);
    for (let i = 1; i <= 2_100; i += 100)
      await Promise.all(Array.from({ length: 100 }, (_, k) => note(i + k)));
    expect(await note(0)).toEqual({ ...first, duplicate: true });
  });

  test("[S4] after 24 h an input's id is a conflict, not a second input", async () => {
    const clock = new FakeClock();
    const rooms = new TestRooms({ clock, idleMs: 1_000 });
    const ana = await rooms.join("t");
    const submit = (reader: TestReader) =>
      reader.ask({ type: "submit", inputId: "i", start: false, messages: text("m") });
    await submit(ana);
    await ana.leave();
    clock.advance(1_000);
    await settled();
    await settled();
    clock.advance(23 * 3_600_000);
    expect(await submit(await rooms.join("t"))).toHaveProperty("duplicate", true);
    await rooms.store.sweep(clock.now() + 2 * 3_600_000);
    clock.advance(2 * 3_600_000);
    const other = new TestRooms({ store: rooms.store, clock });
    expect(await codeOf(submit(await other.join("t")))).toBe("conflict");
  });
});

test("[D1] over sockets, across a server that was stopped and started again", async () => {
  const store = `sqlite:${join(folder(), "a.db")}`;
  const puppet = new PuppetAgent();
  const first = await openServer({ store, agents: { planner: puppet } });
  const before = await RawClient.hello(first.url, "Ana");
  await before.join("t");
  const ask = async (client: RawClient, name: Name) => {
    const { type: _t, ref: _r, ...fields } = await client.ask({ ...REQUESTS[name], thread: "t" });
    return fields;
  };
  const acks = new Map<Name, object>();
  for (const name of ["run", "second", "note", "update", "withdraw", "cancel"] as const)
    acks.set(name, await ask(before, name));
  expect([...acks.values()].some((ack) => "code" in ack || "duplicate" in ack)).toBe(false);
  await first.close();
  expect(await before.closed).toMatchObject({ code: 4000, bye: { reason: "The server is stopping." } });
  const second = await openServer({ store, agents: { planner: puppet } });
  const after = await RawClient.hello(second.url, "Ana");
  await after.join("t");
  for (const [name, ack] of acks) expect(await ask(after, name)).toEqual({ ...ack, duplicate: true });
});
