import { setImmediate as turn } from "node:timers/promises";
import * as Y from "yjs";
import { AgentRegistry } from "../../server/agents/registry.ts";
import type { Caller } from "../../server/room/port.ts";
import { Rooms } from "../../server/room/rooms.ts";
import { openStore } from "../../server/store/open.ts";
import type { ThreadKey } from "../../server/store/store.ts";
import { systemClock } from "../../shared/clock.ts";
import { compileTextPaths } from "../../shared/json-crdt/text-paths.ts";
import { stateOf } from "../../shared/json-crdt/y-json.ts";
import { againstBound, type Line } from "./line.ts";
import { SHAPES } from "./peer-updates.ts";
import type { Bench } from "./runner.ts";
import { withTempFolder } from "./temp-folder.ts";

const KEY: ThreadKey = { tenant: "default", thread: "t" };
const USER = { id: "guest:eve", name: "Eve" };
const CALLER: Caller = { tenant: "default", user: USER, client: "eve", connection: "c1", role: "editor" };
/** Runs before those that count: a server has compiled what it does by the time somebody attacks it. */
const WARM_UPS = 4;

/**
 * How long one update of a Yjs peer keeps the event loop from everybody else: from the bytes to the commit in SQLite,
 * refused ones too. The longest turn counts, and how much processor time all of it takes is told.
 */
export const hostile: Bench = async (run) => {
  const lines: Line[] = [];
  await withTempFolder(async (folder) => {
    for (const [n, { name, make }] of SHAPES.entries()) {
      const { document, update } = make(run.quick ? 0.02 : 1);
      const longest: number[] = [];
      for (let i = 1; i <= WARM_UPS + run.runs; i += 1) {
        const found = await measure(`sqlite:${folder}/${n}-${i}.db`, document, update);
        if (i <= WARM_UPS) continue;
        longest.push(found.longest);
        const [block, cpu] = [found.longest, found.cpu].map(Math.round);
        run.say(
          `${name}, run ${i - WARM_UPS} of ${run.runs}: ${block} ms, ${cpu} ms of processor (${found.kind})`,
        );
      }
      lines.push(againstBound({ bench: "hostile", case: name, unit: "ms", values: longest, atMost: 50 }));
    }
  });
  return lines;
};

/** @returns the longest turn and the processor time, ms, and what the room answered */
async function measure(url: string, document: Uint8Array | null, update: Uint8Array) {
  const store = await openStore(url);
  const rooms = new Rooms({
    store,
    agents: new AgentRegistry({}),
    clock: systemClock,
    limits: { message: 1_000_000, queue: 100 },
    texts: compileTextPaths(["/document"]),
    idleMs: 60_000,
    warn: (what) => {
      throw new Error(what);
    },
  });
  try {
    if (document) await store.commit([batchOf(document)]);
    await rooms.join({ key: KEY, caller: CALLER, cursor: undefined, create: true, history: 1 });
    // The document is read with the first message about it.
    await rooms.docSync({ key: KEY, vector: new Uint8Array([0]) });
    const watch = startWatch();
    const cpu = process.cpuUsage();
    const { kind } = await rooms.docUpdate({ key: KEY, caller: CALLER, update, via: "doc" });
    // What all are told is made in turns behind the answer.
    for (let i = 0; i < 3; i += 1) await turn();
    const { user, system } = process.cpuUsage(cpu);
    return { longest: watch(), cpu: (user + system) / 1_000, kind };
  } finally {
    await rooms.close();
    await store.close();
  }
}

/** A thread with nothing but a document, and what it says in its log. */
function batchOf(document: Uint8Array) {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, document);
  const patch = [{ op: "replace", path: "", value: stateOf(doc) }];
  const entry = { seq: 1, at: 1, kind: "state", run: null, patch, via: "patch" };
  return {
    key: KEY,
    ownerEpoch: 1,
    mark: "m1",
    after: 0,
    create: { epoch: "e", at: 1 },
    entries: [{ seq: 1, json: JSON.stringify(entry) }],
    state: { updates: [document], changes: [], agents: [] },
  };
}

/** Watches the turns of the event loop. @returns what ends it, and gives the longest one, ms */
function startWatch(): () => number {
  let longest = 0;
  let last = performance.now();
  let next: NodeJS.Immediate;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    next = setImmediate(look);
  };
  next = setImmediate(look);
  return () => {
    clearImmediate(next);
    return longest;
  };
}
