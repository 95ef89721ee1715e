import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { Database } from "better-sqlite3";

/** Calls of `Store.commit` between two checkpoints: about a thousand pages (of 4 KiB) when threads stream. */
const COMMITS = 50;
/** Pages in the log at which SQLite copies them itself, within a commit: the worker does not keep up. */
const PAGES_AT_MOST = 2_500;
/** The same when there is no worker. */
const PAGES_ALONE = 1_000;
const ADDON = createRequire(import.meta.url).resolve("better-sqlite3");

/** Copies the write-ahead log back into the database while commits go on. */
export type Checkpoints = {
  /** To be called after each `Store.commit`. */
  committed(): void;
  /** Ends the worker, if there is one; the last connection that closes copies what is left. */
  close(): Promise<void>;
};

/**
 * Copying the write-ahead log back into the database takes tens of milliseconds, most of it waiting for the
 * disk. SQLite does it inside the commit that fills the log, where every thread of the server waits; here a
 * worker thread does it, on a connection of its own. Commits go on meanwhile: a passive checkpoint blocks no
 * writer. The worker starts with the first need; when it cannot, SQLite's own way stays.
 *
 * @param db the connection that commits; its `wal_autocheckpoint` is set here
 * @param file path of the database, with links resolved
 * @param addon path of better-sqlite3, which the worker loads
 */
export function checkpointsAside(db: Database, file: string, addon = ADDON): Checkpoints {
  let worker: Worker | undefined;
  let commits = 0;
  let isBusy = false;
  let isAlone = false;
  const copyWithin = (pages: number) => db.pragma(`wal_autocheckpoint = ${pages}`);
  copyWithin(PAGES_AT_MOST);

  function start(): Worker {
    // As text: a worker cannot load TypeScript, from which the tests and `tsx` run the server.
    const started = new Worker(`(${work.toString()})(require)`, { eval: true, workerData: { addon, file } });
    started.unref();
    started.on("message", () => {
      isBusy = false;
    });
    started.on("error", () => {
      worker = undefined;
      isAlone = true;
      if (db.open) copyWithin(PAGES_ALONE);
    });
    return started;
  }

  return {
    committed() {
      commits += 1;
      if (commits < COMMITS || isBusy || isAlone) return;
      commits = 0;
      isBusy = true;
      worker ??= start();
      worker.postMessage("checkpoint");
    },
    async close() {
      const ending = worker;
      worker = undefined;
      isAlone = true;
      if (!ending) return;
      const ended = new Promise((resolve) => ending.once("exit", resolve));
      // It keeps no process alive, but for its last work.
      ending.ref();
      ending.postMessage("close");
      await ended;
    },
  };
}

/** What the worker does. It sees nothing of this file but its argument. */
function work(require: NodeJS.Require): void {
  const { parentPort, workerData } = require("node:worker_threads") as typeof import("node:worker_threads");
  const { addon, file } = workerData as { addon: string; file: string };
  const db = new (require(addon) as typeof import("better-sqlite3"))(file, { fileMustExist: true });
  // The log starts over only when all of it was copied, and commits lengthen it meanwhile: the second time
  // there is little left to copy, and likely nothing comes in between.
  const attempts = 10;
  parentPort?.on("message", (request: "checkpoint" | "close") => {
    if (request === "close") {
      db.close();
      parentPort?.close();
      return;
    }
    for (let i = 0; i < attempts; i += 1) {
      const [was] = db.pragma("wal_checkpoint(PASSIVE)") as {
        busy: number;
        log: number;
        checkpointed: number;
      }[];
      if (!was || was.busy || was.log === was.checkpointed) break;
    }
    parentPort?.postMessage("done");
  });
}
