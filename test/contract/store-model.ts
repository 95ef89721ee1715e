import fc from "fast-check";
import { expect, test } from "vitest";
import type { Batch, Store, ThreadKey } from "../../server/store/store.ts";
import { batch, type OpenedStore } from "./store-batches.ts";

/** What the model remembers of a thread: the mark of every commit with entries, by the seq it ended at. */
type ModelThread = { seq: number; owner: number; made: string; ends: Map<number, string>; what: string[] };
type Model = Map<string, ModelThread>;
type Expected = "written" | "duplicate" | "fenced" | "conflict";

/** One batch as drawn: `after` is meant relative to where the model's log stands. */
type Draw = {
  tenant: number;
  thread: number;
  shift: number;
  count: number;
  create: boolean;
  owner: number;
  again: number | null;
};

const draw: fc.Arbitrary<Draw> = fc.record({
  tenant: fc.nat(1),
  thread: fc.nat(2),
  shift: fc.constantFrom(0, 0, 0, 0, 0, -1, 1, -3),
  count: fc.nat(4),
  create: fc.boolean(),
  owner: fc.constantFrom(1, 1, 1, 1, 2, 3),
  again: fc.option(fc.nat(200), { freq: 3 }),
});

const nameOf = (key: ThreadKey) => `${key.tenant} ${key.thread}`;

/** The rules of `commit`, on plain maps. */
function step(model: Model, { key, ownerEpoch, mark, after, entries, create }: Batch): Expected {
  const thread = model.get(nameOf(key));
  const end = after + entries.length;
  if (!thread) {
    if (!create || after !== 0) return "conflict";
    const what = entries.map((e) => e.json);
    model.set(nameOf(key), {
      seq: end,
      owner: ownerEpoch,
      made: mark,
      ends: new Map(end > 0 ? [[end, mark]] : []),
      what,
    });
    return "written";
  }
  if (ownerEpoch < thread.owner) return "fenced";
  if (create || after !== thread.seq) {
    if (entries.length > 0 && thread.ends.get(end) === mark) return "duplicate";
    if (entries.length === 0 && create && thread.seq === 0 && thread.made === mark) return "duplicate";
    return "conflict";
  }
  thread.owner = ownerEpoch;
  if (entries.length > 0) thread.ends.set(end, mark);
  thread.seq = end;
  thread.what.push(...entries.map((e) => e.json));
  return "written";
}

/** Runs random commits, with repeats and wrong places, on the store and on a model of it. */
export function storeModel(open: () => OpenedStore): void {
  let run = 0;

  test("random batches do what the model does", async () => {
    const opened = open();
    const { reopen } = opened;
    let { store } = opened;
    const calls = fc.array(fc.tuple(fc.array(draw, { minLength: 1, maxLength: 4 }), fc.nat(7)), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(calls, async (drawn) => {
        run += 1;
        const model: Model = new Map();
        const history: Batch[] = [];
        for (const [call, chance] of drawn) {
          const batches: Batch[] = [];
          const expected: Expected[] = [];
          for (const one of call) {
            const made = materialise(one, run, model, history);
            history.push(made);
            batches.push(made);
            expected.push(step(model, made));
          }
          const results = await store.commit(batches);
          expect(results.map((r) => (r.ok ? (r.duplicate ? "duplicate" : "written") : r.code))).toEqual(
            expected,
          );
          if (reopen && chance === 0) store = await reopen();
        }
        await compare(store, model, history);
      }),
      { numRuns: 100 },
    );
  });
}

function materialise(one: Draw, run: number, model: Model, history: Batch[]): Batch {
  const earlier = one.again === null ? undefined : history[one.again % Math.max(1, history.length)];
  if (earlier) return earlier;
  const key = { tenant: `run ${run} tenant ${one.tenant}`, thread: `thread ${one.thread}` };
  const stands = model.get(nameOf(key))?.seq;
  const create = stands === undefined ? one.create || one.shift === 0 : one.create && one.shift !== 0;
  return batch(key, Math.max(0, (stands ?? 0) + one.shift), one.count, {
    ownerEpoch: one.owner,
    ...(create ? { create: { epoch: "e", at: 1 } } : {}),
  });
}

async function compare(store: Store, model: Model, history: Batch[]): Promise<void> {
  for (const { key } of history) {
    const thread = model.get(nameOf(key));
    const loaded = await store.load(key);
    if (!thread) {
      expect(loaded).toBeNull();
      continue;
    }
    const { seq, owner, made, ends, what } = thread;
    expect(loaded).toMatchObject({ seq, ownerEpoch: owner, mark: ends.get(seq) ?? made });
    expect(await store.read(key, 0, 1_000)).toEqual(what.map((json) => JSON.parse(json)));
    const sorted = [...ends].sort(([a], [b]) => a - b);
    for (let at = 1; at <= seq + 1; at++) {
      expect(await store.mark(key, at)).toBe(sorted.find(([end]) => end >= at)?.[1] ?? null);
    }
  }
}
