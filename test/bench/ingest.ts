import { type Bound, besidePeer, type Line } from "./line.ts";
import { withParts } from "./part-process.ts";
import type { Bench } from "./runner.ts";
import type { Pair } from "./statistics.ts";
import { withTempFolder } from "./temp-folder.ts";

const EVENT_BYTES = 200;
/** Events the agent makes per turn of the event loop: the entries of one commit. */
const BURST = 20;
/** 52 events are one message, so that nothing is open at the end. */
const MESSAGES = 800;

/**
 * Durable ingest: events of one streaming agent per second, each committed to SQLite before anybody is told,
 * beside better-sqlite3 that inserts the same JSON in the same transactions.
 */
export const ingest: Bench = async (run) => {
  const events = 52 * (run.quick ? 40 : MESSAGES);
  const cases = { run: [], room: [], store: [], storeByBatch: [] } as Record<
    "run" | "room" | "store" | "storeByBatch",
    Pair[]
  >;
  await withTempFolder((folder) =>
    withParts(async (start) => {
      const part = await start("ingest-log", run.profile);
      let files = 0;
      const measure = (call: string, more: object = {}) => {
        files += 1;
        const file = `${folder}/${files}.db`;
        return part.call<number>(call, { file, events, eventBytes: EVENT_BYTES, burst: BURST, ...more });
      };
      run.say("warming up");
      await measure("run");
      await measure("room");
      await measure("store");
      await measure("bare", { rows: "entry" });
      await measure("bare", { rows: "batch" });
      for (let i = 1; i <= run.runs; i += 1) {
        const whole = await measure("run");
        const bare = await measure("bare", { rows: "entry" });
        const room = await measure("room");
        const store = await measure("store");
        const byBatch = await measure("bare", { rows: "batch" });
        cases.run.push({ ours: whole, theirs: bare });
        cases.room.push({ ours: room, theirs: bare });
        cases.store.push({ ours: store, theirs: bare });
        cases.storeByBatch.push({ ours: store, theirs: byBatch });
        run.say(
          `run ${i} of ${run.runs}: ${[whole, room, store, bare, byBatch].map(Math.round).join(", ")} entries/s (agent to log, room to log, store, bare by entry, bare by commit)`,
        );
      }
    }),
  );
  const byEntry = "better-sqlite3, a row per entry";
  const line = (name: string, unit: string, peer: string, pairs: Pair[], bound?: Bound): Line =>
    besidePeer({ bench: "ingest", case: name, unit, peer, pairs, better: "higher", ...(bound && { bound }) });
  return [
    line("agent → checks → room → commit, 20 events a commit", "events/s", byEntry, cases.run, {
      atLeast: 0.5,
    }),
    line("checked events → room → commit, 20 events a commit", "events/s", byEntry, cases.room, {
      atLeast: 0.5,
    }),
    line("Store.commit alone, 20 entries a commit", "entries/s", byEntry, cases.store, { atLeast: 0.5 }),
    line(
      "Store.commit alone, 20 entries a commit",
      "entries/s",
      "better-sqlite3, a row per commit",
      cases.storeByBatch,
    ),
  ];
};
