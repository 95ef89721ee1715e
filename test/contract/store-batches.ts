import type { Batch, EncodedEntry, Store, ThreadKey } from "../../server/store/store.ts";

/** When the tests' threads were made, ms. */
export const AT = 1_700_000_000_000;

/** A store under test, empty. `reopen` closes it and opens what it kept; absent when it keeps nothing. */
export type OpenedStore = { store: Store; reopen?: () => Promise<Store> };

let marks = 0;

/** `count` entries behind `after`; their content tells them apart. */
export function entries(after: number, count: number, what = "entry"): EncodedEntry[] {
  return Array.from({ length: count }, (_, i) => {
    const seq = after + 1 + i;
    return { seq, json: JSON.stringify({ seq, at: AT, kind: "erased", what: `${what} ${seq}` }) };
  });
}

/** A batch with a mark of its own; `count` entries behind `after`, unless given. */
export function batch(key: ThreadKey, after: number, count: number, more: Partial<Batch> = {}): Batch {
  marks += 1;
  return { key, ownerEpoch: 1, mark: `m${marks}`, after, entries: entries(after, count), ...more };
}

/** A batch that creates the thread with `count` entries. */
export function creation(key: ThreadKey, count = 0, more: Partial<Batch> = {}): Batch {
  return batch(key, 0, count, { create: { epoch: `epoch of ${key.thread}`, at: AT }, ...more });
}

/** Commits batches that must go through. */
export async function commitAll(store: Store, batches: Batch[]): Promise<void> {
  for (const result of await store.commit(batches)) {
    if (!result.ok) throw result.error;
  }
}

/** Everything a store tells of a thread, for comparing before and after. */
export async function everything(store: Store, key: ThreadKey): Promise<unknown> {
  const loaded = await store.load(key);
  const marks = [];
  for (let seq = 0; seq <= (loaded?.seq ?? 0) + 1; seq++) marks.push(await store.mark(key, seq));
  return {
    loaded,
    marks,
    entries: await store.read(key, 0, 10_000),
    row: await store.threads({ tenant: key.tenant, ids: [key.thread], limit: 1 }),
  };
}

/** Checks before and after the store was closed and opened again, where it can be. */
export async function alsoReopened(
  opened: OpenedStore,
  check: (store: Store) => Promise<void>,
): Promise<void> {
  await check(opened.store);
  if (opened.reopen) await check(await opened.reopen());
}
