import { describe, expect, test } from "vitest";
import type { FoldChange } from "../../server/store/store.ts";
import {
  AT,
  alsoReopened,
  batch,
  commitAll,
  creation,
  entries,
  everything,
  type OpenedStore,
} from "./store-batches.ts";

const HOUR = 60 * 60 * 1000;

/** The part of the contract that is about reading back what was committed. */
export function storeReads(name: string, open: () => OpenedStore): void {
  const key = { tenant: "default", thread: "launch" };
  const nobody = { tenant: "default", thread: "nobody" };

  const message = (id: string, place: number, text = id) => ({
    id,
    place,
    json: JSON.stringify({ id, text }),
  });
  const fold = (seq: number, more: Partial<FoldChange> = {}): FoldChange => ({
    seq,
    rest: `{"at":${seq}}`,
    messages: [],
    turns: [],
    dropped: [],
    ...more,
  });

  describe(`${name}: reads`, () => {
    test("what is not there is null or nothing", async () => {
      const { store } = open();
      expect(await store.load(nobody)).toBeNull();
      expect(await store.read(nobody, 0, 10)).toEqual([]);
      expect(await store.mark(nobody, 1)).toBeNull();
      expect(await store.ack(nobody, "u", "k", 0)).toBeNull();
      expect(await store.input(nobody, "i")).toBeNull();
      expect(await store.messages(nobody, "m", 10)).toEqual([]);
      expect(await store.threads({ tenant: "default", limit: 10 })).toEqual([]);
      expect(await store.unfinished()).toEqual([]);
    });

    test("entries come back in order, in pages, whatever commits they came in", async () => {
      const { store } = open();
      await commitAll(store, [creation(key, 2), batch(key, 2, 5), batch(key, 7, 1), batch(key, 8, 4)]);
      await alsoReopened(open(), async (now) => {
        const all = entries(0, 12).map((e) => JSON.parse(e.json));
        for (let after = -1; after <= 13; after++) {
          for (const limit of [-1, 0, 1, 2, 5, 100, Number.POSITIVE_INFINITY]) {
            const from = Math.max(0, after);
            expect(await now.read(key, after, limit), `${after}, ${limit}`).toEqual(
              all.slice(from, from + Math.max(0, limit)),
            );
          }
        }
      });
    });

    test("every seq of a commit has the commit's mark, and no other seq has one", async () => {
      const { store } = open();
      await commitAll(store, [
        creation(key, 2, { mark: "a" }),
        batch(key, 2, 0, { mark: "none" }),
        batch(key, 2, 3, { mark: "b" }),
        batch(key, 5, 1, { mark: "c" }),
      ]);
      await alsoReopened(open(), async (now) => {
        const found = [];
        for (const seq of [-1, 0, 1, 2, 3, 4, 5, 6, 7, 2.5, Number.NaN]) found.push(await now.mark(key, seq));
        expect(found).toEqual([null, null, "a", "a", "b", "b", "b", "c", null, null, null]);
      });
    });

    test("a commit of any length is one commit", async () => {
      const { store } = open();
      const long = batch(key, 1, 900, { mark: "long", entries: entries(1, 900, "x".repeat(700)) });
      await commitAll(store, [creation(key, 1, { mark: "a" }), long]);
      await alsoReopened(open(), async (now) => {
        for (const seq of [2, 3, 100, 450, 900, 901]) expect(await now.mark(key, seq)).toBe("long");
        const page = await now.read(key, 123, 500);
        expect(page.map((e) => e.seq)).toEqual(Array.from({ length: 500 }, (_, i) => 124 + i));
        expect((await now.read(key, 0, 10_000)).length).toBe(901);
        const parts = Array.from({ length: 899 }, (_, i) => ({
          ...long,
          entries: long.entries.slice(0, i + 1),
        }));
        const results = await now.commit(parts);
        expect(new Set(results.map((result) => result.ok || result.code))).toEqual(new Set(["conflict"]));
        expect(await now.commit([long])).toEqual([{ ok: true, duplicate: true }]);
      });
    });

    test("texts come back as they were", async () => {
      const { store } = open();
      const what = 'é 😀 \u2028 \u0000 \ud800 "\\" \n\r\t 漢';
      const json = JSON.stringify({ seq: 1, at: AT, kind: "erased", what });
      const kept = { id: "m 😀", place: 1, json: JSON.stringify({ what }) };
      const change = fold(1, { messages: [kept], rest: JSON.stringify({ what }) });
      await commitAll(store, [creation(key, 1, { entries: [{ seq: 1, json }], fold: change })]);
      await alsoReopened(open(), async (now) => {
        expect(await now.read(key, 0, 1)).toEqual([{ seq: 1, at: AT, kind: "erased", what }]);
        expect((await now.load(key))!.fold).toEqual({
          seq: 1,
          rest: change.rest,
          messages: [kept],
          turns: [],
        });
      });
    });

    test("the fold is what its changes made of it, in order of place", async () => {
      const { store } = open();
      const turn = (id: string, place: number, json = "{}") => ({ id, place, json });
      await commitAll(store, [
        creation(key, 3, {
          fold: fold(3, {
            messages: [message("c", 3), message("a", 1), message("b", 2)],
            turns: [turn("t2", 2), turn("t1", 1)],
          }),
        }),
        batch(key, 3, 1, {
          fold: fold(4, {
            messages: [message("late", 1.5), message("b", 2, "longer"), message("first", -0.25)],
            turns: [turn("t1", 1, '{"end":true}'), turn("t3", 3)],
          }),
        }),
        batch(key, 4, 1, { fold: fold(5, { messages: [message("a", 9)], dropped: ["c", "never there"] }) }),
        batch(key, 5, 1),
      ]);
      await alsoReopened(open(), async (now) => {
        expect(await now.load(key)).toMatchObject({ seq: 6 });
        expect((await now.load(key))!.fold).toEqual({
          seq: 5,
          rest: '{"at":5}',
          messages: [
            message("first", -0.25),
            message("late", 1.5),
            message("b", 2, "longer"),
            message("a", 9),
          ],
          turns: [turn("t1", 1, '{"end":true}'), turn("t2", 2), turn("t3", 3)],
        });
      });
    });

    test("a message that is dropped and put in one change is there", async () => {
      const { store } = open();
      await commitAll(store, [
        creation(key, 1, { fold: fold(1, { messages: [message("a", 1), message("b", 2)] }) }),
        batch(key, 1, 1, { fold: fold(2, { messages: [message("a", 3)], dropped: ["a"] }) }),
      ]);
      expect((await store.load(key))!.fold!.messages).toEqual([message("b", 2), message("a", 3)]);
    });

    test("loading gives the inputs that are queued or running, in the order they came; by id all of them", async () => {
      const { store } = open();
      const input = (
        inputId: string,
        status: "queued" | "running" | "done" | "failed" | "withdrawn",
        n = 0,
      ) => ({
        inputId,
        status,
        json: `{"n":${n}}`,
      });
      const first = ["z", "b", "a", "y", "x"].map((id) => input(id, "queued"));
      const then = [
        input("b", "running", 1),
        input("a", "done", 1),
        input("y", "failed"),
        input("x", "withdrawn"),
      ];
      await commitAll(store, [creation(key, 1, { inputs: first }), batch(key, 1, 1, { inputs: then })]);
      await alsoReopened(open(), async (now) => {
        expect((await now.load(key))!.inputs).toEqual([input("z", "queued"), input("b", "running", 1)]);
        for (const row of [input("z", "queued"), ...then]) {
          expect(await now.input(key, row.inputId)).toEqual(row);
        }
        expect(await now.input(key, "none")).toBeNull();
      });
    });

    test("an ack is remembered by user and key for 24 h", async () => {
      const { store } = open();
      const ack = (user: string, k: string, at: number, n = 0) => ({
        user,
        key: k,
        hash: `h${n}`,
        at,
        json: `{"n":${n}}`,
      });
      await commitAll(store, [
        creation(key, 1, { acks: [ack("u", "k", AT), ack("u", "l", AT + HOUR), ack("v", "k", AT, 1)] }),
        creation(nobody),
      ]);
      await alsoReopened(open(), async (now) => {
        expect(await now.ack(key, "u", "k", AT)).toEqual(ack("u", "k", AT));
        expect(await now.ack(key, "u", "k", AT + 24 * HOUR)).toEqual(ack("u", "k", AT));
        expect(await now.ack(key, "u", "k", AT + 24 * HOUR + 1)).toBeNull();
        expect(await now.ack(key, "u", "l", AT + 24 * HOUR + 1)).toEqual(ack("u", "l", AT + HOUR));
        expect(await now.ack(key, "v", "k", AT)).toEqual(ack("v", "k", AT, 1));
        expect(await now.ack(key, "w", "k", AT)).toBeNull();
        expect(await now.ack(nobody, "u", "k", AT)).toBeNull();
      });
    });

    test("an ack given again replaces the old one", async () => {
      const { store } = open();
      const old = { user: "u", key: "k", hash: "old", at: AT, json: "1" };
      const fresh = { ...old, hash: "new", at: AT + 30 * HOUR, json: "2" };
      await commitAll(store, [creation(key, 1, { acks: [old] }), batch(key, 1, 1, { acks: [fresh] })]);
      expect(await store.ack(key, "u", "k", AT + 31 * HOUR)).toEqual(fresh);
    });

    test("sweeping removes acks older than 24 h and nothing else", async () => {
      const { store } = open();
      const acks = Array.from({ length: 1_200 }, (_, i) => ({
        user: "u",
        key: `k${i}`,
        hash: "h",
        at: AT + i,
        json: "{}",
      }));
      await commitAll(store, [creation(key, 1, { acks })]);
      await store.sweep(AT + 1_100 + 24 * HOUR);
      await alsoReopened(open(), async (now) => {
        // asked as of then: what was swept is gone even for a clock that was set back
        expect(await now.ack(key, "u", "k0", AT)).toBeNull();
        expect(await now.ack(key, "u", "k1099", AT)).toBeNull();
        expect(await now.ack(key, "u", "k1100", AT)).toEqual(acks[1_100]);
        expect(await now.ack(key, "u", "k1199", AT)).toEqual(acks[1_199]);
        expect(await now.load(key)).toMatchObject({ seq: 1 });
      });
    });

    test("messages page backwards from the one named", async () => {
      const { store } = open();
      const all = Array.from({ length: 9 }, (_, i) => message(`m${8 - i}`, i < 4 ? i : i - 0.5));
      await commitAll(store, [
        creation(key, 1, { fold: fold(1, { messages: [...all].reverse() }) }),
        creation(nobody, 1, { fold: fold(1, { messages: [message("m5", 0)] }) }),
      ]);
      await alsoReopened(open(), async (now) => {
        expect(await now.messages(key, "m0", 3)).toEqual(all.slice(5, 8));
        expect(await now.messages(key, "m3", 3)).toEqual(all.slice(2, 5));
        expect(await now.messages(key, "m6", 3)).toEqual(all.slice(0, 2));
        expect(await now.messages(key, "m8", 3)).toEqual([]);
        expect(await now.messages(key, "m0", 100)).toEqual(all.slice(0, 8));
        expect(await now.messages(key, "m0", Number.POSITIVE_INFINITY)).toEqual(all.slice(0, 8));
        expect(await now.messages(key, "m0", 0)).toEqual([]);
        expect(await now.messages(key, "m0", -1)).toEqual([]);
        expect(await now.messages(key, "no such", 3)).toEqual([]);
      });
    });

    test("everything is there again after a reopen, and goes on", async () => {
      const { store } = open();
      await commitAll(store, [
        creation(key, 2, { ownerEpoch: 7, fold: fold(2, { messages: [message("a", 1)] }) }),
        batch(key, 2, 1, { ownerEpoch: 7, inputs: [{ inputId: "i", status: "running", json: "{}" }] }),
      ]);
      const before = await everything(store, key);
      await alsoReopened(open(), async (now) => {
        expect(await everything(now, key)).toEqual(before);
        expect(await now.commit([batch(key, 3, 1, { ownerEpoch: 6 })])).toMatchObject([{ code: "fenced" }]);
      });
      const now = (await open().reopen?.()) ?? store;
      await commitAll(now, [batch(key, 3, 1, { ownerEpoch: 8 })]);
      await alsoReopened(open(), async (then) => {
        expect(await then.load(key)).toMatchObject({ seq: 4, ownerEpoch: 8 });
      });
    });
  });
}
