import type { Entry } from "../../shared/protocol/index.ts";
import { fromFold, Timeline } from "../../shared/timeline/index.ts";
import type { Loaded, Store, ThreadKey } from "../store/store.ts";
import type { LoggedText } from "./port.ts";
import { SdkLane } from "./sdk-lane.ts";

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

/** The same entries as JSON. @throws as {@link readLog} */
export async function logAsText(
  store: Store,
  key: ThreadKey,
  after: number,
  upTo: number,
): Promise<LoggedText> {
  const logged: LoggedText = { json: [], sdk: [] };
  const lane = new SdkLane();
  for await (const page of readLog(store, key, after, upTo))
    for (const entry of page) {
      const json = JSON.stringify(entry);
      logged.json.push(json);
      if (lane.carries(entry)) logged.sdk.push(json);
    }
  return logged;
}

/** The fold of a thread ([L6]): what is stored of it, and the entries behind. @throws as {@link readLog} */
export async function loadTimeline(store: Store, key: ThreadKey, { fold, seq }: Loaded): Promise<Timeline> {
  const timeline = fold ? fromFold(fold) : new Timeline();
  for await (const page of readLog(store, key, timeline.seq, seq))
    for (const entry of page) timeline.apply(entry);
  timeline.messages.reach = Number.POSITIVE_INFINITY;
  return timeline;
}
