import { expect, test } from "vitest";
import { logAsText } from "../server/room/read-log.ts";
import { openMemory } from "../server/store/memory.ts";
import type { Cursor, Entry, EntryOf } from "../shared/protocol/index.ts";
import { StockTail, Timeline } from "../shared/timeline/index.ts";
import { PlainState } from "../shared/timeline/plain-state.ts";
import { Follower } from "./kit/follower.ts";
import { PairedServer } from "./kit/paired-server.ts";
import { PuppetAgent, type PuppetRun } from "./kit/puppet-agent.ts";
import { scene } from "./kit/scripted-client.ts";

const KEY = { tenant: "default", thread: "t" };
const snapshot = (state: unknown) => ({ type: "STATE_SNAPSHOT", snapshot: state });
const custom = (n: number) => ({ type: "CUSTOM", name: "n", value: n });

/** Whether an entry is an agent's snapshot that changed nothing and says nothing else. */
function isIdle(entry: Entry): boolean {
  if (entry.kind !== "event" || !entry.was || entry.sent) return false;
  return (entry.event.delta as unknown[]).length === 0;
}

/** A person's client and a follower in one thread, and an agent that does what it is told. */
async function open() {
  const puppet = new PuppetAgent();
  const store = openMemory();
  const server = new PairedServer({ puppet }, store);
  const follower = new Follower(server, "t");
  follower.connect();
  const client = server.client("Ann");
  const thread = client.thread("t");
  await server.settle();
  const log = async (): Promise<Entry[]> => store.read(KEY, 0, 10_000);
  /** Has the run emit these, each in a turn of its own. */
  const emit = async (run: PuppetRun, ...events: object[]) => {
    for (const event of events) {
      run.emit(event);
      await server.settle();
    }
  };
  const begin = async () => {
    void thread.send("go");
    await server.settle();
    const run = await puppet.next();
    run.start();
    await server.settle();
    return run;
  };
  const end = async (run: PuppetRun) => {
    run.finish().end();
    await server.settle();
  };
  return { server, store, follower, thread, log, emit, begin, end, close: () => client.close() };
}

function fold(entries: readonly Entry[], onto = new Timeline()): Timeline {
  for (const entry of entries) onto.apply(entry);
  return onto;
}

/** A run that says its state again and again, as LangGraph does, with other things in between. */
async function chatter({ begin, emit, end, thread, server }: Awaited<ReturnType<typeof open>>) {
  const run = await begin();
  await emit(run, snapshot({ a: 1 }), snapshot({ a: 1 }), snapshot({ a: 1 }), custom(1), snapshot({ a: 1 }));
  await emit(run, snapshot({ a: 2 }), snapshot({ a: 2 }), snapshot({ a: 2 }));
  await emit(run, { ...snapshot({ a: 2 }), rawEvent: { step: 1 }, metadata: { of: "the framework" } });
  // In one turn with something else: the frame has the one and not the other.
  run.emit(snapshot({ a: 2 }), custom(2), snapshot({ a: 2 }));
  await server.settle();
  void thread.patch([{ op: "add", path: "/b", value: "hers" }]);
  await server.settle();
  // Something else became of it than the agent said: that is told.
  await emit(run, snapshot({ a: 2 }), snapshot({ a: 2 }));
  await end(run);
}

test("[B5] a snapshot that changed nothing is logged and not sent; the frame moves the cursor on", async () => {
  const world = await open();
  const { follower, thread, log, close } = world;
  const told: number[] = [];
  const sizes: number[] = [];
  thread.on("entries", (items) => {
    told.push(...items.map(({ seq }) => seq));
    sizes.push(items.length);
  });
  await chatter(world);
  const all = await log();
  const idle = all.filter(isIdle);
  expect(idle).toHaveLength(8);
  expect(follower.entries).toEqual(all.filter((entry) => !isIdle(entry)));
  expect(follower.entries.filter((e) => e.kind === "event" && e.sent)).toHaveLength(2);
  expect(follower.cursor?.seq).toBe(all.at(-1)?.seq);
  // The SDK's client shows what the whole log says.
  expect(told).toEqual(follower.entries.map(({ seq }) => seq));
  expect(sizes).not.toContain(0);
  const whole = fold(all);
  expect(thread.state).toEqual(whole.state);
  expect(thread.messages).toEqual(whole.list);
  expect(thread.cursor).toEqual(follower.cursor);
  close();
});

