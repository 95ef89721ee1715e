import type { Entry } from "../../shared/protocol/index.ts";
import type { Store, ThreadKey } from "../store/store.ts";

/** Entries read from the store at a time: others get their turn in between. */
const READ_PAGE = 1_000;

/**
 * Reads the entries in (after, upTo] in order, page by page.
 * @throws whatever the store throws, and an error when the log ends before `upTo`
 */
export async function* readLog(
  store: Store,
  key: ThreadKey,
  after: number,
  upTo: number,
): AsyncGenerator<Entry[]> {
  for (let at = after; at < upTo; ) {
    const page = await store.read(key, at, Math.min(READ_PAGE, upTo - at));
    const last = page.at(-1);
    if (!last) throw new Error(`the log ends at ${at} instead of ${upTo}`);
    at = last.seq;
    yield page;
  }
}
