import { openMemory } from "./memory.ts";
import { StoreOpenError } from "./open-error.ts";
import type { SqliteOptions } from "./sqlite-open.ts";
import type { Store } from "./store.ts";

/** For whichever store the URL names; see there. */
export type StoreOptions = SqliteOptions;

/** Oldest Node that runs Cothread. */
const NODE_FLOOR = [20, 19] as const;

/**
 * Opens the store a URL names: `sqlite:PATH` (relative to the working directory, or absolute), or `memory:`
 * for one that is gone when the process ends.
 *
 * The SQLite addon is loaded by the first `sqlite:` URL and not before Node's version was looked at, because
 * an addon may take the whole process down on a Node it was not made for.
 *
 * @throws {StoreOpenError} with a code and a sentence for the person who runs the server
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  checkNode(process.versions.node);
  if (url === "memory:") return openMemory();
  const path = sqlitePath(url);
  const { openSqlite } = await loadSqlite();
  return openSqlite(path, options);
}

function checkNode(running: string): void {
  const [major = 0, minor = 0] = running.split(".").map(Number);
  const [floorMajor, floorMinor] = NODE_FLOOR;
  if (major > floorMajor || (major === floorMajor && minor >= floorMinor)) return;
  throw new StoreOpenError(
    "node_version",
    `Cothread needs Node ${floorMajor}.${floorMinor} or newer; this is Node ${running}. Install a newer Node.`,
  );
}

function sqlitePath(url: string): string {
  const path = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : "";
  // "//name" would be a file in the root folder, which nobody means.
  if (path !== "" && path !== ":memory:" && !/^\/\/[^/]/.test(path)) return path;
  throw new StoreOpenError(
    "bad_url",
    `"${withoutSecrets(url)}" names no store. Use "sqlite:FILE", such as "sqlite:cothread.db" or ` +
      `"sqlite:/var/lib/cothread.db", or "memory:".`,
  );
}

/** Other stores' URLs carry a user and password before the @. */
function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^/]*@/, "//…@");
}

async function loadSqlite(): Promise<typeof import("./sqlite.ts")> {
  try {
    return await import("./sqlite.ts");
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).split("\n", 1)[0];
    throw new StoreOpenError(
      "addon",
      `The package better-sqlite3 cannot be loaded. Run \`npm install\`. It says: ${why}`,
      error,
    );
  }
}
