import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as Y from "yjs";
import { type CompactRequest, compact } from "../server/compact.ts";
import { compactThread } from "../server/room/compaction.ts";
import { LAST_GENERATION, markGeneration } from "../server/room/generation.ts";
import { openMemory } from "../server/store/memory.ts";
import { openStore } from "../server/store/open.ts";
import type { Store, ThreadKey } from "../server/store/store.ts";
import { batch, commitAll, creation, everything } from "./contract/store-batches.ts";
import { CLI, cleanEnvironment } from "./kit/build.ts";
import { TestRooms } from "./kit/server.ts";
import { startServer } from "./kit/server-process.ts";

let file: string;
let url: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "cothread-compact-"));
  file = join(folder, "threads.db");
  url = `sqlite:${file}`;
  return () => rmSync(folder, { recursive: true, force: true });
});

/** A document of generation 0 in which much was typed, and all but little deleted. */
function typed(characters: number, kept: string, generation = 0): Uint8Array {
  const doc = new Y.Doc();
  markGeneration(doc, generation);
  const text = doc.getText("draft");
  for (let i = 0; i < characters; i += 1) text.insert(i % 2 ? 0 : text.length, "x");
  text.delete(0, text.length);
  text.insert(0, kept);
  return Y.encodeStateAsUpdate(doc);
}

const keyOf = (thread: string, tenant = "default"): ThreadKey => ({ tenant, thread });
const write = (...updates: Uint8Array[]) => ({ state: { updates, changes: [], agents: [] } });

async function prepare(work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(url);
  await work(store);
  await store.close();
}

async function draftIn(store: Store, key: ThreadKey): Promise<{ generation: number; draft: string }> {
  const { doc = [], generation = -1 } = (await store.load(key)) ?? {};
  const read = new Y.Doc();
  for (const update of doc) Y.applyUpdate(read, update);
  return { generation, draft: read.getText("draft").toString() };
}

async function drafts(...keys: ThreadKey[]) {
  const store = await openStore(url);
  const found = [];
  for (const key of keys) found.push(await draftIn(store, key));
  await store.close();
  return found;
}

/** Runs the command within this process. The clock goes on by a second each time it is looked at. */
async function run(request: Partial<CompactRequest> = {}) {
  const [out, notes]: [string[], string[]] = [[], []];
  let time = 0;
  const ok = await compact(
    { store: url, threads: [], minGain: "50%", dryRun: false, json: false, ...request },
    {
      print: (line) => out.push(line),
      note: (line) => notes.push(line),
      now: () => {
        time += 1_000;
        return time;
      },
    },
  );
  return { ok, out, notes };
}

