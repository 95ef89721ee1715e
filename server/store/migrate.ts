import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Database } from "better-sqlite3";
import { StoreOpenError } from "./open-error.ts";

/** One step of the schema; its number is the version it brings the database to. */
export type Migration = { version: number; name: string; sql: string };

/**
 * Reads the migrations that come with this package, in order: `migrations/<kind>/NNNN_name.sql`, numbered
 * from 0001 without gaps.
 *
 * @throws {StoreOpenError} `migration` when the installation lacks them
 */
export function readMigrations(kind: "sqlite"): Migration[] {
  const folder = findFolder(kind);
  const names = readdirSync(folder).filter((name) => /^\d{4}_\w+\.sql$/.test(name));
  return names.sort().map((name, i) => {
    const version = Number(name.slice(0, 4));
    if (version !== i + 1) {
      throw new StoreOpenError("migration", `Migration ${i + 1} is missing in ${folder}. Install again.`);
    }
    return { version, name, sql: readFileSync(join(folder, name), "utf8") };
  });
}

/** The sources, the built files and a bundle lie at different depths below the package's root. */
function findFolder(kind: string): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const folder = join(at, "migrations", kind);
    if (existsSync(folder)) return folder;
    if (existsSync(join(at, "package.json")) || at === dirname(at)) {
      throw new StoreOpenError("migration", `The folder migrations/${kind} is missing. Install again.`);
    }
  }
}

/** The version of the schema a database has; 0 when it is new. */
export function schemaVersion(db: Database): number {
  return db.pragma("user_version", { simple: true }) as number;
}

/**
 * Brings a SQLite database from its `user_version` to the last migration, each in a transaction of its own:
 * after a crash the next start goes on where this one stopped.
 *
 * @throws {StoreOpenError} `migration` when one fails, `newer_schema` when the database is ahead of them
 */
export function migrateSqlite(db: Database, migrations: Migration[]): void {
  const stored = schemaVersion(db);
  if (stored > migrations.length) {
    throw new StoreOpenError(
      "newer_schema",
      `The database has schema version ${stored}; this version of Cothread knows ${migrations.length}. ` +
        "Start it with the newer Cothread that wrote it, or restore a backup.",
    );
  }
  for (const { version, name, sql } of migrations.slice(stored)) {
    try {
      db.transaction(() => {
        db.exec(sql);
        db.pragma(`user_version = ${version}`);
      }).immediate();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new StoreOpenError("migration", `Migration ${name} failed and was undone: ${why}.`, error);
    }
  }
}
