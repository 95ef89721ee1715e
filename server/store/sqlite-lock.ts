import Database from "better-sqlite3";
import { StoreOpenError } from "./open-error.ts";
import { sqliteCode } from "./sqlite-error.ts";

/** How long to wait for another starter that is just reading or writing its process id, ms. */
const WAIT_MS = 200;

/**
 * Takes the right to be the only server on a database, for as long as this process lives.
 *
 * The lock is a write transaction that is held open on a second, tiny database `<path>-lock`. The operating
 * system drops it when the process ends, kill -9 included, so that nothing has to be cleaned up by hand. It is
 * not SQLite's exclusive mode on the database itself, because that would shut out backups and the sqlite3
 * shell while the server runs. The holder's process id is kept in the lock's `user_version`, for the message.
 * The file is never removed: a starter could hold the removed one while the next makes a new one.
 *
 * @param database path of the database, with links resolved: two names of one file must give one lock
 * @returns gives the right back
 * @throws {StoreOpenError} `in_use` when another server has it, in this process or another
 */
export function holdLock(database: string): () => void {
  const path = `${database}-lock`;
  const lock = new Database(path, { timeout: WAIT_MS });
  try {
    // Once more after writing the id: between the commit and the lock that stays, another may have come.
    for (;;) {
      lock.exec("BEGIN IMMEDIATE");
      if (holder(lock) === process.pid) return () => lock.close();
      lock.pragma(`user_version = ${process.pid}`);
      lock.exec("COMMIT");
    }
  } catch (error) {
    const busy = sqliteCode(error).startsWith("SQLITE_BUSY");
    const broken = sqliteCode(error) === "SQLITE_NOTADB" || sqliteCode(error).startsWith("SQLITE_CORRUPT");
    const who = busy ? nameHolder(lock) : "";
    lock.close();
    if (busy) {
      throw new StoreOpenError(
        "in_use",
        `${database} is already open in ${who}. One server at a time: stop that one, or use another file.`,
        error,
      );
    }
    if (broken) {
      throw new StoreOpenError(
        "corrupt",
        `The lock file ${path} is damaged. Remove it when no server is running, and start again.`,
        error,
      );
    }
    throw error;
  }
}

/** The holder may be writing its id just now; that makes the message poorer, nothing else. */
function nameHolder(lock: Database.Database): string {
  try {
    return `process ${holder(lock)}`;
  } catch {
    return "another process";
  }
}

function holder(lock: Database.Database): number {
  return lock.pragma("user_version", { simple: true }) as number;
}
