import { describe, expect, test } from "vitest";
import type { Batch, Store } from "../../server/store/store.ts";
import { AT, alsoReopened, batch, commitAll, creation, type OpenedStore } from "./store-batches.ts";

/** The part of the contract that is about many threads: the list, and that they never meet. */
export function storeThreads(name: string, open: () => OpenedStore): void {
  const key = { tenant: "default", thread: "launch" };
  const message = (id: string, place: number, n: number) => ({ id, place, json: `${n}` });

  describe(`${name}: threads`, () => {
    test("a thread's row starts plain and changes by what is given", async () => {
      const { store } = open();
      await commitAll(store, [creation(key)]);
      const plain = {
        id: "launch",
        title: "",
        archived: false,
        agent: null,
        createdAt: AT,
        updatedAt: AT,
        lastMessage: "",
        running: false,
        waiting: false,
      };
      const row = async (now: Store) => (await now.threads({ tenant: "default", limit: 1 }))[0];
      expect(await row(store)).toEqual(plain);
      const some = { title: "Plan", agent: "planner", updatedAt: AT + 5, running: true };
      await commitAll(store, [batch(key, 0, 0, { info: some })]);
      expect(await row(store)).toEqual({ ...plain, ...some });
      const more = { archived: true, agent: null, lastMessage: "hi", running: false, waiting: true };
      await commitAll(store, [batch(key, 0, 1, { info: { ...more, unfinished: true } })]);
      await commitAll(store, [batch(key, 1, 1, { info: {} })]);
      await commitAll(store, [batch(key, 2, 1)]);
      await alsoReopened(open(), async (now) => {
        expect(await row(now)).toEqual({ ...plain, ...some, ...more });
      });
    });

    test("threads are listed newest first, filtered", async () => {
      const { store } = open();
      const rows: [string, Batch["info"]][] = [
        ["a", { title: "Launch plan", lastMessage: "Ship on Friday", updatedAt: AT + 3 }],
        ["b", { title: "Über Größe", lastMessage: "100%_done", updatedAt: AT + 5 }],
        ["c", { title: "old launch", lastMessage: "", updatedAt: AT + 1, archived: true }],
        ["d", { title: "", lastMessage: "FRIDAY is fine", updatedAt: AT + 4 }],
        ["e", { title: "quiet", lastMessage: "nothing", updatedAt: AT + 2 }],
      ];
      await commitAll(
        store,
        rows.map(([thread, info]) => creation({ tenant: "default", thread }, 0, { info: info! })),
      );
      await commitAll(store, [creation({ tenant: "elsewhere", thread: "a" }, 0, { info: rows[0]![1]! })]);
      await alsoReopened(open(), async (now) => {
        const ids = async (query: { archived?: boolean; text?: string; limit?: number; ids?: string[] }) =>
          (await now.threads({ tenant: "default", limit: 100, ...query })).map((row) => row.id).join("");
        expect(await ids({})).toBe("bdaec");
        expect(await ids({ archived: false })).toBe("bdae");
        expect(await ids({ archived: true })).toBe("c");
        expect(await ids({ limit: 2 })).toBe("bd");
        expect(await ids({ limit: 0 })).toBe("");
        expect(await ids({ limit: -1 })).toBe("");
        expect(await ids({ limit: Number.POSITIVE_INFINITY })).toBe("bdaec");
        expect(await ids({ limit: 1, archived: false, text: "launch" })).toBe("a");
        expect(await ids({ text: "LAUNCH" })).toBe("ac");
        expect(await ids({ text: "friday" })).toBe("da");
        expect(await ids({ text: "GRÖSSE" })).toBe("");
        expect(await ids({ text: "GRÖß" })).toBe("b");
        expect(await ids({ text: "über" })).toBe("b");
        expect(await ids({ text: "%" })).toBe("b");
        expect(await ids({ text: "0%_d" })).toBe("b");
        expect(await ids({ text: "a_n" })).toBe("");
        expect(await ids({ text: "" })).toBe("bdaec");
        expect(await ids({ ids: ["c", "a", "b", "none"] })).toBe("bac");
        expect(await ids({ ids: ["c", "a", "b"], archived: false })).toBe("ba");
        expect(await ids({ ids: ["c", "a", "b"], limit: 1 })).toBe("b");
        expect(await ids({ ids: ["c", "a", "b"], text: "launch" })).toBe("ac");
        expect(await ids({ ids: [] })).toBe("");
      });
    });

    test("[W4] what is unread is what was said less what somebody has heard; a mark never moves back", async () => {
      const { store } = open();
      const there = { tenant: "elsewhere", thread: "launch" };
      const ana = { user: "ana", seq: 2, heard: 1 };
      const ben = { user: "ben", seq: 0, heard: 0 };
      await commitAll(store, [creation(key, 3, { info: { said: 4 }, reads: [ana, ben] })]);
      await commitAll(store, [creation(there, 1, { info: { said: 9 }, reads: [{ ...ana, seq: 1 }] })]);
      await commitAll(store, [creation({ ...key, thread: "new" })]);
      await commitAll(store, [batch(key, 3, 0, { reads: [{ user: "ana", seq: 1, heard: 0 }] })]);
      await commitAll(store, [batch(key, 3, 0, { reads: [{ user: "ana", seq: 2, heard: 2 }] })]);
      await alsoReopened(open(), async (now) => {
        const unread = async (tenant: string, user: string, ids = ["launch", "new", "none"]) =>
          Object.fromEntries(await now.unread(tenant, user, ids));
        expect(await unread("default", "ana")).toEqual({ launch: 2 });
        expect(await unread("default", "ben")).toEqual({ launch: 4 });
        expect(await unread("default", "cy")).toEqual({});
        expect(await unread("default", "ana", ["new"])).toEqual({});
        expect(await unread("elsewhere", "ana")).toEqual({ launch: 8 });
        expect((await now.load(key))?.reads).toEqual([{ user: "ana", seq: 2, heard: 2 }, ben]);
      });
      const { store: reopened } = open();
      await commitAll(reopened, [batch(key, 3, 0, { reads: [{ user: "ana", seq: 3, heard: 4 }] })]);
      expect(await reopened.unread("default", "ana", ["launch"])).toEqual(new Map());
    });

    test("unfinished threads of all tenants are found until they are finished", async () => {
      const { store } = open();
      const keys = ["a", "b", "c"].map((thread) => ({ tenant: `tenant of ${thread}`, thread }));
      await commitAll(
        store,
        keys.map((k) => creation(k, 1, { info: { unfinished: true } })),
      );
      await commitAll(store, [batch(keys[1]!, 1, 1, { info: { unfinished: false } })]);
      await commitAll(store, [batch(keys[2]!, 1, 1, { info: { title: "still" } })]);
      await alsoReopened(open(), async (now) => {
        const found = await now.unfinished();
        expect(found.sort((x, y) => (x.thread < y.thread ? -1 : 1))).toEqual([keys[0], keys[2]]);
      });
    });

    test("equal thread ids of two tenants, and ids that look alike, never meet", async () => {
      const { store } = open();
      const names = ["default", "Default", "default ", "de'fault", "é", "e\u0301", "%"];
      const keys = names.flatMap((tenant) => names.map((thread) => ({ tenant, thread })));
      const full = (k: (typeof keys)[number], n: number) =>
        creation(k, (n % 3) + 1, {
          info: { title: `${n}` },
          inputs: [{ inputId: "i", status: "queued", json: `${n}` }],
          acks: [{ user: "u", key: "k", hash: "h", at: AT, json: `${n}` }],
          fold: {
            seq: 1,
            rest: "{}",
            messages: [message("m", 1, n), message("n", 2, n)],
            turns: [],
            dropped: [],
          },
        });
      await commitAll(store, keys.map(full));
      await alsoReopened(open(), async (now) => {
        for (const [n, k] of keys.entries()) {
          const loaded = await now.load(k);
          expect(loaded).toMatchObject({ seq: (n % 3) + 1, inputs: [{ json: `${n}` }] });
          expect(loaded!.fold!.messages[0]).toEqual(message("m", 1, n));
          expect(await now.messages(k, "n", 5)).toEqual([message("m", 1, n)]);
          expect((await now.read(k, 0, 10)).length).toBe((n % 3) + 1);
          expect(await now.ack(k, "u", "k", AT)).toMatchObject({ json: `${n}` });
          expect(await now.input(k, "i")).toMatchObject({ json: `${n}` });
        }
        for (const tenant of names) {
          const listed = await now.threads({ tenant, limit: 100 });
          expect(listed.map((row) => row.id).sort()).toEqual([...names].sort());
        }
      });
    });
  });
}
