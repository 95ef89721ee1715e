import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../server/store/open.ts";
import {
  patch as change,
  interrupt,
  langgraphLike,
  type ScriptRun,
  say,
  set,
  wait,
} from "../server/testing/index.ts";
import type { Entry, EntryOf, Json, JsonPatch } from "../shared/protocol/index.ts";
import { fromSnapshot } from "../shared/timeline/index.ts";
import { settled } from "./kit/fake-clock.ts";
import { MoodyStore } from "./kit/moody-store.ts";
import { PuppetAgent, type PuppetRun } from "./kit/puppet-agent.ts";
import { RawClient } from "./kit/raw-client.ts";
import { codeOf, openServer, type TestReader, TestRooms } from "./kit/server.ts";

const item = (id: string, more: object = {}) => ({ id, title: id, done: false, ...more });
const items = (...ids: string[]) => ids.map((id) => item(id));
const snapshot = (state: unknown) => ({ type: "STATE_SNAPSHOT", snapshot: state });
const delta = (...patch: JsonPatch) => ({ type: "STATE_DELTA", delta: patch });

/** What somebody who comes now sees. */
async function stateNow(rooms: TestRooms, thread = "t"): Promise<Json> {
  const reader = await rooms.join(thread, "Late");
  const { catchUp } = reader.reply;
  await reader.leave();
  if (catchUp.kind !== "snapshot") throw new Error("not a snapshot");
  return catchUp.snapshot.state as Json;
}

/** The state that a reader has who got the snapshot of its join and every entry since. */
function stateOf({ reply, entries }: TestReader): Json {
  if (reply.catchUp.kind !== "snapshot") throw new Error("not a snapshot");
  const timeline = fromSnapshot(reply.catchUp.snapshot);
  for (const entry of entries) timeline.apply(entry);
  return timeline.state;
}

const seqOf = ({ entries, reply }: TestReader) => entries.at(-1)?.seq ?? reply.seq;
let keys = 0;
function patch(reader: TestReader, ops: JsonPatch, base = seqOf(reader)) {
  keys += 1;
  return reader.ask({ type: "patch", key: `k${keys}`, base, patch: ops });
}

function ask(reader: TestReader, runId: string, more: object = {}) {
  const message = { id: `q-${runId}`, role: "user", content: "go" };
  return reader.submit("", { runId, inputId: `i-${runId}`, messages: [message], ...more });
}

/** Has the agent do a run that does nothing but emit these, up to its end. */
async function go(reader: TestReader, puppet: PuppetAgent, runId: string, ...events: object[]) {
  await ask(reader, runId);
  const run = await puppet.next();
  run
    .start(...events)
    .finish()
    .end();
  await reader.terminal(runId);
  return run;
}

/** A run that has begun, and goes on. */
async function begin(reader: TestReader, puppet: PuppetAgent, runId: string): Promise<PuppetRun> {
  await ask(reader, runId);
  const run = await puppet.next();
  run.start();
  await reader.entry((e) => e.kind === "event" && e.run === runId && e.event.type === "RUN_STARTED");
  return run;
}

async function end(reader: TestReader, run: PuppetRun) {
  run.finish().end();
  await reader.terminal(run.input.runId);
  await settled();
}

function sqliteFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "cothread-state-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "state.db");
}

