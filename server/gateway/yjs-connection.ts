import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { byteSize } from "../../shared/byte-size.ts";
import { CLOSES, type CloseCode, PROTOCOL } from "../../shared/protocol/index.ts";
import { Rejection } from "../room/port.ts";
import type { ThreadKey } from "../store/store.ts";
import type { ConnectionHost } from "./connection-host.ts";
import { DocPeer } from "./doc-peer.ts";
import type { FeedItem, FeedReader } from "./feed.ts";
import { Outbox, type OutboxOwner } from "./outbox.ts";
import { Pulse } from "./pulse.ts";
import type { ServerSocket } from "./server-socket.ts";
import { usableIdentity } from "./usable-identity.ts";
import type { SocketUser } from "./wire-socket.ts";

/** What a provider asks for with its upgrade request. */
export type YjsRequest = {
  request: IncomingMessage;
  /** `null` when the address names none. */
  thread: string | null;
  token?: string;
  /** How a guest wants to be called. */
  user: { id: string; name: string };
};

/** Between two messages of ours, ms: a stock provider takes 30 s of silence for a dead connection. */
const CHECK_MS = 15_000;
/** How long it may take to find out who somebody is and to open the thread, ms. */
const ENTER_MS = 30_000;
/** Bytes that may wait until then. */
const HELD_BYTES = 4 * 1024 * 1024;

/** One socket of a stock Yjs provider: the door [Y7]. */
export class YjsConnection implements OutboxOwner, FeedReader, SocketUser {
  readonly id = randomUUID();
  readonly outbox: Outbox;
  private readonly socket: ServerSocket;
  private readonly host: ConnectionHost;
  private readonly pulse: Pulse;
  private readonly cancelEnter: () => void;
  private key: ThreadKey | null = null;
  private peer: DocPeer | null = null;
  /** What came before it was known who sends it. */
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  private isClosed = false;

  constructor(socket: ServerSocket, asked: YjsRequest, host: ConnectionHost) {
    this.socket = socket;
    this.host = host;
    this.outbox = new Outbox(socket, host.limits, this);
    this.pulse = new Pulse(socket, this.outbox);
    this.cancelEnter = host.clock.after(ENTER_MS, () =>
      this.close(4001, "The thread could not be opened in time. Try again."),
    );
    void this.enter(asked);
  }

  /** What is sent waits: looks after it soon. */
  watch(): void {
    this.host.watch(this);
  }

  receive(data: string | Uint8Array): void {
    if (this.isClosed) return;
    if (typeof data === "string")
      return this.close(4402, "This door takes binary messages of y-protocols only.");
    if (data.byteLength > this.host.limits.frame)
      return this.close(4413, `A message may have ${byteSize(this.host.limits.frame)}.`);
    if (this.peer) return this.peer.receive(data);
    this.heldBytes += data.byteLength;
    if (this.heldBytes > HELD_BYTES) return this.close(4413, "Too much came before the thread was open.");
    this.held.push(data);
  }

  pong(): void {
    this.pulse.pong();
  }

  /** Called every `pingMs`. */
  heartbeat(): void {
    if (!this.isClosed && !this.pulse.beat()) this.closed();
  }

  deliver(item: FeedItem): void {
    if (item.kind === "doc" || item.kind === "awareness" || item.kind === "resync") this.peer?.deliver(item);
    else if (item.kind === "lost") this.close(4001, item.reason);
  }

  /** Called for as long as something waits. @returns whether to call again */
  sweep(now: number): boolean {
    if (this.isClosed || !this.outbox.check(now)) return false;
    if (this.outbox.drained) this.peer?.resume();
    return this.outbox.waits || this.peer?.isBehind === true;
  }

  close(code: CloseCode, reason: string): void {
    if (this.isClosed) return;
    this.host.log("connection closed", { connection: this.id, code, name: CLOSES[code].name });
    this.socket.close(code, short(reason));
    this.closed();
  }

  /** Told by the socket: it is closed, whoever did it. */
  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.cancelEnter();
    this.held = [];
    this.peer?.end();
    if (!this.key) return;
    this.host.feeds.remove(this.key, this);
    void this.host.rooms.leave({ key: this.key, connection: this.id });
  }

  private async enter({ request, thread, token, user }: YjsRequest): Promise<void> {
    if (thread === null)
      return this.close(4404, "The address names no thread: it ends with /v1/yjs/ and its id.");
    const client = `yjs:${this.id}`;
    try {
      const hello = {
        type: "hello" as const,
        v: PROTOCOL,
        client,
        user,
        ...(token !== undefined && { token }),
      };
      const identity = usableIdentity(await this.host.authenticate(request, hello));
      if (this.isClosed) return;
      if ("refused" in identity) return this.close(4401, identity.refused);
      const { tenant, role = "editor" } = identity;
      const caller = { tenant, user: identity.user, client, connection: this.id, role };
      const key = { tenant, thread };
      this.key = key;
      // Listen first, then join: nothing can fall between ([J2]).
      this.host.feeds.add(key, this);
      await this.host.rooms.join({ key, caller, cursor: null, create: true, history: 0 });
      // It went while it was let in: the room only now knows of somebody to take out again.
      if (this.isClosed) return void this.host.rooms.leave({ key, connection: this.id });
      this.cancelEnter();
      this.peer = this.openPeer(key, caller);
      const { held } = this;
      this.held = [];
      for (const message of held) if (!this.hasClosed()) this.peer.receive(message);
    } catch (error) {
      if (!(error instanceof Rejection))
        this.host.log("a Yjs connection failed", { connection: this.id, error: String(error) });
      this.close(
        4001,
        error instanceof Rejection ? error.message : "The thread could not be opened. Try again.",
      );
    }
  }

  private openPeer(key: ThreadKey, caller: ConstructorParameters<typeof DocPeer>[1]): DocPeer {
    const { outbox } = this;
    return new DocPeer(key, caller, {
      rooms: this.host.rooms,
      clock: this.host.clock,
      via: "door",
      checkMs: CHECK_MS,
      get slow() {
        return outbox.slow;
      },
      send: (message) => outbox.pushBinary(message),
      sendShared: (message) => outbox.pushShared(message.bare),
      // Stock providers know nothing of these.
      saved: () => {},
      tell: () => {},
      close: (code, reason) => this.close(code, reason),
      lags: () => this.watch(),
    });
  }

  // A method, so that the state is looked at anew after a message.
  private hasClosed(): boolean {
    return this.isClosed;
  }
}

/** A close frame holds 123 bytes of reason. */
function short(reason: string): string {
  return Buffer.from(reason)
    .subarray(0, 123)
    .toString()
    .replace(/\uFFFD+$/, "");
}
