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
  const pairs = {
    run: [] as Pair[],
    runChecked: [] as Pair[],
    store: [] as Pair[],
    storeByBatch: [] as Pair[],
  };
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
      await measure("checked");
      await measure("store");
      await measure("bare", { rows: "entry" });
      await measure("bare", { rows: "batch" });
      for (let i = 1; i <= run.runs; i += 1) {
        const whole = await measure("run");
        const bare = await measure("bare", { rows: "entry" });
        const checked = await measure("checked");
        const store = await measure("store");
        const byBatch = await measure("bare", { rows: "batch" });
        pairs.run.push({ ours: whole, theirs: bare });
        pairs.runChecked.push({ ours: whole, theirs: checked });
        pairs.store.push({ ours: store, theirs: bare });
        pairs.storeByBatch.push({ ours: store, theirs: byBatch });
        const figures = [whole, store, bare, byBatch, checked].map(Math.round).join(", ");
        run.say(
          `run ${i} of ${run.runs}: ${figures} entries/s (agent to log, store alone, bare, bare by commit, checks and bare)`,
        );
      }
    }),
  );
  const path = "agent → AG-UI checks → room → commit, 20 events a commit";
  const alone = "Store.commit alone, 20 entries a commit";
  const byEntry = "better-sqlite3, a row per entry";
  const line = (name: string, unit: string, peer: string, of: Pair[], bound?: Bound): Line =>
    besidePeer({
      bench: "ingest",
      case: name,
      unit,
      peer,
      pairs: of,
      better: "higher",
      ...(bound && { bound }),
    });
  return [
    line(path, "events/s", byEntry, pairs.run, { atLeast: 0.5 }),
    line(path, "events/s", `the same AG-UI checks and ${byEntry}`, pairs.runChecked),
    line(alone, "entries/s", byEntry, pairs.store, { atLeast: 0.5 }),
    line(alone, "entries/s", "better-sqlite3, a row per commit", pairs.storeByBatch),
  ];
};
