import type { Person } from "../../shared/protocol/index.ts";
import type { Broadcast, RoomsPort } from "../room/port.ts";
import type { ThreadKey } from "../store/store.ts";

/** A broadcast with its frame, encoded once for all readers of this node ([B2]). */
export type FeedItem =
  | { kind: "entries"; after: number; seq: number; mark: string; reach: number; frame: Uint8Array }
  | { kind: "people"; n: number; frame: Uint8Array }
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
      const { after, seq, mark, reach, json } = broadcast;
      const head = JSON.stringify({ type: "entries", thread, after, seq, mark }).slice(0, -1);
      return {
        kind: "entries",
        after,
        seq,
        mark,
        reach,
        frame: Buffer.from(`${head},"items":[${json.join(",")}]}`),
      };
    }
    case "people": {
      const { n, join, leave, update } = broadcast;
      return { kind: "people", n, frame: Buffer.from(peopleFrame(thread, { join, leave, update })) };
    }
    case "lost":
      return broadcast;
  }
}

/** A `people` frame; empty lists are left out. */
export function peopleFrame(
  thread: string,
  lists: { all?: Person[]; join?: Person[]; leave?: string[]; update?: Person[] },
): string {
  const given = Object.entries(lists).filter(([name, list]) => name === "all" || (list?.length ?? 0) > 0);
  return JSON.stringify({ type: "people", thread, ...Object.fromEntries(given) });
}