test("[H2] [H10] a person's patch while a run is under way: each means what it saw, and has its author", async () => {
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: puppet } });
  const [ana, bo] = [await rooms.join("t"), await rooms.join("t", "Bo")];
  await go(ana, puppet, "r1", snapshot({ items: items("a", "b", "c", "d") }));
  const run = await begin(ana, puppet, "r2");
  expect(run.input.state).toEqual({ items: items("a", "b", "c", "d") });
  const base = seqOf(bo);
  await patch(bo, [{ op: "add", path: "/items/0", value: item("new") }]);
  run.emit(delta({ op: "replace", path: "/items/3/title", value: "D" }));
  await ana.entry((e) => JSON.stringify(e).includes('"D"'));
  // Made for what Bo had before: the ack says where it went.
  expect(await patch(ana, [{ op: "replace", path: "/items/1/title", value: "B" }], base)).toMatchObject({
    patch: [{ op: "replace", path: "/items/2/title", value: "B" }],
  });
  await end(ana, run);
  const after = {
    items: [item("new"), item("a"), item("b", { title: "B" }), item("c"), item("d", { title: "D" })],
  };
  for (const reader of [ana, bo]) expect(stateOf(reader)).toEqual(after);
  expect(await stateNow(rooms)).toEqual(after);
  const states = bo.entries.filter((e): e is EntryOf<"state"> & Entry => e.kind === "state");
  expect(states.map(({ by, via, run: of }) => ({ by, via, of }))).toEqual([
    { by: { kind: "user", id: "guest:bo", name: "Bo" }, via: "patch", of: null },
    { by: { kind: "user", id: "guest:ana", name: "Ana" }, via: "patch", of: null },
  ]);
  const own = bo.entries.find((e) => JSON.stringify(e).includes('"D"'));
  expect(own).toMatchObject({
    run: "r2",
    event: { type: "STATE_DELTA", delta: [{ op: "replace", path: "/items/4/title", value: "D" }] },
  });
  expect(own).not.toHaveProperty("by");
  expect(rooms.warnings).toEqual([]);
});

test("[H14] a patch whose target is gone is refused as stale, and changes nothing for anybody", async () => {
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: puppet } });
  const [ana, bo] = [await rooms.join("t"), await rooms.join("t", "Bo")];
  await go(ana, puppet, "r1", snapshot({ items: items("a", "b") }));
  await settled();
  const base = seqOf(bo);
  await patch(ana, [{ op: "remove", path: "/items/0" }]);
  await settled();
  const seen = bo.entries.length;
  expect(await codeOf(patch(bo, [{ op: "replace", path: "/items/0/title", value: "A" }], base))).toBe(
    "stale",
  );
  expect(await codeOf(patch(bo, [{ op: "replace", path: "/nothing/0", value: 1 }]))).toBe("bad_message");
  await settled();
  expect(bo.entries.slice(seen)).toEqual([]);
  expect(await stateNow(rooms)).toEqual({ items: items("b") });
});

test("[H8] a text that a person and an agent change at once: both stand, and entries are edits", async () => {
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: puppet } });
  const ana = await rooms.join("t");
  await go(ana, puppet, "r1", snapshot({ document: "One.\n\nTwo.\n" }));
  const run = await begin(ana, puppet, "r2");
  await patch(ana, [{ op: "replace", path: "/document", value: "One and a half.\n\nTwo.\n" }]);
  run.emit(delta({ op: "replace", path: "/document", value: "One.\n\nTwo and three.\n" }));
  await end(ana, run);
  const document = "One and a half.\n\nTwo and three.\n";
  expect(stateOf(ana)).toEqual({ document });
  expect(await stateNow(rooms)).toEqual({ document });
  const edits = ana.entries.filter((e): e is EntryOf<"text"> & Entry => e.kind === "text");
  expect(edits.map(({ run: of, path, by }) => ({ of, path, by: by?.kind }))).toEqual([
    { of: null, path: "/document", by: "user" },
    { of: "r2", path: "/document", by: undefined },
  ]);
  expect(JSON.stringify(edits)).not.toContain("Two.");
});

test("[H9] revert takes a run's changes back but for what others have touched, and names it", async () => {
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: puppet } });
  const ana = await rooms.join("t");
  await go(ana, puppet, "r1", snapshot({ items: items("a"), step: 0, title: "old" }));
  await go(
    ana,
    puppet,
    "r2",
    delta({ op: "add", path: "/items/-", value: item("b") }, { op: "replace", path: "/step", value: 1 }),
    delta({ op: "replace", path: "/title", value: "new" }),
  );
  await settled();
  await patch(ana, [{ op: "replace", path: "/title", value: "Ana's" }]);
  expect(await ana.ask({ type: "revert", key: "undo", runId: "r2" })).toMatchObject({ skipped: ["/title"] });
  await settled();
  expect(stateOf(ana)).toEqual({ items: items("a"), step: 0, title: "Ana's" });
  expect(await stateNow(rooms)).toEqual(stateOf(ana));
  expect(ana.entries.at(-1)).toMatchObject({
    kind: "state",
    via: "revert",
    reverts: "r2",
    by: { id: "guest:ana" },
  });
});

const messages = [{ id: "1", type: "human", content: "hi", additional_kwargs: {} }];

