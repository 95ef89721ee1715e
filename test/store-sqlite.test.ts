import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { openSqlite } from "../server/store/sqlite.ts";
import { checkpointsAside } from "../server/store/sqlite-checkpoints.ts";
import type { Store } from "../server/store/store.ts";
import { storeContract } from "./contract/store.ts";
import { batch, commitAll, creation, entries } from "./contract/store-batches.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "cothread-store-")));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newFile = () => join(folder, `${++files}.db`);

storeContract("SQLite store", async () => {
  const file = newFile();
  let store = await openSqlite(file);
  const reopen = async () => {
    await store.close();
    store = await openSqlite(file);
    return store;
  };
  return { store, reopen };
});

describe("SQLite store on a real file", () => {
  const key = (thread: string) => ({ tenant: "default", thread });
  const input = (inputId: string) => ({ inputId, status: "queued" as const, json: "{}" });
  const codes = (results: Awaited<ReturnType<Store["commit"]>>) => results.map((r) => (r.ok ? "ok" : r.code));
  const open: { close(): unknown }[] = [];

  afterEach(async () => {
    vi.restoreAllMocks();
    for (const one of open.splice(0).reverse()) await one.close();
  });

  /** The store, its file, the connection it works with, and one from outside as a shell would have. */
  async function opened(options?: Parameters<typeof openSqlite>[1]) {
    const file = newFile();
    const pragma = vi.spyOn(Database.prototype, "pragma");
    const store = await openSqlite(file, options);
    const own = pragma.mock.contexts[0] as unknown as Database.Database;
    pragma.mockRestore();
    expect(own.name).toBe(file);
    const shell = new Database(file);
    open.push(store, shell);
    return { store, file, own, shell };
  }

  test("what SQLite refuses in one batch is undone, the others go through", async () => {
    const { store, shell } = await opened();
    shell.exec(`CREATE TRIGGER refuse BEFORE INSERT ON acks WHEN NEW.user = 'bad'
                BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`);
    await commitAll(store, [creation(key("a"), 1), creation(key("b"), 1)]);
    const bad = batch(key("b"), 1, 2, {
      inputs: [input("i")],
      acks: [{ user: "bad", key: "k", hash: "", at: 1, json: "{}" }],
      info: { title: "half" },
    });
    const results = await store.commit([batch(key("a"), 1, 1), bad, creation(key("c"), 1)]);
    expect(codes(results)).toEqual(["ok", "failed", "ok"]);
    expect(await store.load(key("b"))).toMatchObject({ seq: 1, inputs: [] });
    expect(await store.load(key("a"))).toMatchObject({ seq: 2 });
    expect(await store.load(key("c"))).toMatchObject({ seq: 1 });
  });

  test("when SQLite rolls everything back for one batch, the others go again without it", async () => {
    const { store, shell } = await opened();
    shell.exec(`CREATE TRIGGER refuse BEFORE INSERT ON inputs WHEN NEW.input_id LIKE 'bad%'
                BEGIN SELECT RAISE(ROLLBACK, 'rolled back by the test'); END`);
    const bad = (thread: string) => creation(key(thread), 1, { inputs: [input("bad")] });
    const twice = creation(key("a"), 1);
    const all = [twice, bad("b"), creation(key("c"), 1), bad("d"), twice, creation(key("e"), 1)];
    expect(codes(await store.commit(all))).toEqual(["ok", "failed", "ok", "failed", "ok", "ok"]);
    expect((await store.threads({ tenant: "default", limit: 9 })).map((row) => row.id)).toEqual([
      "a",
      "c",
      "e",
    ]);
    expect(codes(await store.commit([bad("b"), bad("d")]))).toEqual(["failed", "failed"]);
    expect(await store.load(key("b"))).toBeNull();
  });

  test("a full disk fails what does not fit, with a sentence, and only that", async () => {
    const { store, own } = await opened();
    await commitAll(store, [creation(key("a"), 1), creation(key("b"), 1)]);
    own.pragma(`max_page_count = ${(own.pragma("page_count", { simple: true }) as number) + 10}`);
    const big = batch(key("b"), 1, 200, { entries: entries(1, 200, "x".repeat(1_000)) });
    const results = await store.commit([batch(key("a"), 1, 1), big, batch(key("a"), 2, 1)]);
    expect(codes(results)).toEqual(["ok", "failed", "ok"]);
    expect(results[1]).toMatchObject({
      error: { code: "full", message: expect.stringMatching(/disk is full.*Free some space/) },
    });
    expect(await store.load(key("a"))).toMatchObject({ seq: 3 });
    expect(await store.load(key("b"))).toMatchObject({ seq: 1 });
    own.pragma("max_page_count = 100000");
    expect(codes(await store.commit([big]))).toEqual(["ok"]);
    expect((await store.read(key("b"), 0, 1_000)).length).toBe(201);
  });

  test("when the transaction itself cannot be committed, nothing was written and every batch says so", async () => {
    const { store, shell } = await opened();
    shell.exec(`CREATE TABLE parents (id INTEGER PRIMARY KEY);
                CREATE TABLE children (parent REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
                CREATE TRIGGER orphan AFTER INSERT ON inputs WHEN NEW.input_id = 'orphan'
                BEGIN INSERT INTO children VALUES (1); END`);
    const orphan = creation(key("b"), 1, { inputs: [input("orphan")] });
    expect(codes(await store.commit([creation(key("a"), 1), orphan]))).toEqual(["failed", "failed"]);
    expect(await store.load(key("a"))).toBeNull();
    expect(await store.load(key("b"))).toBeNull();
    expect(codes(await store.commit([creation(key("a"), 1)]))).toEqual(["ok"]);
  });

  test.for(["before", "after"])(
    "a disk that fails %s the commit leaves it unknown; again finds out",
    async (when) => {
      let armed = false;
      const { prepare } = Database.prototype;
      vi.spyOn(Database.prototype, "prepare").mockImplementation(function (this: Database.Database, sql) {
        const statement = prepare.call(this, sql) as Database.Statement;
        if (sql !== "COMMIT") return statement as never;
        const run = () => {
          if (armed && when === "before")
            throw new Database.SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");
          const result = statement.run();
          if (armed) throw new Database.SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");
          return result;
        };
        return { run } as never;
      });
      const { store } = await opened();
      await commitAll(store, [creation(key("a"), 1)]);
      const next = batch(key("a"), 1, 1);
      armed = true;
      expect(await store.commit([next])).toMatchObject([
        { ok: false, code: "unknown", error: { code: "io" } },
      ]);
      armed = false;
      expect(await store.commit([next])).toEqual([{ ok: true, duplicate: when === "after" }]);
      expect(await store.load(key("a"))).toMatchObject({ seq: 2 });
    },
  );

  test("a shell that holds a write lock makes commits fail, and nothing else", async () => {
    const { store, own, shell } = await opened();
    await commitAll(store, [creation(key("a"), 1)]);
    own.pragma("busy_timeout = 0");
    shell.exec("BEGIN IMMEDIATE");
    const results = await store.commit([batch(key("a"), 1, 1), creation(key("b"))]);
    expect(codes(results)).toEqual(["failed", "failed"]);
    expect(results[0]).toMatchObject({ error: { code: "busy" } });
    expect((await store.read(key("a"), 0, 10)).length).toBe(1);
    shell.exec("ROLLBACK");
    expect(codes(await store.commit([batch(key("a"), 1, 1)]))).toEqual(["ok"]);
  });

  test("a shell can read the log while the server writes", async () => {
    const { store, shell } = await opened();
    await commitAll(store, [creation(key("a"), 2), batch(key("a"), 2, 1)]);
    shell.exec("BEGIN");
    const lines = shell.prepare("SELECT entries FROM commits ORDER BY seq").pluck();
    const before = lines.all().join("\n").split("\n");
    await commitAll(store, [batch(key("a"), 3, 1)]);
    expect(before).toEqual(entries(0, 3).map((e) => e.json));
    expect(lines.all().length).toBe(2);
    shell.exec("COMMIT");
    expect(lines.all().length).toBe(3);
  });

  test("the write-ahead log stays bounded, and is cut after a large commit", async () => {
    const { store, file } = await opened();
    const wal = () => statSync(`${file}-wal`).size;
    const row = (after: number) =>
      batch(key("a"), after, 20, { entries: entries(after, 20, "x".repeat(2_000)) });
    await commitAll(store, [creation(key("a"))]);
    // Without a pause the worker that copies the log back is hardly heard. SQLite copies within a commit from
    // 2,500 pages on, 10 MB, but not while the worker does: the log grows on for as long as that takes.
    for (let i = 0; i < 500; i++) await commitAll(store, [row(i * 20)]);
    expect(wal()).toBeLessThan(24 * 1024 * 1024);
    const large = entries(10_000, 10_000, "x".repeat(4_000));
    await commitAll(store, [batch(key("a"), 10_000, 10_000, { entries: large })]);
    expect(wal()).toBeGreaterThan(30 * 1024 * 1024);
    // While the worker copies the log back nobody else does; some commits later it is through.
    let i = 0;
    await vi.waitFor(async () => {
      await commitAll(store, [row(20_000 + i++ * 20)]);
      expect(wal()).toBeLessThanOrEqual(16 * 1024 * 1024);
    }, 10_000);
  });

  test("the write-ahead log is copied back beside the commits, long before one of them would have to", async () => {
    const { store, file } = await opened();
    const [empty, written] = [statSync(file).size, 100 * 20 * 200];
    await commitAll(store, [creation(key("a"))]);
    for (let i = 0; i < 100; i++)
      await commitAll(store, [
        batch(key("a"), i * 20, 20, { entries: entries(i * 20, 20, "x".repeat(200)) }),
      ]);
    expect(statSync(`${file}-wal`).size).toBeLessThan(2_000 * 4_096);
    await vi.waitFor(() => expect(statSync(file).size).toBeGreaterThan(empty + written / 4), 10_000);
    await store.close();
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  test("where no worker can be had, SQLite copies the log back within commits", async () => {
    const db = new Database(newFile());
    open.push(db);
    db.pragma("journal_mode = WAL");
    const pages = () => db.pragma("wal_autocheckpoint", { simple: true });
    const checkpoints = checkpointsAside(db, db.name, "/nowhere");
    expect(pages()).toBe(2_500);
    for (let i = 0; i < 200; i++) checkpoints.committed();
    await vi.waitFor(() => expect(pages()).toBe(1_000), 10_000);
    for (let i = 0; i < 200; i++) checkpoints.committed();
    await checkpoints.close();
  });

  test("waits for the disk with each commit only when asked to", async () => {
    expect((await opened()).own.pragma("synchronous", { simple: true })).toBe(1);
    expect((await opened({ synchronous: "FULL" })).own.pragma("synchronous", { simple: true })).toBe(2);
    expect((await opened()).own.pragma("journal_mode", { simple: true })).toBe("wal");
  });

  test("an entry that cannot be parsed is an error that names its seq and quotes nothing", async () => {
    const { store, shell } = await opened();
    await commitAll(store, [creation(key("a"), 3)]);
    shell.exec(`UPDATE commits SET entries = replace(entries, '"what":"entry 2"', 'secret')`);
    const error = await store.read(key("a"), 0, 10).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "corrupt", message: expect.stringContaining("Entry 2") });
    expect(`${(error as Error).stack}${String((error as Error).cause)}`).not.toContain("secret");
    expect((await store.read(key("a"), 2, 10)).length).toBe(1);
  });

  test("a damaged file refuses the thread, it never shows an empty one", async () => {
    const file = newFile();
    const first = await openSqlite(file);
    await commitAll(first, [creation(key("a"), 50)]);
    await first.close();
    const shell = new Database(file);
    const roots = shell
      .prepare("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'commits'")
      .pluck()
      .all();
    shell.close();
    const at = openSync(file, "r+");
    for (const root of roots as number[])
      writeSync(at, Buffer.alloc(4_096, 0xa5), 0, 4_096, (root - 1) * 4_096);
    closeSync(at);
    const store = await openSqlite(file);
    open.push(store);
    await expect(store.load(key("a"))).rejects.toMatchObject({ code: "corrupt" });
    await expect(store.read(key("a"), 0, 10)).rejects.toMatchObject({ code: "corrupt" });
    expect(await store.commit([batch(key("a"), 50, 1)])).toMatchObject([
      { code: "failed", error: { code: "corrupt" } },
    ]);
  });

  test("every statement finds its rows by an index", async () => {
    const prepare = vi.spyOn(Database.prototype, "prepare");
    const { own } = await opened();
    const prepared = prepare.mock.calls
      .map(([sql]) => sql)
      .filter((sql) => /^(SELECT|UPDATE|DELETE)/.test(sql));
    prepare.mockRestore();
    const steps = prepared
      .filter((sql) => !sql.includes("sqlite_master"))
      .flatMap(
        (sql) =>
          own
            .prepare(`EXPLAIN QUERY PLAN ${sql}`)
            .bind(...placeholders(sql))
            .all() as Step[],
      )
      .map((step) => step.detail);
    expect(prepared.length).toBeGreaterThan(15);
    expect(steps.filter((step) => step.startsWith("SCAN") && !/ USING |json_each/.test(step))).toEqual([]);
  });
});

type Step = { detail: string };

function placeholders(sql: string): unknown[] {
  const named = sql.match(/@\w+/g);
  if (named) return [Object.fromEntries(named.map((name) => [name.slice(1), null]))];
  return (sql.match(/\?/g) ?? []).map(() => null);
}
