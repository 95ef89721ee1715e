import type { Cursor, Entry } from "../../shared/protocol/index.ts";
import { reachBelow, takeSnapshot, windowStart } from "../../shared/timeline/index.ts";
import type { CatchUp, JoinReply } from "./port.ts";
import type { Room } from "./room.ts";

/** Where a reader stands at the moment a room's turn is settled. */
export type Standing = {
  cursor: Cursor | null;
  place: { epoch: string; seq: number; mark: string; generation: number };
  people: JoinReply["people"];
  /** Taken at once when there is no cursor: later the timeline may be ahead of what is committed. */
  snapshot: (CatchUp & { kind: "snapshot" }) | null;
  /** Place of the oldest message that a reader with a cursor holds for certain. */
  window: number;
  /** Whether an entry changes a message older than that. */
  reaches: (entry: Entry) => boolean;
};

/**
 * From which place on a reader holds the thread's messages, by the first one it names; `null` when that is gone
 * and nobody can tell.
 */
export function windowOf(room: Room, oldest: string | undefined): number | null {
  if (oldest === undefined) return Number.NEGATIVE_INFINITY;
  return room.timeline.messages.get(oldest)?.place ?? null;
}

/**
 * What a reader of a room needs, to be called when a turn is settled.
 * @param cursor a good one, or `null`
 * @param history how many of the newest messages a snapshot is to hold
 * @param window what the reader holds, as {@link windowOf} tells; `null` when that is not known, so that a
 *   cursor is of no use
 */
export function standAt(room: Room, cursor: Cursor | null, history: number, window: number | null): Standing {
  const { epoch, seq, mark, generation } = room.place;
  const place = { epoch, seq, mark, generation };
  const { people: here } = room.audience;
  const people = { n: here.n, ...here.show() };
  const { timeline } = room;
  if (cursor && cursor.seq <= seq && window !== null) {
    const reaches = reachBelow(timeline, window, cursor.seq);
    return { cursor, place, people, snapshot: null, window, reaches };
  }
  const snapshot = takeSnapshot(timeline, { thread: room.key.thread, epoch, seq, mark }, history);
  const held = windowStart(timeline, snapshot);
  return {
    cursor: null,
    place,
    people,
    snapshot: { kind: "snapshot", snapshot, window: held },
    window: held,
    reaches: () => false,
  };
}