test.each([
  ["unload", false],
  ["a restart on SQLite", true],
])("[H6] [H7] [H9] document, undo and what is known of agents after %s", async (_how, restarts) => {
  const puppet = new PuppetAgent();
  const agents = { planner: puppet };
  const file = restarts ? sqliteFile() : "";
  let rooms = new TestRooms({
    agents,
    idleMs: 0,
    ...(restarts && { store: await openStore(`sqlite:${file}`) }),
  });
  const again = async (reader: TestReader) => {
    await reader.leave();
    rooms.clock.advance(1);
    await settled();
    if (restarts) {
      await rooms.rooms.close();
      await rooms.store.close();
      rooms = new TestRooms({ agents, store: await openStore(`sqlite:${file}`) });
      const { store } = rooms;
      onTestFinished(() => store.close());
    }
    return rooms.join("t");
  };
  let ana = await rooms.join("t");
  await go(ana, puppet, "r1", snapshot({ items: items("a"), step: 1, document: "Text", messages }));
  expect(stateOf(ana)).toEqual({ items: items("a"), step: 1, document: "Text" });
  ana = await again(ana);
  await patch(ana, [{ op: "add", path: "/notes", value: ["Ana's"] }]);
  await patch(ana, [{ op: "add", path: "/items/0", value: item("hers") }]);
  await patch(ana, [{ op: "replace", path: "/document", value: "Text, longer" }]);
  ana = await again(ana);
  const state = { items: items("hers", "a"), step: 1, document: "Text, longer", notes: ["Ana's"] };
  expect(await stateNow(rooms)).toEqual(state);
  // Its first word is its checkpoint from before, which says nothing new; then a key it never knew is left out.
  const run = await go(
    ana,
    puppet,
    "r2",
    snapshot({ items: items("a"), step: 1, document: "Text", messages }),
    snapshot({ items: items("hers", "a", "b"), step: 2, document: "Text, longer", messages }),
  );
  expect(run.input.state).toEqual({ ...state, messages });
  expect(await stateNow(rooms)).toEqual({ ...state, items: items("hers", "a", "b"), step: 2 });
  ana = await again(ana);
  expect(await ana.ask({ type: "revert", key: "undo", runId: "r2" })).toMatchObject({ skipped: [] });
  expect(await stateNow(rooms)).toEqual(state);
  const entries = await rooms.store.read({ tenant: "default", thread: "t" }, 0, 1_000);
  expect(JSON.stringify(entries)).not.toContain("additional_kwargs");
  expect(rooms.warnings).toEqual([]);
});

test("[H11] a commit that fails leaves document, log and run as the store has them", async () => {
  const moody = new MoodyStore();
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ store: moody.store, agents: { planner: puppet } });
  const ana = await rooms.join("t");
  await go(ana, puppet, "r1", snapshot({ items: items("a"), document: "Text" }));
  await settled();
  moody.moods = ["failed"];
  const before = ana.entries.length;
  expect(await codeOf(patch(ana, [{ op: "replace", path: "/document", value: "Lost" }]))).toBe(
    "store_failed",
  );
  expect(ana.entries).toHaveLength(before);
  expect(await stateNow(rooms)).toEqual({ items: items("a"), document: "Text" });
  const run = await begin(ana, puppet, "r2");
  moody.moods = ["failed"];
  run.emit(delta({ op: "remove", path: "/items/0" }));
  await ana.terminal("r2");
  expect(await stateNow(rooms)).toEqual({ items: items("a"), document: "Text" });
  // What follows goes into the document as it is stored, not as it was in memory.
  await patch(ana, [{ op: "add", path: "/items/-", value: item("b") }]);
  await patch(ana, [{ op: "replace", path: "/document", value: "Text, longer" }]);
  await settled();
  expect(stateOf(ana)).toEqual({ items: items("a", "b"), document: "Text, longer" });
  expect(await stateNow(rooms)).toEqual(stateOf(ana));
});

test("[H7] with privateState [] all of an agent's state is everybody's", async () => {
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: { agent: puppet, privateState: [] } } });
  const ana = await rooms.join("t");
  await go(ana, puppet, "r1", snapshot({ messages, copilotkit: { actions: [] } }));
  expect(await stateNow(rooms)).toEqual({ messages, copilotkit: { actions: [] } });
});