test("[B5] recovery from any cursor, that of something left out too: nothing lost, nothing twice", async () => {
  const world = await open();
  const { server, store, log, close } = world;
  await chatter(world);
  const all = await log();
  const whole = fold(all);
  const { epoch } = (await store.load(KEY)) as { epoch: string };
  let fewer = 0;
  for (const { seq } of all) {
    const cursor: Cursor = { epoch, seq, mark: (await store.mark(KEY, seq)) as string };
    const back = new Follower(server, "t");
    back.timeline = fold(all.slice(0, seq));
    back.cursor = cursor;
    back.connect(cursor);
    await server.settle();
    expect(back.joined?.recovered).toBe(true);
    expect(back.cursor).toEqual(world.follower.cursor);
    expect(back.timeline.state).toEqual(whole.state);
    expect(back.timeline.list).toEqual(whole.list);
    const missed = all.slice(seq);
    const got = new Set(back.entries.map((entry) => entry.seq));
    expect(back.entries).toEqual(missed.filter((entry) => got.has(entry.seq)));
    // Where the reader stands nothing is known of what came before: the first one may come.
    const left = missed.filter((entry) => !got.has(entry.seq));
    expect(left.every(isIdle)).toBe(true);
    expect(missed.filter(isIdle).length - left.length).toBeLessThanOrEqual(1);
    fewer += left.length;
    back.cut();
  }
  expect(fewer).toBeGreaterThan(20);
  close();
});

test("[B5] an SDK client that is cut off between them comes back to the same, and goes on", async () => {
  const world = await open();
  const { server, thread, log, emit, begin, end, close } = world;
  const seqs: number[] = [];
  thread.on("entries", (items) => seqs.push(...items.map(({ seq }) => seq)));
  const run = await begin();
  await emit(run, snapshot({ a: 1 }));
  for (const more of [[], [custom(1)], [snapshot({ a: 2 })]]) {
    // Its cursor is that of something it was not sent.
    await emit(run, snapshot(thread.state), snapshot(thread.state));
    expect(isIdle((await log()).at(-1) as Entry)).toBe(true);
    expect(thread.cursor?.seq).toBe((await log()).length);
    server.cut("Ann");
    await emit(
      run,
      snapshot(thread.state),
      ...more,
      snapshot((more[0] as { snapshot?: unknown } | undefined)?.snapshot ?? thread.state),
    );
    await server.pass(5_000);
    expect(thread.status).toBe("live");
    expect(thread.cursor?.seq).toBe((await log()).length);
  }
  await end(run);
  const all = await log();
  expect(thread.state).toEqual(fold(all).state);
  expect(thread.messages).toEqual(fold(all).list);
  expect(new Set(seqs).size).toBe(seqs.length);
  const lost = all.filter(({ seq }) => !seqs.includes(seq));
  expect(lost.length).toBeGreaterThan(6);
  expect(lost.every(isIdle)).toBe(true);
  close();
});

test("[B5] [H14] a patch names the place of what was left out, not of the last entry that came", async () => {
  const { client, server, settle } = scene();
  const log = server.thread("a");
  const thread = client.thread("a");
  await settle();
  log.event("r", { type: "RUN_STARTED", threadId: "a", runId: "r" });
  const event = { type: "STATE_DELTA", delta: [] } as never;
  const { after } = log.write({ kind: "event", run: "r", event, was: "STATE_SNAPSHOT" });
  log.tell({ after, items: [] });
  await settle();
  expect(thread.cursor).toEqual(log.cursor);
  server.intercept = ({ type }) => type === "patch";
  thread.patch([{ op: "add", path: "/n", value: 1 }]).catch(() => {});
  await settle();
  expect(server.last.got.find(({ type }) => type === "patch")).toMatchObject({ base: log.head.seq });
  client.close();
});

