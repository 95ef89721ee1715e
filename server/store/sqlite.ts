import { setImmediate } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { checkpointsAside } from "./sqlite-checkpoints.ts";
import { sqliteCommit } from "./sqlite-commit.ts";
import { explainSqlite } from "./sqlite-error.ts";
import { openDatabase, type SqliteOptions } from "./sqlite-open.ts";
import { sqliteReads } from "./sqlite-reads.ts";
import { ACK_KEPT_MS, type Store } from "./store.ts";
import { StoreError } from "./store-error.ts";

/** Acks removed before other work gets its turn. */
const SWEEP_ROWS = 500;

/**
 * Opens a store in one SQLite file (write-ahead log), made when it is not there. Beside it lie `-wal` and
 * `-shm` while it is open, and `-lock`, which stays.
 *
 * All work but copying the write-ahead log back is done within the call, so no statement is ever open while
 * something else runs: the log can always be copied back and stays bounded.
 *
 * @param path of the database file, relative to the working directory or absolute
 * @throws {StoreOpenError} with a sentence for the person who runs the server
 */
export async function openSqlite(path: string, options: SqliteOptions = {}): Promise<Store> {
  const { db, file, unlock } = openDatabase(path, options);
  const checkpoints = checkpointsAside(db, file);
  const commit = sqliteCommit(db);
  const reads = sqliteReads(db);
  const sweepSome = db.prepare<[number, number]>(
    "DELETE FROM acks WHERE rowid IN (SELECT rowid FROM acks WHERE at < ? LIMIT ?)",
  );

  return {
    name: `sqlite:${file}`,
    async commit(batches) {
      if (!db.open) {
        const error = closed();
        return batches.map(() => ({ ok: false, code: "failed", error }));
      }
      const results = commit(batches);
      checkpoints.committed();
      return results;
    },
    read: async (...of) => answer(db, () => reads.read(...of)),
    load: async (...of) => answer(db, () => reads.load(...of)),
    mark: async (...of) => answer(db, () => reads.mark(...of)),
    ack: async (...of) => answer(db, () => reads.ack(...of)),
    input: async (...of) => answer(db, () => reads.input(...of)),
    messages: async (...of) => answer(db, () => reads.messages(...of)),
    changes: async (...of) => answer(db, () => reads.changes(...of)),
    changesAfter: async (...of) => answer(db, () => reads.changesAfter(...of)),
    threads: async (...of) => answer(db, () => reads.threads(...of)),
    unread: async (...of) => answer(db, () => reads.unread(...of)),
    unfinished: async () => answer(db, reads.unfinished),
    documents: async () => answer(db, reads.documents),
    async sweep(now) {
      while (answer(db, () => sweepSome.run(now - ACK_KEPT_MS, SWEEP_ROWS)).changes === SWEEP_ROWS) {
        await setImmediate();
        if (!db.open) return;
      }
    },
    async close() {
      db.close();
      await checkpoints.close();
      unlock();
    },
  };
}

/** @throws {StoreError} when it cannot be done; never a made-up result */
function answer<T>(db: Database, work: () => T): T {
  if (!db.open) throw closed();
  try {
    return work();
  } catch (error) {
    throw explainSqlite(error);
  }
}

function closed(): StoreError {
  return new StoreError("closed", "The store is closed.");
}
