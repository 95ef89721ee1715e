import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Batch, CommitResult, Store } from "../../server/store/store.ts";
import { batch, commitAll, creation, entries, everything, type OpenedStore } from "./store-batches.ts";
import { storeModel } from "./store-model.ts";
import { storeReads } from "./store-reads.ts";
import { storeState } from "./store-state.ts";
import { storeThreads } from "./store-threads.ts";

/** What a commit answered, in one word: `written`, `duplicate`, or the code of the refusal. */
function word(result: CommitResult | undefined): string {
  if (!result) return "nothing";
  return result.ok ? (result.duplicate ? "duplicate" : "written") : result.code;
}

/**
 * The contract of `Store`, for every implementation: call it once from a test file.
 *
 * @param name for the report
 * @param open gives an empty store; called before each test, the store is closed after it
 */
export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  const key = { tenant: "default", thread: "launch" };
  const other = { tenant: "default", thread: "other" };
  let opened: OpenedStore;
  let store: Store;

  beforeEach(async () => {
    opened = await open();
    store = opened.store;
    if (opened.reopen) {
      const { reopen } = opened;
      opened.reopen = async () => {
        opened.store = store = await reopen();
        return store;
      };
    }
  });
  afterEach(async () => {
    await store.close();
  });

  const one = async (made: Batch) => word((await store.commit([made]))[0]);

  describe(`${name}: commit`, () => {
    test("creates a thread and appends behind its log", async () => {
      expect(await one(creation(key, 2, { mark: "a", ownerEpoch: 4 }))).toBe("written");
      expect(await one(batch(key, 2, 3, { mark: "b", ownerEpoch: 4 }))).toBe("written");
      expect(await store.load(key)).toMatchObject({
        epoch: "epoch of launch",
        seq: 5,
        mark: "b",
        ownerEpoch: 4,
      });
      expect((await store.read(key, 0, 100)).map((e) => e.seq)).toEqual([1, 2, 3, 4, 5]);
    });

    test("creates an empty thread, whose mark is that of its creation", async () => {
      expect(await one(creation(key, 0, { mark: "a" }))).toBe("written");
      expect(await store.load(key)).toMatchObject({
        seq: 0,
        mark: "a",
        fold: null,
        inputs: [],
        doc: [],
        agents: [],
        reads: [],
      });
      expect(await store.mark(key, 0)).toBeNull();
    });

    test("[L1] refuses entries that do not follow the log", async () => {
      expect(await one(batch(key, 0, 1))).toBe("conflict");
      expect(await one(creation(key, 1, { after: 1, entries: entries(1, 1) }))).toBe("conflict");
      await commitAll(store, [creation(key, 3)]);
      const before = await everything(store, key);
      for (const after of [0, 2, 4, 99]) {
        expect(await one(batch(key, after, 1)), `after ${after}`).toBe("conflict");
        expect(await one(batch(key, after, 0)), `after ${after}, empty`).toBe("conflict");
      }
      expect(await everything(store, key)).toEqual(before);
      expect(await one(batch(key, 3, 1))).toBe("written");
    });

    test("refuses to create what exists", async () => {
      await commitAll(store, [creation(key)]);
      expect(await one(creation(key))).toBe("conflict");
      expect(await one(creation(key, 2))).toBe("conflict");
      await commitAll(store, [batch(key, 0, 2)]);
      expect(await one(creation(key, 2))).toBe("conflict");
      expect(await store.load(key)).toMatchObject({ seq: 2 });
    });

    test("a batch committed again succeeds and changes nothing", async () => {
      const made = creation(key, 2, { info: { title: "first" } });
      const next = batch(key, 2, 2, { ownerEpoch: 2, info: { title: "second", unfinished: true } });
      const last = batch(key, 4, 1, { ownerEpoch: 2, info: { title: "third", unfinished: false } });
      await commitAll(store, [made]);
      expect(await one(made)).toBe("duplicate");
      await commitAll(store, [next]);
      expect(await one(next)).toBe("duplicate");
      await commitAll(store, [last]);
      const before = await everything(store, key);
      expect(await one(next)).toBe("duplicate");
      expect(await one({ ...made, ownerEpoch: 2 })).toBe("duplicate");
      expect(await one({ ...next, ownerEpoch: 9 })).toBe("duplicate");
      expect(await everything(store, key)).toEqual(before);
    });

    test("another batch of the same length, or the same mark at another place, is no repeat", async () => {
      const made = batch(key, 1, 3);
      await commitAll(store, [creation(key, 1), made, batch(key, 4, 1)]);
      expect(await one(batch(key, 1, 3))).toBe("conflict");
      expect(await one({ ...made, entries: made.entries.slice(0, 2) })).toBe("conflict");
      expect(await one({ ...made, after: 2, entries: entries(2, 3) })).toBe("conflict");
    });

    test("the creation of an empty thread can be repeated until something follows", async () => {
      const made = creation(key);
      await commitAll(store, [made]);
      expect(await one(made)).toBe("duplicate");
      await commitAll(store, [batch(key, 0, 0, { info: { title: "kept" } })]);
      expect(await one(made)).toBe("duplicate");
      expect(await store.threads({ tenant: "default", limit: 1 })).toMatchObject([{ title: "kept" }]);
      await commitAll(store, [batch(key, 0, 1)]);
      expect(await one(made)).toBe("conflict");
    });

    test("a batch without entries writes its rows and leaves the log alone", async () => {
      await commitAll(store, [creation(key, 2, { mark: "a" })]);
      const rows = {
        inputs: [{ inputId: "i", status: "queued" as const, json: "{}" }],
        acks: [{ user: "u", key: "k", hash: "h", at: 5, json: "{}" }],
        info: { title: "now" },
      };
      const empty = batch(key, 2, 0, rows);
      expect(await one(empty)).toBe("written");
      expect(await one(empty)).toBe("written");
      expect(await store.load(key)).toMatchObject({ seq: 2, mark: "a", inputs: rows.inputs });
      expect(await store.ack(key, "u", "k", 5)).toEqual(rows.acks[0]);
      expect(await store.mark(key, 2)).toBe("a");
      expect(await one(batch(key, 2, 1))).toBe("written");
      expect(await one(empty)).toBe("conflict");
    });

    test("refuses a former owner, whatever it brings", async () => {
      const first = batch(key, 1, 1, { ownerEpoch: 3 });
      await commitAll(store, [creation(key, 1, { ownerEpoch: 3 }), first]);
      await commitAll(store, [batch(key, 2, 0, { ownerEpoch: 5 })]);
      const before = await everything(store, key);
      expect(before).toMatchObject({ loaded: { ownerEpoch: 5 } });
      expect(await one(batch(key, 2, 1, { ownerEpoch: 4 }))).toBe("fenced");
      expect(await one(batch(key, 2, 0, { ownerEpoch: 4, info: { title: "late" } }))).toBe("fenced");
      expect(await one(batch(key, 7, 1, { ownerEpoch: 4 }))).toBe("fenced");
      expect(await one(creation(key, 1, { ownerEpoch: 4 }))).toBe("fenced");
      expect(await one(first)).toBe("fenced");
      expect(await everything(store, key)).toEqual(before);
      expect(await one(batch(key, 2, 1, { ownerEpoch: 5 }))).toBe("written");
    });

    test("a refused batch does not make its sender the owner", async () => {
      await commitAll(store, [creation(key, 1)]);
      expect(await one(batch(key, 7, 1, { ownerEpoch: 9 }))).toBe("conflict");
      expect(await one(batch(key, 1, 1, { ownerEpoch: 1 }))).toBe("written");
    });

    test("each batch of a call fails or goes through by itself, all of it", async () => {
      await commitAll(store, [creation(key, 1), creation(other, 1)]);
      const before = await everything(store, other);
      const bad = batch(other, 1, 2, {
        inputs: [{ inputId: "i", status: "queued", json: "{}" }],
        acks: [{ user: "u", key: "k", hash: "h", at: 5, json: "{}" }],
        info: { title: "half" },
        fold: {
          seq: 3,
          rest: "{}",
          messages: [
            { id: "m1", place: 1, json: "{}" },
            { id: "m2", place: Number.NaN, json: "{}" },
          ],
          turns: [],
          dropped: [],
        },
      });
      const third = { tenant: "default", thread: "third" };
      const results = await store.commit([batch(key, 1, 1), bad, batch(other, 5, 1), creation(third, 1)]);
      expect(results.map(word)).toEqual(["written", "failed", "conflict", "written"]);
      for (const result of results) {
        if (!result.ok) expect(result.error.message).toMatch(/nothing was written/i);
      }
      expect(await everything(store, other)).toEqual(before);
      expect(await store.ack(other, "u", "k", 5)).toBeNull();
      expect(await store.load(key)).toMatchObject({ seq: 2 });
      expect(await store.load(third)).toMatchObject({ seq: 1 });
    });

    test("refuses a batch that would leave a hole, whose entry is no line, or whose id cannot be stored", async () => {
      const line = { seq: 1, json: '{\n"seq":1}' };
      expect(await one(creation(key, 0, { entries: [...entries(0, 1), ...entries(2, 1)] }))).toBe("failed");
      expect(await one(creation(key, 0, { entries: entries(1, 1) }))).toBe("failed");
      expect(await one(creation(key, 0, { entries: [line] }))).toBe("failed");
      expect(await one(creation(key, 0, { after: -1 }))).toBe("failed");
      expect(await one(creation({ tenant: "default", thread: "half a pair \ud800" }))).toBe("failed");
      expect(await one(creation({ tenant: "", thread: "t" }))).toBe("failed");
      expect(await store.load(key)).toBeNull();
      // what half a pair would be stored as
      const stored = { tenant: "default", thread: "half a pair \ufffd" };
      expect(await store.load(stored)).toBeNull();
      await commitAll(store, [creation(stored, 1)]);
      expect(await store.load({ tenant: "default", thread: "half a pair \ud800" })).toBeNull();
      expect(await store.read({ tenant: "default", thread: "half a pair \ud800" }, 0, 1)).toEqual([]);
    });

    test("batches of one thread in one call build on each other", async () => {
      const second = batch(key, 1, 2);
      const results = await store.commit([
        creation(key, 1),
        second,
        second,
        batch(key, 2, 1),
        batch(key, 3, 1),
      ]);
      expect(results.map(word)).toEqual(["written", "written", "duplicate", "conflict", "written"]);
      expect(await store.load(key)).toMatchObject({ seq: 4 });
    });

    test("no batches, no results", async () => {
      expect(await store.commit([])).toEqual([]);
    });

    test("keeps nothing of the caller's objects, and gives none of its own away", async () => {
      const input = { inputId: "i", status: "queued" as const, json: "{}" };
      const message = { id: "m", place: 1, json: "{}" };
      const fold = { seq: 1, rest: "{}", messages: [message], turns: [], dropped: [] };
      await commitAll(store, [creation(key, 1, { inputs: [input], fold })]);
      const before = await everything(store, key);
      input.json = message.json = "changed";
      const loaded = await store.load(key);
      loaded!.inputs[0]!.json = loaded!.fold!.messages[0]!.json = "changed";
      (await store.threads({ tenant: "default", limit: 1 }))[0]!.title = "changed";
      expect(await everything(store, key)).toEqual(before);
    });

    test("a closed store refuses everything and makes nothing up", async () => {
      await commitAll(store, [creation(key, 1)]);
      await store.close();
      await store.close();
      const results = await store.commit([batch(key, 1, 1), creation(other)]);
      expect(results.map(word)).toEqual(["failed", "failed"]);
      await expect(store.load(key)).rejects.toMatchObject({ code: "closed" });
      await expect(store.read(key, 0, 10)).rejects.toMatchObject({ code: "closed" });
      await expect(store.threads({ tenant: "default", limit: 1 })).rejects.toMatchObject({ code: "closed" });
    });

    storeModel(() => opened);
  });

  storeReads(name, () => opened);
  storeState(name, () => opened);
  storeThreads(name, () => opened);
}