const refusal = (request: Partial<CompactRequest>) =>
  run(request).then(
    () => "done",
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe("compact", () => {
  test("[Y8] makes those documents anew that are worth it, of every tenant, and says what it came to", async () => {
    await prepare((store) =>
      commitAll(store, [
        creation(keyOf("launch"), 1, write(typed(2_000, "Hello"))),
        batch(keyOf("launch"), 1, 2),
        creation(keyOf("launch", "acme"), 1, write(typed(1_000, "Hi"))),
        creation(keyOf("tidy"), 1, write(typed(0, "All of it is shown, and nothing was deleted"))),
        creation(keyOf("plain"), 3),
      ]),
    );
    const dry = await run({ dryRun: true });
    expect(dry.out.at(-1)).toMatch(/^2 of 3 documents would be compacted {2}\S+ \S+ → \S+ bytes$/);
    const all = [keyOf("launch"), keyOf("launch", "acme"), keyOf("tidy")];
    expect((await drafts(...all)).map(({ generation }) => generation)).toEqual([0, 0, 0]);

    const { ok, out, notes } = await run();
    expect(ok).toBe(true);
    expect(out).toEqual([
      expect.stringMatching(/^launch of acme {2}\S+ \S+ → \d\d bytes$/),
      expect.stringMatching(/^launch {2}\S+ \S+ → \d\d bytes$/),
      expect.stringMatching(/^2 of 3 documents compacted {2}\S+ \S+ → \S+ bytes$/),
    ]);
    expect(notes).toEqual(["… 2 of 3 documents"]);
    expect(await drafts(...all)).toEqual([
      { generation: 1, draft: "Hello" },
      { generation: 1, draft: "Hi" },
      { generation: 0, draft: "All of it is shown, and nothing was deleted" },
    ]);
    // Nothing is left to be gained.
    expect((await run()).out).toEqual(["0 of 3 documents compacted"]);
    expect((await run({ threads: ["tidy"], minGain: "0%" })).out).toHaveLength(2);
  });

  test("[Y8] --json has a line for each document, and one for all", async () => {
    await prepare((store) =>
      commitAll(store, [
        creation(keyOf("broken"), 1, write(Uint8Array.from([1, 2, 3]))),
        creation(keyOf("launch"), 1, write(typed(2_000, "Hello"))),
        creation(keyOf("tidy"), 1, write(typed(0, "Hi"))),
      ]),
    );
    const { ok, out } = await run({ json: true });
    expect(ok).toBe(false);
    const [broken, launch, tidy, total, ...more] = out.map((line) => JSON.parse(line));
    expect(more).toEqual([]);
    expect(broken).toEqual({
      ...keyOf("broken"),
      kind: "refused",
      why: "It cannot be read as a Yjs document.",
      dryRun: false,
    });
    expect(launch).toMatchObject({ ...keyOf("launch"), kind: "compacted", generation: 1 });
    expect(launch.before).toBeGreaterThan(launch.after * 5);
    expect(tidy).toMatchObject({ ...keyOf("tidy"), kind: "kept" });
    expect(total).toEqual({
      kind: "total",
      ...{ documents: 3, compacted: 1, refused: 1, dryRun: false },
      ...{ before: launch.before, after: launch.after },
    });
  });

  test("--thread takes those alone, and one that is not there stops all of it", async () => {
    await prepare((store) =>
      commitAll(store, [
        creation(keyOf("launch"), 1, write(typed(2_000, "Hello"))),
        creation(keyOf("other"), 1, write(typed(2_000, "Hello"))),
        creation(keyOf("plain"), 1),
      ]),
    );
    expect(await refusal({ threads: ["other", "lanch"] })).toBe(
      'ConfigError: There is no thread "lanch" with a document. Did you mean "launch"? Nothing was changed.',
    );
    expect(await refusal({ threads: ["plain"] })).toMatch(/no thread "plain" with a document\. Nothing/);
    expect((await run({ threads: ["launch"] })).out).toHaveLength(2);
    expect((await drafts(keyOf("launch"), keyOf("other"))).map(({ generation }) => generation)).toEqual([
      1, 0,
    ]);
    expect((await run({ threads: ["all"] })).out).toHaveLength(2);
    expect((await drafts(keyOf("launch"), keyOf("other"))).map(({ generation }) => generation)).toEqual([
      1, 1,
    ]);
  });

  test("what makes no sense gets a sentence, and no file is made", async () => {
    for (const minGain of ["50", "0.5", "101%", "-5%", "half", ""])
      expect(await refusal({ minGain })).toMatch(/^ConfigError: --min-gain is not right: .* 0% to 100%/);
    expect(await refusal({})).toMatch(/^ConfigError: There is no database \/.*threads\.db\. /);
    expect(await refusal({ store: "memory:" })).toMatch(/^ConfigError: The store "memory:" keeps nothing/);
    expect(await refusal({ store: "postgres://x" })).toMatch(/^StoreOpenError: .*names no store/);
    expect(existsSync(file)).toBe(false);
  });
});

describe("a thread's document", () => {
  test("[Y8] one without the mark of its generation, or of the last one there is, stays as it is", async () => {
    const store = openMemory();
    const unmarked = new Y.Doc();
    unmarked.getText("draft").insert(0, "typed");
    await commitAll(store, [creation(keyOf("a"), 1, write(Y.encodeStateAsUpdate(unmarked)))]);
    await commitAll(store, [creation(keyOf("b"), 1, write(typed(0, "x")))]);
    for (let generation = 1; generation <= LAST_GENERATION; generation += 1) {
      const state = { updates: [], whole: typed(0, "x", generation), generation, changes: [], agents: [] };
      await commitAll(store, [batch(keyOf("b"), 1, 0, { state })]);
    }
    const before = [await everything(store, keyOf("a")), await everything(store, keyOf("b"))];
    const of = (thread: string) => compactThread(store, keyOf(thread), { minGain: 0, dryRun: false });
    expect(await of("a")).toMatchObject({ kind: "refused", why: expect.stringContaining("no mark") });
    expect(await of("b")).toMatchObject({ kind: "refused", why: expect.stringContaining("959 times") });
    expect(await of("c")).toEqual({ kind: "none" });
    expect([await everything(store, keyOf("a")), await everything(store, keyOf("b"))]).toEqual(before);
  });

  test("[Y8] a room that had it in memory can write nothing of the old one behind the new one", async () => {
    const world = new TestRooms();
    const ana = await world.join("t");
    const patch = (n: number) =>
      ana.ask({ type: "patch", key: `k${n}`, base: n, patch: [{ op: "add", path: "/n", value: n }] });
    for (let n = 0; n < 20; n += 1) await patch(n);
    const made = await compactThread(world.store, ana.key, { minGain: 0.1, dryRun: false });
    expect(made).toMatchObject({ kind: "anew", generation: 1 });
    const before = await everything(world.store, ana.key);
    await expect(patch(20)).rejects.toThrow();
    expect(await everything(world.store, ana.key)).toEqual(before);
    // Whoever comes gets the new one.
    const ben = await world.join("t", "Ben");
    expect(ben.reply).toMatchObject({ generation: 1 });
    await ben.ask({ type: "patch", key: "b", base: 20, patch: [{ op: "add", path: "/m", value: 1 }] });
    const { doc = [] } = (await world.store.load(ana.key)) ?? {};
    const read = new Y.Doc();
    for (const update of doc) Y.applyUpdate(read, update);
    expect(read.getMap("state").toJSON()).toEqual({ n: 19, m: 1 });
  });
});

describe("the command", () => {
  const cothread = (...args: string[]) =>
    new Promise<{ status: number; out: string; err: string }>((resolve) =>
      execFile(process.execPath, [CLI, "compact", ...args], { env: cleanEnvironment() }, (error, out, err) =>
        resolve({ status: error ? Number(error.code) : 0, out, err }),
      ),
    );

  test("[Y8] refuses while a server has the store open, and does its work when it has stopped", async () => {
    await prepare((store) => commitAll(store, [creation(keyOf("launch"), 1, write(typed(2_000, "Hello")))]));
    const server = await startServer(["--store", url]);
    onTestFinished(() => server.kill());
    const refused = await cothread("--store", url);
    expect([refused.status, refused.out]).toEqual([1, ""]);
    expect(refused.err).toMatch(
      new RegExp(`^\\S+threads\\.db is already open in process ${server.pid}\\. One server at a time: .*\n$`),
    );
    expect(await server.stop()).toBe(0);
    const done = await cothread("--store", url, "--thread", "launch", "--min-gain", "20%");
    expect([done.status, done.err]).toEqual([0, ""]);
    expect(done.out).toMatch(/^launch {2}.* bytes\n1 of 1 document compacted {2}.* bytes\n$/);
  }, 60_000);

  test("a flag that is none, or another command's, gets a sentence; a refused document is exit status 1", async () => {
    await prepare((store) => commitAll(store, [creation(keyOf("a"), 1, write(Uint8Array.from([9])))]));
    expect(await cothread("--min-gian", "20%")).toMatchObject({
      status: 1,
      err: expect.stringMatching(/^There is no option --min-gian\. Did you mean --min-gain\?/),
    });
    expect((await cothread("--port", "1")).err).toMatch(/^--port is not an option of "compact"\./);
    expect((await cothread("launch")).err).toMatch(/^"compact" takes no argument, but there is "launch"\./);
    expect(await cothread("--store", url)).toEqual({
      status: 1,
      out: "a  left as it is: It cannot be read as a Yjs document.\n0 of 1 document compacted\n",
      err: "",
    });
  }, 60_000);
});