test("[B5] [H15] one that sets a state by plain rules right again is sent", async () => {
  const world = await open();
  const { follower, thread, server, log, emit, begin, end, close } = world;
  const first = await begin();
  await emit(first, snapshot({ a: 1 }), snapshot({ a: 1 }));
  void thread.patch([{ op: "add", path: "/b", value: "hers" }]);
  await server.settle();
  await emit(first, snapshot({ a: 2 }));
  await end(first);
  const plain = () => {
    const state = new PlainState({});
    for (const entry of follower.entries) state.apply(entry);
    return state;
  };
  expect(plain().state).toEqual({ a: 2 });
  expect(plain().merged).toEqual({ a: 2, b: "hers" });
  // The next run is given what was merged, and says so; once more is nothing new.
  const second = await begin();
  await emit(second, snapshot({ a: 2, b: "hers" }), snapshot({ a: 2, b: "hers" }));
  await end(second);
  const idle = (await log()).filter(isIdle);
  expect(idle).toHaveLength(3);
  expect(follower.entries.filter(isIdle)).toEqual([idle[1]]);
  expect(plain().state).toEqual({ a: 2, b: "hers" });
  close();
});

test("[B5] an empty delta that was no snapshot is sent, and so is an error behind the end of its run", async () => {
  const world = await open();
  const { follower, log, emit, begin, close } = world;
  const run = await begin();
  await emit(run, snapshot({ a: 1 }), snapshot({ a: 1 }));
  await emit(run, { type: "STATE_DELTA", delta: [] }, snapshot({ a: 1 }));
  run.finish();
  await emit(run, { type: "RUN_ERROR", message: "afterwards" });
  run.end();
  await world.server.settle();
  const all = await log();
  expect(all.filter(isIdle)).toHaveLength(2);
  const events = all.filter((entry) => entry.kind === "event");
  const delta = events.find(({ event, was }) => (event.type as string) === "STATE_DELTA" && !was);
  const late = events.find((entry) => entry.late);
  expect(delta).toMatchObject({ event: { delta: [] } });
  expect(late).toMatchObject({ event: { message: "afterwards" } });
  expect(follower.entries).toContainEqual(delta);
  expect(follower.entries).toContainEqual(late);
  expect(follower.entries).toEqual(all.filter((entry) => !isIdle(entry)));
  close();
});

test("[B5] what was stored and nobody was told is told in the same way", async () => {
  const world = await open();
  const { store, log, close } = world;
  await chatter(world);
  const all = await log();
  const { json, sdk } = await logAsText(store, KEY, 0, all.length);
  expect(json.map((text) => JSON.parse(text))).toEqual(all);
  expect(sdk).toEqual(world.follower.entries.map((entry) => JSON.stringify(entry)));
  close();
});

test("[B5] [P4] the stock client's view is made of the whole log: it gets every snapshot", async () => {
  const world = await open();
  await chatter(world);
  const all = await world.log();
  const tail = new StockTail("t", new Timeline());
  const states = all
    .flatMap((entry) => tail.push(entry))
    .filter(({ type }) => (type as string) === "STATE_SNAPSHOT")
    .map((event) => event.snapshot);
  const said = all.filter((entry) => (entry as EntryOf<"event">).was);
  expect(said.length).toBeGreaterThan(10);
  expect(states).toHaveLength(said.length);
  expect(states.slice(0, 3)).toEqual([{ a: 1 }, { a: 1 }, { a: 1 }]);
  world.close();
});