test("[H7] what is private is not in what a framework adds to its events either", async () => {
  const puppet = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: puppet } });
  const ana = await rooms.join("t");
  const rawEvent = { data: { output: { messages } } };
  await go(ana, puppet, "r1", { ...snapshot({ messages, step: 1 }), rawEvent });
  await go(ana, puppet, "r2", { ...delta({ op: "replace", path: "/step", value: 2 }), rawEvent });
  expect(JSON.stringify(ana.entries)).not.toContain("additional_kwargs");
  const open = new TestRooms({ agents: { planner: puppet } });
  const bo = await open.join("t", "Bo");
  await go(bo, puppet, "r1", { ...snapshot({ step: 1 }), rawEvent: { of: "step 1" } });
  expect(JSON.stringify(bo.entries)).toContain('"of":"step 1"');
});

test("[H7] privateState names parts of any depth; a pointer that is not there hides nothing", async () => {
  const puppet = new PuppetAgent();
  const privateState = ["/plan/scratch", "/nothing"];
  const rooms = new TestRooms({ agents: { planner: { agent: puppet, privateState } } });
  const ana = await rooms.join("t");
  await go(ana, puppet, "r1", snapshot({ plan: { steps: [1], scratch: "secret" }, messages }));
  expect(await stateNow(rooms)).toEqual({ plan: { steps: [1] }, messages });
  const run = await go(ana, puppet, "r2", delta({ op: "replace", path: "/plan/scratch", value: "hush" }));
  expect(run.input.state).toEqual({ plan: { steps: [1], scratch: "secret" }, messages });
  expect(JSON.stringify(ana.entries)).not.toMatch(/secret|hush/);
});

test("[H6] stateBase says what an agent's states build on: what it was given, or what it said last", async () => {
  const after: Record<string, Json> = {};
  for (const stateBase of ["input", "own"] as const) {
    const puppet = new PuppetAgent();
    const rooms = new TestRooms({ agents: { planner: { agent: puppet, stateBase } } });
    const ana = await rooms.join("t");
    await go(ana, puppet, "r1", snapshot({ items: items("a") }));
    await patch(ana, [{ op: "add", path: "/items/-", value: item("hers") }]);
    await go(ana, puppet, "r2", snapshot({ items: items("a", "b") }));
    after[stateBase] = await stateNow(rooms);
  }
  expect(after.input).toEqual({ items: items("a", "b") });
  const kept = (after.own as { items: { id: string }[] }).items.map(({ id }) => id);
  expect(kept.toSorted()).toEqual(["a", "b", "hers"]);
});

type Item = ReturnType<typeof item>;

/** A planner: it asks about its first plan, goes on with it, and then only counts. */
function* planning({ n, state }: ScriptRun, until: PromiseLike<unknown>) {
  if (n === 1) {
    yield set({ items: items("a", "b", "d"), step: 1 });
    yield interrupt("approval", "Is this the plan?");
  }
  const plan = state.items as Item[];
  if (n === 2) {
    yield say("Going on.");
    yield set({ items: [...plan.map((one) => (one.id === "b" ? { ...one, done: true } : one)), item("c")] });
    yield wait(until);
    yield change({ op: "replace", path: "/step", value: 2 });
  }
  if (n === 3) yield set({ step: 3 });
}

