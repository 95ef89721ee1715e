import type { ServerSocket } from "./server-socket.ts";
import type { SharedFrame } from "./shared-frame.ts";

/** Bounds of an outbox, in bytes and ms. */
export type OutboxLimits = {
  /** Above this a reader is slow: broadcasts are held back, and it is brought back from the log later. */
  softBytes: number;
  /** Above this a connection is cut: it does not even read what it asked for. */
  hardBytes: number;
  /** A reader that takes no byte for so long is cut. */
  stallMs: number;
};

/** Whose outbox it is. */
export interface OutboxOwner {
  /** Asks for {@link Outbox.check} to be called soon, and again for as long as {@link Outbox.waits}. */
  watch(): void;
}

/**
 * The sending side of one connection, counted in bytes ([B1]). A single frame may be larger than any bound
 * (a snapshot of a long thread): what is judged is what waits beside it.
 */
export class Outbox {
  private readonly socket: ServerSocket;
  private readonly limits: OutboxLimits;
  private largest = 0;
  /** What would wait if the reader had taken nothing since the last look. */
  private expected = 0;
  private stalledSince: number | null = null;
  private took = false;
  private waiting: (() => void)[] | null = null;
  private readonly owner: OutboxOwner;

  constructor(socket: ServerSocket, limits: OutboxLimits, owner: OutboxOwner) {
    this.socket = socket;
    this.limits = limits;
    this.owner = owner;
  }

  /** Bytes that were queued and not taken. */
  private get size(): number {
    return this.socket.bufferedAmount + (this.socket.heldBytes ?? 0);
  }

  /** Whether anything is queued, or somebody waits for it to drain. */
  get waits(): boolean {
    return (this.waiting !== null && this.waiting.length > 0) || this.size > 0;
  }

  /** Whether broadcasts should be held back. */
  get slow(): boolean {
    return this.size > this.limits.softBytes;
  }

  /** Whether so much has drained that a slow reader can be served again. */
  get drained(): boolean {
    return this.size <= this.limits.softBytes / 2;
  }

  /** Resolves when the reader takes what it is sent: at once, or when it has drained; never when it is gone. */
  whenDrained(): Promise<void> {
    if (!this.slow) return Promise.resolve();
    this.waiting ??= [];
    const { waiting } = this;
    return new Promise((resolve) => waiting.push(resolve));
  }

  /**
   * Queues one frame.
   * @param framed the same frame with its WebSocket header, for one that goes to many readers
   * @returns false when the connection is over its hard bound and was cut
   */
  push(frame: string | Uint8Array, framed?: Uint8Array): boolean {
    return this.queue(() => {
      if (framed && this.socket.sendFramed) this.socket.sendFramed(framed, frame as Uint8Array, false);
      else this.socket.send(frame);
    });
  }

  /** Queues one binary frame. @returns as {@link push} */
  pushBinary(frame: Uint8Array): boolean {
    return this.queue(() => this.socket.sendBinary(frame));
  }

  /** Queues a binary frame that goes to many readers. @returns as {@link push} */
  pushShared({ frame, framed }: SharedFrame): boolean {
    return this.queue(() => {
      if (this.socket.sendFramed) this.socket.sendFramed(framed, frame, true);
      else this.socket.sendBinary(frame);
    });
  }

  private queue(send: () => void): boolean {
    const waiting = this.size;
    if (waiting <= this.limits.softBytes) this.largest = 0;
    if (waiting - this.largest > this.limits.hardBytes) {
      this.socket.terminate();
      return false;
    }
    send();
    const added = this.size - waiting;
    this.largest = Math.max(this.largest, added);
    this.expected += added;
    if (waiting + added > 0) this.owner.watch();
    return true;
  }

  /** Whether the reader has taken something that waited since this was last asked. */
  takes(): boolean {
    const { took } = this;
    this.took = false;
    return took;
  }

  /** Called when the owner was asked to watch. @returns false when the reader took no byte for too long and was cut */
  check(now: number): boolean {
    const waiting = this.size;
    if (waiting < this.expected) this.took = true;
    if (waiting === 0 || waiting < this.expected) this.stalledSince = null;
    this.expected = waiting;
    // One at a time: what it waits for may fill the outbox again.
    if (this.drained) this.waiting?.shift()?.();
    if (waiting === 0) return true;
    this.stalledSince ??= now;
    if (now - this.stalledSince < this.limits.stallMs) return true;
    this.socket.terminate();
    return false;
  }
}
