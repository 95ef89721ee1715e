import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Database from "better-sqlite3";
import { migrateSqlite, readMigrations, schemaVersion } from "./migrate.ts";
import { StoreOpenError } from "./open-error.ts";
import { sqliteCode } from "./sqlite-error.ts";
import { holdLock } from "./sqlite-lock.ts";

/** How a SQLite store weighs speed against safety. */
export type SqliteOptions = {
  /**
   * How much a commit waits for. `NORMAL` (default): what was committed survives the death of the process,
   * kill -9 included. `FULL`: it survives a power cut too, for one disk flush per commit.
   */
  synchronous?: "NORMAL" | "FULL";
};

/** `PRAGMA application_id` of our files, set by the first migration. */
const APPLICATION_ID = 0x636f7468;
/** Nobody else should write; a shell that does holds up the whole server no longer than this, ms. */
const BUSY_MS = 1_000;
/** A single large commit may make the write-ahead log longer; afterwards it is cut to this, bytes. */
const WAL_BYTES = 16 * 1024 * 1024;
/** Page cache, KiB. */
const CACHE_KIB = 32 * 1024;

/**
 * Opens or makes a database file, alone on this machine, with the schema up to date.
 *
 * @param path of the file, relative to the working directory or absolute
 * @returns the connection, the file with links resolved, and what gives the right to the file back once no
 *   connection is open
 * @throws {StoreOpenError} every code but `bad_url` and `node_version`
 */
export function openDatabase(
  path: string,
  options: SqliteOptions,
): { db: Database.Database; file: string; unlock: () => void } {
  const given = resolve(path);
  checkPlace(given);
  const migrations = readMigrations("sqlite");
  let db: Database.Database | undefined;
  let unlock: (() => void) | undefined;
  try {
    db = new Database(given, { timeout: BUSY_MS });
    // Before anything is changed: another program's database must stay as it is.
    checkIdentity(db, given);
    const file = realpathSync(given);
    unlock = holdLock(file);
    if (db.pragma("journal_mode = WAL", { simple: true }) !== "wal") {
      throw new StoreOpenError(
        "failed",
        `${file} lies where SQLite has no write-ahead log, such as a network folder. Put it on a local disk.`,
      );
    }
    db.pragma(`synchronous = ${options.synchronous === "FULL" ? "FULL" : "NORMAL"}`);
    db.pragma(`journal_size_limit = ${WAL_BYTES}`);
    db.pragma(`cache_size = -${CACHE_KIB}`);
    db.pragma("temp_store = MEMORY");
    migrateSqlite(db, migrations);
    return { db, file, unlock };
  } catch (error) {
    db?.close();
    unlock?.();
    throw explainOpening(error, given);
  }
}

/** SQLite opens what it may not write as read-only and says so at the first write; here is the better place. */
function checkPlace(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder)) {
    throw new StoreOpenError("no_directory", `The folder ${folder} does not exist. Make it first.`);
  }
  if (existsSync(file) && !statSync(file).isFile()) {
    throw new StoreOpenError("not_a_database", `${file} is not a file. Name the database file itself.`);
  }
  // The write-ahead log and the lock are written beside the database.
  for (const needed of existsSync(file) ? [file, folder] : [folder]) {
    try {
      accessSync(needed, constants.W_OK);
    } catch (error) {
      throw new StoreOpenError(
        "read_only",
        `${needed} cannot be written by this process. Check its owner, its permissions and the mount.`,
        error,
      );
    }
  }
}

function checkIdentity(db: Database.Database, file: string): void {
  const ours = db.pragma("application_id", { simple: true }) === APPLICATION_ID;
  const empty = db.prepare("SELECT count(*) FROM sqlite_master").pluck().get() === 0;
  if (ours || (empty && schemaVersion(db) === 0)) return;
  throw new StoreOpenError("foreign", `${file} is a database of another program. Use another file.`);
}

/** Turns whatever opening threw into a StoreOpenError with a sentence. */
function explainOpening(error: unknown, file: string): StoreOpenError {
  if (error instanceof StoreOpenError) return error;
  const why = (error instanceof Error ? error.message : String(error)).split("\n", 1)[0];
  const code = sqliteCode(error);
  if (code === "SQLITE_NOTADB") {
    return new StoreOpenError(
      "not_a_database",
      `${file} is not a SQLite database. Use another file, or restore a backup.`,
      error,
    );
  }
  if (code.startsWith("SQLITE_CORRUPT")) {
    return new StoreOpenError("corrupt", `${file} is damaged. Restore a backup.`, error);
  }
  if (code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_CANTOPEN")) {
    return new StoreOpenError(
      "read_only",
      `${file}, its -wal, -shm or -lock file cannot be opened for writing. Check owner and permissions.`,
      error,
    );
  }
  if (code.startsWith("SQLITE_BUSY")) {
    return new StoreOpenError("in_use", `Another program holds ${file} locked. Close it first.`, error);
  }
  if (code.startsWith("SQLITE_FULL")) {
    return new StoreOpenError("failed", `There is no space left for ${file}. Free some space.`, error);
  }
  if (isAddonError(error)) {
    return new StoreOpenError(
      "addon",
      `The SQLite addon better-sqlite3 was not built, or was built for another Node than this ` +
        `${process.versions.node} (${process.platform} ${process.arch}). Run \`npm rebuild better-sqlite3\`. ` +
        `It says: ${why}`,
      error,
    );
  }
  return new StoreOpenError("failed", `${file} could not be opened: ${why}.`, error);
}

function isAddonError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === "ERR_DLOPEN_FAILED" || error.message.startsWith("Could not locate the bindings file");
}
