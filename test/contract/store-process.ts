import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { openStore } from "../../server/store/open.ts";
import type { StoreOpenError } from "../../server/store/open-error.ts";
import type { Store } from "../../server/store/store.ts";

/** The checkout. */
export const root = resolve(import.meta.dirname, "../..");

/** Opens the file in another process and holds it until that one is killed. */
export const HOLD = `const { openStore } = await import(module);
  await tell(openStore("sqlite:" + file).then((store) => { globalThis.kept = store; }));
  if (globalThis.kept) process.stdin.resume();`;
/** Opens the file in another process, which then ends. */
export const TRY = `const { openStore } = await import(module); await tell(openStore("sqlite:" + file));`;

/** Writes much, closes the store, says so, and has nothing else to live for. */
export const CLOSE = `const [module, file] = process.argv.slice(1);
  const { openStore } = await import(module);
  const store = await openStore("sqlite:" + file);
  const key = { tenant: "default", thread: "t" };
  for (let i = 0; i < 200; i += 1) {
    const batch = { key, ownerEpoch: 1, mark: "m" + i, after: i, entries: [{ seq: i + 1, json: "{}" }] };
    await store.commit([{ ...batch, ...(i === 0 && { create: { epoch: "e", at: 1 } }) }]);
  }
  await store.close();
  console.log("closed");`;

/** Copies what runs of the native addon's packages, without their sources. */
export function copyAddon(to: string): void {
  const wanted = /\/(lib(\/.*)?|[^/]+\.js(on)?|build|build\/Release|build\/Release\/better_sqlite3\.node)$/;
  for (const name of ["bindings", "file-uri-to-path", "better-sqlite3"]) {
    const from = join(root, "node_modules", name);
    const filter = (path: string) => path === from || wanted.test(path);
    cpSync(from, join(to, "node_modules", name), { recursive: true, filter });
  }
}

/**
 * A folder with the store as it is shipped: built, at `dist/server/store`, the migrations at the package's
 * root. Registers the hooks that build it and clean up after each test and at the end.
 */
export function shippedStore() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "cothread-open-")));
  const open: Store[] = [];
  const children: ChildProcess[] = [];
  let files = 0;

  beforeAll(async () => {
    // also read by processes of another user
    chmodSync(folder, 0o755);
    await build({
      entryPoints: [join(root, "server/store/open.ts")],
      outdir: join(folder, "dist/server/store"),
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      external: ["better-sqlite3"],
      logLevel: "error",
    });
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    symlinkSync(join(root, "migrations"), join(folder, "migrations"));
    copyAddon(folder);
  });
  afterEach(async () => {
    for (const store of open.splice(0)) await store.close();
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  return {
    folder,
    newFile: () => join(folder, `${++files}.db`),

    /** Opens a store in this process; closed after the test. */
    async opened(url: string): Promise<Store> {
      const store = await openStore(url);
      open.push(store);
      return store;
    },

    /** Opens a store that must be refused. */
    async refusal(url: string): Promise<StoreOpenError> {
      const result = await openStore(url).catch((error: unknown) => error);
      expect(result).toBeInstanceOf(Error);
      return result as StoreOpenError;
    },

    /**
     * Runs a script in another Node process. It has `file`, `module` (the built store's URL) and `tell`, which
     * prints how an opening went; `line` gives what it prints, line by line.
     */
    inAnotherProcess(script: string, file = "", options: { uid?: number; gid?: number; home?: string } = {}) {
      const { home = folder, ...user } = options;
      const module = JSON.stringify(`file://${join(home, "dist/server/store/open.js")}`);
      const code = `const file = ${JSON.stringify(file)}; const module = ${module};
        const tell = async (opening) => {
          try { await opening; console.log("opened"); }
          catch (error) { console.log(error.code + ": " + error.message); }
        };
        ${script}`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
        cwd: home,
        stdio: ["pipe", "pipe", "inherit"],
        ...user,
      });
      children.push(child);
      const ended = new Promise<void>((done) => child.once("exit", () => done()));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      return {
        pid: child.pid,
        line: async () => (await lines.next()).value as string | undefined,
        async end(signal: NodeJS.Signals) {
          child.kill(signal);
          await ended;
        },
      };
    },
  };
}
