import type { Person } from "../../shared/protocol/index.ts";
import type { Broadcast, RoomsPort } from "../room/port.ts";
import type { ThreadKey } from "../store/store.ts";
import { awarenessMessage, SharedMessage, updateMessage } from "./doc-messages.ts";
import { type SharedFrame, textFrame } from "./shared-frame.ts";

/**
 * A broadcast with its frame, encoded once for all readers of this node ([B2]). A frame that has no entry for them is
 * sent all the same: it moves their cursors on.
 */
export type FeedItem =
  | ({
      kind: "entries";
      after: number;
      seq: number;
      mark: string;
      reach: number;
      anew: boolean;
    } & SharedFrame)
  | ({ kind: "people"; n: number } & SharedFrame)
  | { kind: "doc"; seq: number; by: string | null; message: SharedMessage }
  | { kind: "awareness"; by: string | null; message: SharedMessage }
  | { kind: "resync" }
  | { kind: "lost"; reason: string };

/** A reader of a feed. */
export interface FeedReader {
  deliver(item: FeedItem): void;
}

/** One thread's broadcasts on this node, handed to every connection that reads the thread. */
export class Feed {
  readonly key: ThreadKey;
  private readonly readers = new Set<FeedReader>();
  private readonly stop: () => void;

  constructor(key: ThreadKey, rooms: RoomsPort) {
    this.key = key;
    this.stop = rooms.listen(key, (broadcast) => {
      const item = encode(key.thread, broadcast);
      for (const reader of this.readers) reader.deliver(item);
    });
  }

  add(reader: FeedReader): void {
    this.readers.add(reader);
  }

  /** @returns whether anybody is left */
  remove(reader: FeedReader): boolean {
    this.readers.delete(reader);
    if (this.readers.size > 0) return true;
    this.stop();
    return false;
  }
}

/** The feeds of a node, by thread; they exist as long as somebody reads them. */
export class Feeds {
  private readonly rooms: RoomsPort;
  private readonly byKey = new Map<string, Feed>();

  constructor(rooms: RoomsPort) {
    this.rooms = rooms;
  }

  add(key: ThreadKey, reader: FeedReader): void {
    const id = `${key.tenant}\n${key.thread}`;
    let feed = this.byKey.get(id);
    if (!feed) {
      feed = new Feed(key, this.rooms);
      this.byKey.set(id, feed);
    }
    feed.add(reader);
  }

  remove(key: ThreadKey, reader: FeedReader): void {
    const id = `${key.tenant}\n${key.thread}`;
    if (this.byKey.get(id)?.remove(reader) === false) this.byKey.delete(id);
  }
}

function encode(thread: string, broadcast: Broadcast): FeedItem {
  switch (broadcast.kind) {
    case "entries": {
      const { after, seq, mark, reach, anew, sdk } = broadcast;
      const head = JSON.stringify({ type: "entries", thread, after, seq, mark }).slice(0, -1);
      return {
        kind: "entries",
        after,
        seq,
        mark,
        reach,
        anew,
        ...textFrame(`${head},"items":[${sdk.join(",")}]}`),
      };
    }
    case "people": {
      const { kind, n, ...change } = broadcast;
      return { kind, n, ...textFrame(peopleFrame(thread, change)) };
    }
    case "doc":
      return {
        kind: "doc",
        seq: broadcast.seq,
        by: broadcast.by,
        message: new SharedMessage(() => updateMessage(broadcast.update)),
      };
    case "awareness":
      return {
        kind: "awareness",
        by: broadcast.by,
        message: new SharedMessage(() => awarenessMessage(broadcast.update)),
      };
    case "resync":
    case "lost":
      return broadcast;
  }
}

/** A `people` frame; empty lists are left out. */
export function peopleFrame(
  thread: string,
  {
    count,
    ...lists
  }: { all?: Person[]; join?: Person[]; leave?: string[]; update?: Person[]; count?: number },
): string {
  const given = Object.entries(lists).filter(([name, list]) => name === "all" || (list?.length ?? 0) > 0);
  if (count !== undefined) given.push(["count", count as never]);
  return JSON.stringify({ type: "people", thread, ...Object.fromEntries(given) });
}