test.each([
  ["reads what it is given", {}],
  ["drops input.state when it resumes", { ignoresStateOnResume: true }],
  ["drops keys it does not know", { dropsUnknownKeys: ["items", "step"] }],
  ["emits its checkpoint before it looks", { emitsBeforeMerging: true }],
  [
    "does all of it",
    { ignoresStateOnResume: true, dropsUnknownKeys: ["items", "step"], emitsBeforeMerging: true },
  ],
  ["remembers nothing", { remembers: false }],
])(
  "[H6] an agent that %s loses nothing of what people do before and under its run",
  async (_name, manners) => {
    let goOn = () => {};
    const until = new Promise<void>((resolve) => (goOn = resolve));
    // Without a memory it cannot count its runs itself.
    let runs = 0;
    const planner = langgraphLike({
      ...manners,
      script: (run) => {
        runs += 1;
        return planning({ ...run, n: runs }, until);
      },
    });
    const rooms = new TestRooms({ agents: { planner } });
    const ana = await rooms.join("t");
    await ask(ana, "r1");
    await ana.terminal("r1");
    await settled();
    expect(stateOf(ana)).toEqual({ items: items("a", "b", "d"), step: 1 });
    await patch(ana, [
      { op: "replace", path: "/items/1/title", value: "Ana's" },
      { op: "add", path: "/items/0", value: item("hers") },
      { op: "remove", path: "/items/1" },
      { op: "add", path: "/notes", value: ["Ana's"] },
    ]);
    await ask(ana, "r2", { interrupts: "cancel" });
    await ana.entry((e) => JSON.stringify(e).includes('"c"'));
    await settled();
    const at = (stateOf(ana) as { items: Item[] }).items.findIndex(({ id }) => id === "d");
    await patch(ana, [
      { op: "replace", path: `/items/${at}/title`, value: "hers too" },
      { op: "replace", path: "/notes/0", value: "later" },
    ]);
    goOn();
    await ana.terminal("r2");
    await settled();
    const after = {
      items: [
        item("hers"),
        item("b", { title: "Ana's", done: true }),
        item("d", { title: "hers too" }),
        item("c"),
      ],
      step: 2,
      notes: ["later"],
    };
    expect(stateOf(ana)).toEqual(after);
    await ask(ana, "r3");
    await ana.terminal("r3");
    expect(stateOf(ana)).toEqual({ ...after, step: 3 });
    expect(await stateNow(rooms)).toEqual(stateOf(ana));
    expect(JSON.stringify(ana.entries)).not.toContain("additional_kwargs");
    expect(rooms.warnings).toEqual([]);
  },
);

test("[H2] [H8] [H14] over real sockets, with text fields where the server was told", async () => {
  const puppet = new PuppetAgent();
  const server = await openServer({ agents: { planner: puppet }, text: ["/pages/*/body"] });
  const [ana, bo] = await Promise.all(["Ana", "Bo"].map((name) => RawClient.hello(server.url, name)));
  if (!ana || !bo) throw new Error("nobody is here");
  for (const raw of [ana, bo]) await raw.join("t");
  const submit = { type: "submit", thread: "t", inputId: "i1", runId: "r1" };
  await ana.ask({ ...submit, messages: [{ id: "q", role: "user", content: "go" }] });
  const run = await puppet.next();
  const pages = [
    { id: "p1", body: "One." },
    { id: "p2", body: "Two." },
  ];
  run.start(snapshot({ pages, document: "Plain" }));
  const { seq: base } = await bo.entry((e) => e.kind === "event" && e.was === "STATE_SNAPSHOT");
  const frame = { type: "patch", thread: "t", base };
  const first = { key: "a", patch: [{ op: "remove", path: "/pages/0" }] };
  expect(await bo.ask({ ...frame, ...first })).toMatchObject({ type: "ack", patch: first.patch });
  // Sent for what was there before; again under the same key it is the same answer.
  const second = {
    ...frame,
    key: "b",
    patch: [{ op: "replace", path: "/pages/1/body", value: "Two, hers." }],
  };
  const moved = [{ op: "replace", path: "/pages/0/body", value: "Two, hers." }];
  expect(await ana.ask(second)).toMatchObject({ type: "ack", patch: moved });
  expect(await ana.ask(second)).toMatchObject({ type: "ack", patch: moved, duplicate: true });
  const third = { ...frame, key: "c", patch: [{ op: "replace", path: "/pages/0/body", value: "Gone" }] };
  expect(await ana.ask(third)).toMatchObject({ type: "reject", code: "stale", retry: false });
  run
    .emit(delta({ op: "replace", path: "/pages/1/body", value: "Two. And three." }))
    .finish()
    .end();
  await bo.entry((e) => e.kind === "event" && e.event.type === "RUN_FINISHED");
  const late = await RawClient.hello(server.url, "Late");
  const { contents } = await late.join("t");
  expect(contents).toMatchObject({
    state: { pages: [{ id: "p2", body: "Two, hers. And three." }], document: "Plain" },
  });
  const undone = await bo.ask({ type: "revert", key: "d", thread: "t", runId: "r1" });
  expect(undone).toMatchObject({ type: "ack", skipped: expect.any(Array) });
  for (const raw of [ana, bo, late]) raw.close();
});
