import { StoreError, type StoreErrorCode } from "./store-error.ts";

const SENTENCES: [prefix: string, code: StoreErrorCode, sentence: string][] = [
  ["SQLITE_FULL", "full", "The disk is full, or the database has reached its size limit. Free some space."],
  [
    "SQLITE_BUSY",
    "busy",
    "Another program holds the database locked. Close what has the file open for writing.",
  ],
  ["SQLITE_READONLY", "read_only", "The database cannot be written. Check the file's permissions and mount."],
  ["SQLITE_CORRUPT", "corrupt", "The database file is damaged. Stop the server and restore a backup."],
  ["SQLITE_NOTADB", "corrupt", "The database file is damaged. Stop the server and restore a backup."],
  [
    "SQLITE_IOERR",
    "io",
    "The disk failed to read or write the database. Check the disk and the system's log.",
  ],
];

/** SQLite's code of an error, e.g. `SQLITE_FULL`; empty when it is not SQLite's. */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : "";
}

/** Turns what SQLite threw into a code and a sentence; what is a StoreError already stays as it is. */
export function explainSqlite(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const found = SENTENCES.find(([prefix]) => sqliteCode(error).startsWith(prefix));
  if (found) return new StoreError(found[1], found[2], error);
  const why = error instanceof Error ? error.message : String(error);
  return new StoreError("failed", `The database refused: ${why}.`, error);
}
