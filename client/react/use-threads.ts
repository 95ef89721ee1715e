import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { ThreadList, ThreadListSnapshot, ThreadQuery } from "../index.ts";
import { useClient } from "./provider.ts";

/** A live list with what one can do about it. */
export type ThreadsView = ThreadListSnapshot & Pick<ThreadList, "retry">;

const EMPTY: ThreadListSnapshot = { status: "idle", error: undefined, items: [] };

/**
 * The threads that match a query, newest first, kept up to date while the component is there. The query may
 * be a new object each time; what counts is what it says.
 */
export function useThreads(query: ThreadQuery = {}): ThreadsView {
  const client = useClient();
  const { archived, text, limit } = query;
  const list = useMemo(
    () =>
      client.peekThreads({
        ...(archived !== undefined && { archived }),
        ...(text !== undefined && { text }),
        ...(limit !== undefined && { limit }),
      }),
    [client, archived, text, limit],
  );
  useEffect(() => list.hold(), [list]);
  const snapshot = useSyncExternalStore(
    list.subscribe,
    () => list.snapshot,
    () => EMPTY,
  );
  return useMemo(() => ({ ...snapshot, retry: list.retry }), [snapshot, list]);
}
