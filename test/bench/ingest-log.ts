import { enforceEvents, transformChunks, verifyEvents } from "@ag-ui/client";
import { type BaseEvent, EventType, type RunAgentInput } from "@ag-ui/core";
import Database from "better-sqlite3";
import { from } from "rxjs";
import { AgentRegistry } from "../../server/agents/registry.ts";
import { Rooms } from "../../server/room/rooms.ts";
import { openStore } from "../../server/store/open.ts";
import type { EncodedEntry } from "../../server/store/store.ts";
import { systemClock } from "../../shared/clock.ts";
import { compileTextPaths } from "../../shared/json-crdt/text-paths.ts";
import { Bursts } from "./bursts.ts";
import { monotonicMs } from "./monotonic.ts";
import type { PartRole } from "./part-role.ts";
import { sampleEvents } from "./sample-events.ts";

/** Everything runs in one process, one thing after the other; `file` is a new database each time. */
export type IngestStart = { file: string; events: number; eventBytes: number; burst: number };

const KEY = { tenant: "default", thread: "bench" };

/** What it costs to put an agent's events into the log, and what the database alone takes for the same. */
export const ingestLog: PartRole = () => {
  /** The entries of each commit of the last run, as text. */
  let batches: EncodedEntry[][] = [];

  return {
    /** Agent → AG-UI's checks → room → commit → told. @returns events per second */
    async run({ file, events, eventBytes, burst }: IngestStart): Promise<number> {
      const store = await openStore(`sqlite:${file}`);
      const bursts = new Bursts(burst, Number.POSITIVE_INFINITY);
      let startMs = 0;
      async function* agent({ threadId, runId }: RunAgentInput): AsyncGenerator<BaseEvent> {
        yield { type: EventType.RUN_STARTED, threadId, runId } as BaseEvent;
        await bursts.count(burst);
        startMs = monotonicMs();
        const source = sampleEvents(eventBytes);
        // Ends between two messages: nothing may be open when a run ends.
        for (let i = 0; i < events; i += 1) {
          yield source.next().value;
          const pause = bursts.count(1);
          if (pause) await pause;
        }
        yield { type: EventType.RUN_FINISHED, threadId, runId } as BaseEvent;
      }
      const rooms = new Rooms({
        texts: compileTextPaths([]),
        store,
        agents: new AgentRegistry({ agent }),
        clock: systemClock,
        limits: { message: 1_000_000, queue: 1 },
        idleMs: 60_000,
        warn,
      });
      const caller = {
        tenant: KEY.tenant,
        user: { id: "ana", name: "Ana" },
        client: "c",
        connection: "c",
        role: "editor" as const,
      };
      await rooms.join({ key: KEY, caller, cursor: null, create: true, history: 0 });
      batches = [];
      const told = new Promise<number>((resolve) =>
        rooms.listen(KEY, (broadcast) => {
          if (broadcast.kind !== "entries") return;
          const { json, after } = broadcast;
          batches.push(json.map((text, i) => ({ seq: after + 1 + i, json: text })));
          if (json.some((text) => text.includes('"RUN_FINISHED"'))) resolve(monotonicMs());
        }),
      );
      const messages = [{ id: "q", role: "user", content: "Go on." }];
      await rooms.request({
        key: KEY,
        caller,
        frame: { type: "submit", ref: 1, thread: KEY.thread, inputId: "i", messages },
      });
      const endMs = await told;
      await rooms.close();
      await store.close();
      global.gc?.();
      return events / ((endMs - startMs) / 1000);
    },

    /**
     * The least that makes an agent's events durable: AG-UI's own checks, then better-sqlite3. It puts the
     * entries of the last run into the table, so that both write the same text.
     * @returns events per second
     */
    async checked({ file, events, eventBytes, burst }: IngestStart): Promise<number> {
      const { db, commit } = bareTable(file, "entry");
      const entries = batches.flat().slice(-events);
      const bursts = new Bursts(burst, Number.POSITIVE_INFINITY);
      async function* agent(): AsyncGenerator<BaseEvent> {
        yield { type: EventType.RUN_STARTED, threadId: "t", runId: "r" } as BaseEvent;
        const source = sampleEvents(eventBytes);
        for (let i = 0; i < events; i += 1) {
          yield source.next().value;
          const pause = bursts.count(1);
          if (pause) await pause;
        }
      }
      let waiting: EncodedEntry[] = [];
      let seen = -1;
      let startMs = 0;
      await new Promise<void>((resolve, reject) => {
        const take = () => {
          seen += 1;
          if (seen === 0) startMs = monotonicMs();
          else waiting.push(entries[seen - 1] as EncodedEntry);
          if (waiting.length !== 1) return;
          setImmediate(() => {
            commit(waiting);
            waiting = [];
            if (seen === events) resolve();
          });
        };
        from(agent())
          .pipe(enforceEvents(), transformChunks(), verifyEvents())
          .subscribe({ next: take, error: reject });
      });
      const seconds = (monotonicMs() - startMs) / 1000;
      db.close();
      return events / seconds;
    },

    /** The same entries through `Store.commit` alone. @returns entries per second */
    async store({ file }: IngestStart): Promise<number> {
      const store = await openStore(`sqlite:${file}`);
      const at = Date.now();
      await store.commit([
        { key: KEY, ownerEpoch: 1, mark: "new", after: 0, entries: [], create: { epoch: "e", at } },
      ]);
      const startMs = monotonicMs();
      let after = 0;
      for (const [i, entries] of batches.entries()) {
        const [result] = await store.commit([{ key: KEY, ownerEpoch: 1, mark: `mark-${i}`, after, entries }]);
        if (!result?.ok) throw result?.error;
        after += entries.length;
      }
      const seconds = (monotonicMs() - startMs) / 1000;
      await store.close();
      return after / seconds;
    },

    /**
     * The same entries in the same transactions through better-sqlite3 alone, with the same settings of the
     * database.
     * @returns entries per second
     */
    bare({ file, rows }: IngestStart & { rows: "entry" | "batch" }): number {
      const { db, commit } = bareTable(file, rows);
      const startMs = monotonicMs();
      for (const entries of batches) commit(entries);
      const seconds = (monotonicMs() - startMs) / 1000;
      db.close();
      return batches.reduce((sum, entries) => sum + entries.length, 0) / seconds;
    },
  };
};

/** A database with the settings of ours and the cheapest table there is: rows go to the end. */
function bareTable(file: string, rows: "entry" | "batch") {
  const db = new Database(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  db.pragma("wal_autocheckpoint = 1000");
  db.pragma("cache_size = -32768");
  db.exec("CREATE TABLE log (seq INTEGER PRIMARY KEY, json TEXT NOT NULL)");
  const insert = db.prepare<[number, string]>("INSERT INTO log (seq, json) VALUES (?, ?)");
  const commit = db.transaction((entries: EncodedEntry[]) => {
    if (rows === "batch") insert.run(entries[0]?.seq ?? 0, entries.map(({ json }) => json).join("\n"));
    else for (const { seq, json } of entries) insert.run(seq, json);
  });
  return { db, commit };
}

function warn(what: string, details: object): never {
  throw new Error(`${what}: ${JSON.stringify(details)}`);
}
