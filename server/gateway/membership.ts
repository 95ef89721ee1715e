import type { CloseCode, Cursor } from "../../shared/protocol/index.ts";
import type { CatchUp, JoinReply, RoomsPort } from "../room/port.ts";
import { Rejection } from "../room/port.ts";
import type { ThreadKey } from "../store/store.ts";
import type { DocItem, DocPeer } from "./doc-peer.ts";
import { type FeedItem, type FeedReader, type Feeds, peopleFrame } from "./feed.ts";
import type { Outbox } from "./outbox.ts";

type ThreadItem = Exclude<FeedItem, DocItem>;

/** What a membership needs of its connection. */
export interface MembershipHost {
  /** Its id, as rooms know it. */
  readonly id: string;
  readonly rooms: RoomsPort;
  readonly feeds: Feeds;
  readonly outbox: Outbox;
  /** Whether a newer membership of the same thread took the place of one that was left. */
  replaced(member: Membership): boolean;
  /** The document lane of a channel was opened. */
  openLane(member: Membership): DocPeer;
  /** Sends soon what waits. */
  watch(): void;
  close(code: CloseCode, reason: string): void;
  /** The thread cannot be served any more: the connection closes, and the client comes back. */
  lost(reason: string): void;
}

/**
 * One connection's reading of one thread ([J1], [B3]).
 *
 * `filling`: a reply is awaited, broadcasts are kept. `live`: broadcasts go out as they come. `lagging`: the
 * reader is slow, broadcasts are dropped, and it is brought back from the log when it has drained.
 */
export class Membership implements FeedReader {
  readonly key: ThreadKey;
  readonly channel: number;
  private readonly host: MembershipHost;
  private readonly history: number;
  private state: "filling" | "live" | "lagging" | "left" = "filling";
  private kept: ThreadItem[] | null = null;
  private cursor: Cursor | null = null;
  private people = 0;
  private doc: DocPeer | null = null;
  private window = Number.NEGATIVE_INFINITY;
  /** Settled when the join is answered: requests for the thread wait for it. */
  readonly ready: Promise<void>;

  constructor(
    key: ThreadKey,
    channel: number,
    join: { ref: string | number } & Omit<Parameters<RoomsPort["join"]>[0], "key">,
    host: MembershipHost,
  ) {
    this.key = key;
    this.channel = channel;
    this.host = host;
    this.history = join.history;
    // Listen first, then join: nothing can fall between ([J2]).
    host.feeds.add(key, this);
    this.ready = this.join(join);
  }

  /** Takes a message of the document lane; the first one opens it. */
  receive(message: Uint8Array): void {
    const take = () => {
      if (!this.here()) return;
      this.doc ??= this.host.openLane(this);
      this.doc.receive(message);
    };
    // A join that fails has said so.
    this.ready.then(take, () => {});
  }

  deliver(item: FeedItem): void {
    if (item.kind === "doc" || item.kind === "awareness" || item.kind === "resync")
      return this.doc?.deliver(item);
    switch (this.state) {
      case "filling":
        this.kept ??= [];
        this.kept.push(item);
        return;
      case "live":
        this.forward(item);
        return;
      case "lagging":
        if (item.kind === "lost") this.host.lost(item.reason);
        // What it missed counts on what it does not hold.
        if (item.kind === "entries" && (item.anew || item.reach < this.window)) this.cursor = null;
    }
  }

  /** Called now and then: a reader that lagged and has drained gets what it missed. */
  async resume(): Promise<void> {
    if (!this.host.outbox.drained) return;
    this.doc?.resume();
    if (this.state !== "lagging") return;
    this.state = "filling";
    try {
      const reply = await this.host.rooms.catchUp({
        key: this.key,
        cursor: this.cursor,
        history: this.history,
        window: this.window,
      });
      if (!this.here()) return;
      this.fill(reply);
    } catch (error) {
      if (this.here()) this.host.lost(error instanceof Error ? error.message : String(error));
    }
  }

