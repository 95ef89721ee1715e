import type { Clock } from "../../shared/clock.ts";
import type { CloseCode } from "../../shared/protocol/index.ts";
import { type Caller, type DocSync, type DocTaken, Rejection, type RoomsPort } from "../room/port.ts";
import type { ThreadKey } from "../store/store.ts";
import {
  awarenessMessage,
  readDocMessage,
  type SharedMessage,
  step1Message,
  step2Message,
} from "./doc-messages.ts";
import type { FeedItem } from "./feed.ts";

/** What of a feed is about the document. */
export type DocItem = FeedItem & { kind: "doc" | "awareness" | "resync" };

/** What a peer needs of the connection it comes by. */
export interface DocPeerHost {
  readonly rooms: RoomsPort;
  readonly clock: Clock;
  /** How its changes reach the log. */
  readonly via: "doc" | "door";
  /** Between two looks whether both sides have the same, ms; something is sent each time. */
  readonly checkMs: number;
  /** Whether the reader does not take what it is sent. */
  readonly slow: boolean;
  send(message: Uint8Array, seq: number): void;
  sendShared(message: SharedMessage, seq: number): void;
  /** So many of its updates are committed. */
  saved(n: number): void;
  /** Something of it was dropped. */
  tell(rejection: Rejection): void;
  close(code: CloseCode, reason: string): void;
  /** Calls {@link DocPeer.resume} when the reader takes what it is sent again. */
  lags(): void;
}

/** Updates that may wait for their commit. */
const WAITING = 1_000;
/** Bytes of them. */
const WAITING_BYTES = 8 * 1024 * 1024;
/** Updates that may build on something that is not here, before one does not. */
const MISSES = 200;
/** The state vector of an empty document, and the awareness of nobody. */
const NOTHING = new Uint8Array([0]);

/** One connection as a peer of a thread's document ([Y1]–[Y5]), by whichever door it came. */
export class DocPeer {
  private readonly key: ThreadKey;
  private readonly caller: Caller;
  private readonly host: DocPeerHost;
  private state: "new" | "syncing" | "live" | "ended" = "new";
  /** What the peer was sent up to, as a state vector. */
  private known: Uint8Array = NOTHING;
  private held: DocItem[] = [];
  private count = 0;
  private savedCount = 0;
  private tellsSaved = false;
  private waiting = { count: 0, bytes: 0 };
  private misses = 0;
  private asked = false;
  private toldForbidden = false;
  private cancelCheck = () => {};
  /** Whether it has missed something because it did not read. */
  isBehind = false;

  constructor(key: ThreadKey, caller: Caller, host: DocPeerHost) {
    this.key = key;
    this.caller = caller;
    this.host = host;
  }

  /** Takes a message of the peer. */
  receive(bytes: Uint8Array): void {
    if (this.state === "ended") return;
    const message = readDocMessage(bytes);
    if (!message) return this.host.close(4402, "That was no message of y-protocols.");
    if (this.state === "new" && message.kind !== "step1")
      return this.host.close(4402, "Begin with sync step 1.");
    switch (message.kind) {
      case "step1":
        return void this.answer(message.vector);
      case "update":
        return void this.take(message.update);
      case "awareness":
        return void this.hear(message.update);
      case "query-awareness":
        return void this.resync();
    }
  }

  /** Hands on what the room tells. */
  deliver(item: DocItem): void {
    if (this.state === "new" || this.state === "ended") return;
    if (this.state === "syncing") this.held.push(item);
    else if (item.kind === "resync") void this.resync();
    else if (item.by === this.caller.connection) return;
    else if (this.host.slow) this.fallBehind();
    else this.host.sendShared(item.message, item.kind === "doc" ? item.seq : 0);
  }

  /** The reader takes what it is sent again: it gets what it has missed. */
  resume(): void {
    if (this.isBehind) void this.resync();
  }

  end(): void {
    this.state = "ended";
    this.held = [];
    this.cancelCheck();
  }

  private fallBehind(): void {
    this.isBehind = true;
    this.host.lags();
  }

