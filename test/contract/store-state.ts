import { describe, expect, test } from "vitest";
import type { Batch, StateWrite } from "../../server/store/store.ts";
import { alsoReopened, batch, commitAll, creation, everything, type OpenedStore } from "./store-batches.ts";

/** The part of the contract that is about the shared document and what belongs to it. */
export function storeState(name: string, open: () => OpenedStore): void {
  const key = { tenant: "default", thread: "launch" };
  const other = { tenant: "elsewhere", thread: "launch" };

  const bytes = (...values: number[]) => Uint8Array.from(values);
  const change = (seq: number, run: string | null) => ({ seq, run, json: `{"n":${seq}}` });
  const write = (more: Partial<StateWrite>): Pick<Batch, "state"> => ({
    state: { updates: [], changes: [], agents: [], ...more },
  });

  /** A store may give a Buffer, which is compared as another kind of bytes. */
  const normal = (value: unknown) => JSON.parse(JSON.stringify(value, plainBytes)) as unknown;

  describe(`${name}: the shared state`, () => {
    test("[H11] updates come back byte for byte in the order they were made, per thread", async () => {
      await commitAll(open().store, [
        creation(key, 1, write({ updates: [bytes(1), bytes(2, 0, 255)] })),
        creation(other, 1, write({ updates: [bytes(9)] })),
        batch(key, 1, 1, write({ updates: [bytes(3)] })),
        batch(key, 2, 0, write({ updates: [bytes(4)] })),
      ]);
      await alsoReopened(open(), async (store) => {
        const { doc } = (await store.load(key)) ?? {};
        expect(doc?.map((update) => [...update])).toEqual([[1], [2, 0, 255], [3], [4]]);
        expect((await store.load(other))?.doc.map((update) => [...update])).toEqual([[9]]);
      });
    });

    test("[H11] a whole document takes the place of what was stored, and updates follow it", async () => {
      await commitAll(open().store, [
        creation(key, 1, write({ updates: [bytes(1)] })),
        batch(key, 1, 1, write({ updates: [bytes(2)], whole: bytes(12) })),
        batch(key, 2, 1, write({ updates: [bytes(3)] })),
      ]);
      const stored = async () => (await open().store.load(key))?.doc.map((update) => [...update]);
      expect(await stored()).toEqual([[12], [3]]);
      await commitAll(open().store, [
        batch(key, 3, 1, write({ updates: [bytes(4)], whole: bytes(1, 2, 3, 4) })),
        batch(key, 4, 1, write({ updates: [bytes(5)] })),
      ]);
      await alsoReopened(open(), async (store) => {
        expect((await store.load(key))?.doc.map((update) => [...update])).toEqual([[1, 2, 3, 4], [5]]);
      });
    });

    test("[Y8] a document of the next generation takes the place of all of it, and updates follow it", async () => {
      await commitAll(open().store, [
        creation(key, 1, write({ updates: [bytes(1)], agents: [{ agent: "writer", json: "1" }] })),
        batch(key, 1, 1, write({ updates: [bytes(2)], whole: bytes(12), changes: [change(2, "r1")] })),
        batch(key, 2, 1, write({ updates: [bytes(3)] })),
        creation(other, 1, write({ updates: [bytes(9)] })),
      ]);
      const before = await everything(open().store, key);
      const anew = batch(key, 3, 0, { ownerEpoch: 2, ...write({ whole: bytes(5), generation: 1 }) });
      await commitAll(open().store, [anew]);
      const { loaded, ...rest } = before as { loaded: object };
      const made = { ...loaded, generation: 1, ownerEpoch: 2, doc: [bytes(5)] };
      // The log, its marks, the agents' memories and what takes changes back are not touched.
      expect(normal(await everything(open().store, key))).toEqual(normal({ loaded: made, ...rest }));
      expect((await open().store.changes(key, "r1")).map(({ seq }) => seq)).toEqual([2]);
      await commitAll(open().store, [
        batch(key, 3, 1, { ownerEpoch: 2, ...write({ updates: [bytes(6)] }) }),
        batch(key, 4, 1, { ownerEpoch: 2, ...write({ updates: [], whole: bytes(7) }) }),
        batch(key, 5, 0, { ownerEpoch: 3, ...write({ whole: bytes(8), generation: 2 }) }),
        batch(key, 5, 1, { ownerEpoch: 3, ...write({ updates: [bytes(4)] }) }),
      ]);
      await alsoReopened(open(), async (store) => {
        const found = await store.load(key);
        expect(found).toMatchObject({ generation: 2, seq: 6 });
        expect(found?.doc.map((update) => [...update])).toEqual([[8], [4]]);
        expect(await store.load(other)).toMatchObject({ generation: 0 });
      });
    });

    test("[Y8] a generation that is not the next one, a former owner's or one without a document is refused", async () => {
      await commitAll(open().store, [
        creation(key, 1, { ownerEpoch: 3, ...write({ updates: [bytes(1)] }) }),
        batch(key, 1, 0, { ownerEpoch: 3, ...write({ whole: bytes(2), generation: 1 }) }),
      ]);
      const before = await everything(open().store, key);
      const anew = (generation: number, more: Partial<Batch> = {}) =>
        batch(key, 1, 0, { ownerEpoch: 3, ...write({ whole: bytes(3), generation }), ...more });
      const results = await open().store.commit([
        anew(1),
        anew(0),
        anew(3),
        anew(2, { ownerEpoch: 2 }),
        anew(2, { after: 0 }),
        anew(2, write({ updates: [bytes(3)], generation: 2 })),
        creation({ ...key, thread: "new" }, 1, write({ whole: bytes(3), generation: 1 })),
      ]);
      expect(results.map((result) => (result.ok ? "written" : result.code))).toEqual([
        ...["conflict", "conflict", "conflict", "fenced", "conflict"],
        ...["failed", "failed"],
      ]);
      expect(await everything(open().store, key)).toEqual(before);
    });

    test("[Y8] the threads of all tenants that have a document", async () => {
      await commitAll(open().store, [
        creation(key, 1, write({ updates: [bytes(1)] })),
        creation(other, 1, write({ updates: [], whole: bytes(1) })),
        creation({ ...key, thread: "plain" }, 1, write({ changes: [change(1, null)] })),
      ]);
      await alsoReopened(open(), async (store) => {
        const keys = await store.documents();
        expect(keys.toSorted((a, b) => (a.tenant < b.tenant ? -1 : 1))).toEqual([key, other]);
      });
    });

    test("[H9] the changes from the first one of a run on, of everybody, in order", async () => {
      await commitAll(open().store, [
        creation(key, 2, write({ changes: [change(1, null), change(2, "r1")] })),
        batch(key, 2, 3, write({ changes: [change(3, "r2"), change(4, null), change(5, "r1")] })),
        creation(other, 2, write({ changes: [change(2, "r1")] })),
      ]);
      await alsoReopened(open(), async (store) => {
        const of = async (run: string) => (await store.changes(key, run)).map(({ seq }) => seq);
        expect([await of("r1"), await of("r2"), await of("r3")]).toEqual([[2, 3, 4, 5], [3, 4, 5], []]);
        expect((await store.changes(key, "r2"))[0]).toEqual(change(3, "r2"));
        expect((await store.changes(key, "r2"))[1]).toEqual(change(4, null));
        expect(await store.changes({ ...key, thread: "nobody" }, "r1")).toEqual([]);
        expect((await store.changesAfter(key, 3)).map(({ seq }) => seq)).toEqual([4, 5]);
        expect((await store.changesAfter(key, 0))[2]).toEqual(change(3, "r2"));
        expect(await store.changesAfter(key, 5)).toEqual([]);
      });
    });

    test("[H6] what is known of an agent is replaced by what is known later; others keep theirs", async () => {
      await commitAll(open().store, [
        creation(key, 1, write({ agents: [{ agent: "writer", json: "1" }] })),
        batch(key, 1, 1, write({ agents: [{ agent: "planner", json: "2" }] })),
        batch(key, 2, 0, write({ agents: [{ agent: "writer", json: "3" }] })),
        creation(other, 1, write({ agents: [{ agent: "writer", json: "4" }] })),
      ]);
      await alsoReopened(open(), async (store) => {
        const rows = (await store.load(key))?.agents.toSorted((a, b) => (a.agent < b.agent ? -1 : 1));
        expect(rows).toEqual([
          { agent: "planner", json: "2" },
          { agent: "writer", json: "3" },
        ]);
      });
    });

    test("[H11] a batch that is refused, or committed twice, leaves nothing of its state", async () => {
      const state = write({
        updates: [bytes(7)],
        changes: [change(2, "r1")],
        agents: [{ agent: "planner", json: "7" }],
      });
      await commitAll(open().store, [creation(key, 1, write({ updates: [bytes(1)] }))]);
      const all = async () => [await everything(open().store, key), await open().store.changes(key, "r1")];
      const before = await all();
      const wrong = [batch(key, 0, 1, state), batch(key, 5, 1, { ...state, ...write({ whole: bytes(9) }) })];
      expect((await open().store.commit(wrong)).map(({ ok }) => ok)).toEqual([false, false]);
      expect(await all()).toEqual(before);
      const made = batch(key, 1, 1, state);
      await commitAll(open().store, [made]);
      const after = await all();
      await commitAll(open().store, [made]);
      expect(await all()).toEqual(after);
      expect((await open().store.load(key))?.doc).toHaveLength(2);
    });

    test("[H11] bytes the caller changes afterwards are not what is stored", async () => {
      const update = bytes(1, 2, 3);
      await commitAll(open().store, [creation(key, 1, write({ updates: [update] }))]);
      update.fill(0);
      expect([...((await open().store.load(key))?.doc[0] ?? [])]).toEqual([1, 2, 3]);
      (await open().store.load(key))?.doc[0]?.fill(0);
      expect([...((await open().store.load(key))?.doc[0] ?? [])]).toEqual([1, 2, 3]);
    });
  });
}

function plainBytes(_key: string, value: unknown): unknown {
  const isBytes = (it: unknown) => it instanceof Uint8Array;
  return Array.isArray(value) && value.some(isBytes) ? value.map((it) => [...(it as Uint8Array)]) : value;
}