  /** Whether it waits to be brought back from the log. */
  get lags(): boolean {
    return this.state === "lagging" || this.doc?.isBehind === true;
  }

  leave(): void {
    if (this.state === "left") return;
    this.state = "left";
    this.kept = null;
    this.doc?.end();
    this.host.feeds.remove(this.key, this);
    void this.host.rooms.leave({ key: this.key, connection: this.host.id });
  }

  private async join({
    ref,
    caller,
    ...request
  }: ConstructorParameters<typeof Membership>[2]): Promise<void> {
    const { rooms, outbox } = this.host;
    // A snapshot can be large: whoever does not read the last one does not get the next.
    await outbox.whenDrained();
    if (!this.here()) throw left();
    const reply = await rooms.join({ key: this.key, caller, ...request });
    if (!this.here()) {
      // Left while the join was under way: the room only now knows of somebody to take out again. Rooms know
      // connections, and one that has joined again since is to stay: the newer membership leaves for both.
      if (!this.host.replaced(this)) void rooms.leave({ key: this.key, connection: caller.connection });
      throw left();
    }
    const { epoch, seq, mark, generation, recovered, role } = reply;
    const { thread } = this.key;
    outbox.push(
      JSON.stringify({
        type: "joined",
        ref,
        thread,
        channel: this.channel,
        epoch,
        seq,
        mark,
        generation,
        recovered,
        role,
      }),
    );
    this.fill(reply);
  }

  /** Sends what a reply holds, then what was kept meanwhile and is newer. */
  private fill(reply: Pick<JoinReply, "epoch" | "catchUp" | "people">): void {
    const { outbox } = this.host;
    const { epoch, catchUp, people } = reply;
    outbox.push(catchUpFrame(this.key.thread, catchUp));
    this.window = catchUp.window;
    if (catchUp.kind === "snapshot") {
      const { seq, mark } = catchUp.snapshot;
      this.cursor = { epoch, seq, mark };
    } else this.cursor = { epoch, seq: catchUp.seq, mark: catchUp.mark };
    outbox.push(peopleFrame(this.key.thread, toldOf(people)));
    this.people = people.n;
    this.state = "live";
    const kept = this.kept;
    this.kept = null;
    for (const item of kept ?? []) if (this.state === "live") this.forward(item);
  }

  private forward(item: ThreadItem): void {
    const { outbox } = this.host;
    const cursor = this.cursor as Cursor;
    switch (item.kind) {
      case "people":
        if (item.n <= this.people) return;
        if (outbox.slow) {
          // Presence is dropped for a slow reader; it is told who is here when it has caught up.
          this.state = "lagging";
          return;
        }
        this.people = item.n;
        outbox.push(item.frame, item.framed);
        return;
      case "lost":
        return this.host.lost(item.reason);
      case "entries": {
        if (item.seq <= cursor.seq) return;
        if (item.anew || item.reach < this.window) {
          // It changes a message that this reader does not hold: only a new snapshot can say where it stands.
          this.cursor = null;
          this.state = "lagging";
          this.host.watch();
          void this.resume();
          return;
        }
        if (item.after !== cursor.seq || outbox.slow) {
          this.state = "lagging";
          this.host.watch();
          return;
        }
        this.cursor = { epoch: cursor.epoch, seq: item.seq, mark: item.mark };
        outbox.push(item.frame, item.framed);
      }
    }
  }

  // A method, so that the state is looked at anew after an await.
  private here(): boolean {
    return this.state !== "left";
  }
}

function left(): Rejection {
  return new Rejection("not_joined", "The thread was left before the join was done.");
}

function catchUpFrame(thread: string, catchUp: CatchUp): string {
  if (catchUp.kind === "snapshot") return JSON.stringify(catchUp.snapshot);
  const { kind: _kind, window: _window, ...rest } = catchUp;
  return JSON.stringify({ type: "entries", thread, ...rest });
}

function toldOf({ n: _, ...told }: JoinReply["people"]) {
  return told;
}