  private async answer(vector: Uint8Array): Promise<void> {
    const isFirst = this.state === "new";
    if (isFirst) this.state = "syncing";
    const sync = await this.sync(vector);
    if (!sync) return;
    const { host } = this;
    host.send(step2Message(sync.update), sync.seq);
    if (!isFirst) return;
    host.send(step1Message(sync.vector), sync.seq);
    // Also when it is nobody: whoever comes back learns who has gone.
    host.send(awarenessMessage(sync.awareness ?? NOTHING), sync.seq);
    this.state = "live";
    const { held } = this;
    this.held = [];
    for (const item of held) this.deliver(item);
    this.checkLater();
  }

  /** Sends what the peer lacks, and asks what the server lacks. */
  private async resync(): Promise<void> {
    if (this.state !== "live") return;
    if (this.host.slow) return this.fallBehind();
    this.isBehind = false;
    const sync = await this.sync(this.known);
    if (!sync) return;
    // Two bytes say that there is nothing.
    if (sync.update.byteLength > 2) this.host.send(step2Message(sync.update), sync.seq);
    if (sync.awareness) this.host.send(awarenessMessage(sync.awareness), sync.seq);
    this.host.send(step1Message(sync.vector), sync.seq);
  }

  private async sync(vector: Uint8Array): Promise<DocSync | null> {
    let sync: Awaited<ReturnType<RoomsPort["docSync"]>>;
    try {
      sync = await this.host.rooms.docSync({ key: this.key, vector });
    } catch (error) {
      this.fail(error);
      return null;
    }
    // A method, so that the state is looked at anew after an await.
    if (this.hasEnded()) return null;
    if ("kind" in sync) {
      this.host.close(sync.code, sync.reason);
      return null;
    }
    this.known = sync.vector;
    return sync;
  }

  private async take(update: Uint8Array): Promise<void> {
    this.count += 1;
    const n = this.count;
    const { waiting, host, key, caller } = this;
    waiting.count += 1;
    waiting.bytes += update.byteLength;
    if (waiting.count > WAITING || waiting.bytes > WAITING_BYTES)
      return host.close(4429, "More changes came at once than can be stored. Wait a moment, and come back.");
    let taken: DocTaken | null = null;
    try {
      taken = await host.rooms.docUpdate({ key, caller, update, via: host.via });
    } catch (error) {
      this.fail(error);
    }
    waiting.count -= 1;
    waiting.bytes -= update.byteLength;
    if (taken && !this.hasEnded()) this.settle(taken, n);
  }

  private settle(taken: DocTaken, n: number): void {
    switch (taken.kind) {
      case "saved":
        this.misses = 0;
        this.asked = false;
        return this.saved(n);
      case "missing":
        this.misses += 1;
        if (this.misses > MISSES) return this.host.close(4402, taken.reason);
        // One question gets all of it, however many updates build on what is not here.
        if (!this.asked) this.host.send(step1Message(taken.vector), 0);
        this.asked = true;
        return;
      case "forbidden":
        if (!this.toldForbidden) this.host.tell(new Rejection("forbidden", taken.reason));
        this.toldForbidden = true;
        return;
      case "refused":
        return this.host.close(taken.code, taken.reason);
    }
  }

  private saved(n: number): void {
    this.savedCount = n;
    if (this.tellsSaved) return;
    this.tellsSaved = true;
    // All of one commit in one frame.
    queueMicrotask(() => {
      this.tellsSaved = false;
      if (!this.hasEnded()) this.host.saved(this.savedCount);
    });
  }

  private async hear(update: Uint8Array): Promise<void> {
    const { key, caller, host } = this;
    const refused = await host.rooms.awareness({ key, caller, update });
    if (refused && !this.hasEnded()) host.close(refused.code, refused.reason);
  }

  /** What could not be stored comes again: the room asks for it when it has started over. */
  private fail(error: unknown): void {
    if (this.hasEnded() || (error instanceof Rejection && error.retry)) return;
    const isGone = error instanceof Rejection && error.code === "not_found";
    this.host.close(isGone ? 4404 : 4001, error instanceof Rejection ? error.message : "Come back later.");
  }

  private checkLater(): void {
    this.cancelCheck = this.host.clock.after(this.host.checkMs, () => {
      void this.resync();
      this.checkLater();
    });
  }

  private hasEnded(): boolean {
    return this.state === "ended";
  }
}
