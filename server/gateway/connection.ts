import type { IncomingMessage } from "node:http";
import { byteSize } from "../../shared/byte-size.ts";
import {
  CLOSES,
  type CloseCode,
  PROTOCOL,
  type UpFrame,
  type UpFrameOf,
} from "../../shared/protocol/index.ts";
import { readVaruint } from "../../shared/varuint.ts";
import type { Identity } from "../auth/authenticator.ts";
import { type Caller, Rejection, type RoomsPort } from "../room/port.ts";
import type { ConnectionHost } from "./connection-host.ts";
import { openLane } from "./doc-lane.ts";
import type { DocPeer } from "./doc-peer.ts";
import type { Feeds } from "./feed.ts";
import { Membership, type MembershipHost } from "./membership.ts";
import { Outbox, type OutboxOwner } from "./outbox.ts";
import { Pulse } from "./pulse.ts";
import { readFrame } from "./read-frame.ts";
import { rejectFrame } from "./reject-frame.ts";
import type { ServerSocket } from "./server-socket.ts";
import { usableIdentity } from "./usable-identity.ts";

/** How long it may take to find out who somebody is, beyond the time for `hello`. */
const CHECK_MS = 30_000;
const NOTHING = () => {};

type Frame = Exclude<UpFrame, { type: "hello" }>;
type Session = { caller: Caller; members: Map<string, Membership>; channels: number };

/**
 * One socket, from its opening to its close ([F3]). It is the only one that closes it: everything below
 * returns values or throws a Rejection.
 */
export class Connection implements OutboxOwner, MembershipHost {
  readonly id: string;
  readonly outbox: Outbox;
  /** Names the client among all of the gateway, once it is known. */
  clientKey = "";
  private readonly socket: ServerSocket;
  /** The upgrade request, until it is known who asks: headers of thousands of idle connections add up. */
  private request: IncomingMessage | null;
  private readonly host: ConnectionHost;
  private state: "greeting" | "checking" | "open" | "closed" = "greeting";
  private session: Session | null = null;
  private cancelHello: () => void;
  private readonly pulse: Pulse;

  constructor(id: string, socket: ServerSocket, request: IncomingMessage, host: ConnectionHost) {
    this.id = id;
    this.socket = socket;
    this.request = request;
    this.host = host;
    this.outbox = new Outbox(socket, host.limits, this);
    this.pulse = new Pulse(socket, this.outbox);
    this.cancelHello = host.clock.after(host.limits.helloMs, () => {
      if (this.state === "greeting") return this.close(4401, "No hello came in time.");
      // Whoever checks identities may have to ask somebody else, who may never answer.
      this.cancelHello = host.clock.after(CHECK_MS, () =>
        this.close(4401, "The server could not check who you are in time. Try again later.", 1_000),
      );
    });
  }

  get rooms(): RoomsPort {
    return this.host.rooms;
  }

  get feeds(): Feeds {
    return this.host.feeds;
  }

  /** What is sent waits: looks after it soon. */
  watch(): void {
    this.host.watch(this);
  }

  openLane({ key, channel }: Membership): DocPeer {
    const { thread } = key;
    return openLane(key, channel, this.session?.caller as Caller, this, {
      clock: this.host.clock,
      saved: (n) => this.send({ type: "saved", thread, n }),
      tell: (rejection) => this.reject(undefined, rejection),
    });
  }

  replaced(member: Membership): boolean {
    const now = this.session?.members.get(member.key.thread);
    return now !== undefined && now !== member;
  }

  /** A thread cannot be served here any more: the client comes back, and finds it elsewhere. */
  lost(reason: string): void {
    this.close(4001, reason, 1_000);
  }

  /** Who is at the other end; `null` before that is known and after the connection has closed. */
  get caller(): Caller | null {
    return this.session?.caller ?? null;
  }

  /** Whether the reader does not take what it is sent. */
  get slow(): boolean {
    return this.outbox.slow;
  }

  /** Takes one frame from the socket: text as a string, binary as bytes. */
  receive(data: string | Uint8Array): void {
    if (this.state === "closed") return;
    if (typeof data !== "string") return this.receiveBinary(data);
    if (data.length > this.host.limits.frame || Buffer.byteLength(data) > this.host.limits.frame)
      return this.close(4413, `A frame may have ${byteSize(this.host.limits.frame)}.`);
    const read = readFrame(data, this.state === "greeting");
    switch (read.kind) {
      case "close":
        return this.close(read.code, read.reason);
      case "reject":
        return this.reject(read.ref, read.rejection);
      case "frame":
        if (read.frame.type === "hello") void this.greet(read.frame);
        else this.handle(read.frame);
    }
  }

  /** Told by the socket: it is closed, whoever did it. */
  closed(): void {
    if (this.state === "closed") return;
    this.state = "closed";
    this.release();
  }

  pong(): void {
    this.pulse.pong();
  }

  /** Called every `pingMs`. */
  heartbeat(): void {
    if (this.state !== "closed" && !this.pulse.beat()) this.closed();
  }

  /**
   * Called for as long as something waits: cuts a stalled reader, serves one that has drained.
   * @returns whether to call again
   */
  sweep(now: number): boolean {
    if (this.state !== "open" || !this.outbox.check(now)) return false;
    const members = [...(this.session?.members.values() ?? [])];
    for (const member of members) void member.resume();
    return this.outbox.waits || members.some((member) => member.lags);
  }

  /** Says bye and closes. @param retryAfterMs when the client should come back, for codes that say so */
  close(code: CloseCode, reason: string, retryAfterMs?: number): void {
    if (this.state === "closed") return;
    this.state = "closed";
    this.outbox.push(
      JSON.stringify({ type: "bye", code, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) }),
    );
    this.host.log("connection closed", { connection: this.id, code, name: CLOSES[code].name });
    // A close frame holds 123 bytes of reason; the whole sentence is in `bye`.
    this.socket.close(code, CLOSES[code].name);
    this.release();
  }

  private release(): void {
    this.cancelHello();
    this.host.watches.removeAll(this);
    for (const member of this.session?.members.values() ?? []) member.leave();
    this.session = null;
  }

  private async greet(hello: UpFrameOf<"hello">): Promise<void> {
    this.state = "checking";
    let identity: Identity | { refused: string };
    const { request } = this;
    this.request = null;
    if (!request) return;
    try {
      identity = usableIdentity(await this.host.authenticate(request, hello));
    } catch (error) {
      this.host.log("authentication failed", { connection: this.id, error: String(error) });
      identity = { refused: "The server could not check who you are. Try again later." };
    }
    if (this.isClosed()) return;
    if ("refused" in identity) return this.close(4401, identity.refused);
    const { tenant, user, role = "editor" } = identity;
    const { client } = hello;
    this.cancelHello();
    this.cancelHello = NOTHING;
    this.session = {
      caller: { tenant, user, client, connection: this.id, role },
      members: new Map(),
      channels: 0,
    };
    this.state = "open";
    this.host.claimClient(this);
    const { frame, message, presence } = this.host.limits;
    this.send({
      type: "welcome",
      v: PROTOCOL,
      connection: this.id,
      user,
      server: this.host.server,
      limits: { frame, message, presence, history: 1_000 },
    });
  }

  private handle(frame: Frame): void {
    const session = this.session;
    // A frame sent before `welcome` is as much out of turn as one before `hello`.
    if (!session) return this.close(4402, "Wait for welcome before you send anything else.");
    if (frame.type === "presence") return this.presence(session, frame);
    this.answer(session, frame).then(
      (fields) => fields && this.send({ type: "ack", ref: frame.ref, ...fields }),
      (error: unknown) => this.reject(frame.ref, error),
    );
  }

  /** @returns the fields of the ack; `null` when the frame is answered in another way */
  private async answer(
    session: Session,
    frame: Exclude<Frame, { type: "presence" }>,
  ): Promise<object | null> {
    const { caller, members } = session;
    switch (frame.type) {
      case "ping":
        return {};
      case "join":
        await this.join(session, frame);
        return null;
      case "leave":
        members.get(frame.thread)?.leave();
        members.delete(frame.thread);
        return {};
      case "watch":
        await this.host.watches.add(this, caller, frame.watch, frame.query);
        return {};
      case "unwatch":
        this.host.watches.remove(this, frame.watch);
        return {};
      case "submit":
      case "edit":
      case "move":
      case "withdraw":
      case "cancel":
      case "answer":
      case "head":
      case "tools":
      case "claim":
      case "release":
      case "result":
      case "patch":
      case "revert":
      case "update":
      case "read":
      case "earlier": {
        const member = members.get(frame.thread);
        // A thread can be renamed or put away from the list, without being in it.
        if (!member && frame.type !== "update")
          throw new Rejection("not_joined", `Join the thread before you send "${frame.type}".`);
        await member?.ready;
        const key = { tenant: caller.tenant, thread: frame.thread };
        return this.host.rooms.request({ key, caller, frame });
      }
      default:
        throw new Rejection("not_supported", `This server does not support "${frame.type}" yet.`);
    }
  }

  private async join(session: Session, frame: UpFrameOf<"join">): Promise<void> {
    const { caller, members } = session;
    members.get(frame.thread)?.leave();
    members.delete(frame.thread);
    if (members.size >= this.host.limits.threads)
      throw new Rejection(
        "quota",
        `A connection may have ${this.host.limits.threads} threads joined. Leave one first.`,
      );
    session.channels += 1;
    const member = new Membership(
      { tenant: caller.tenant, thread: frame.thread },
      session.channels,
      {
        ref: frame.ref,
        caller,
        cursor: frame.cursor,
        create: frame.create ?? false,
        history: frame.history ?? Number.POSITIVE_INFINITY,
      },
      this,
    );
    members.set(frame.thread, member);
    try {
      await member.ready;
    } catch (error) {
      member.leave();
      if (members.get(frame.thread) === member) members.delete(frame.thread);
      throw error;
    }
  }

  private presence(session: Session, { thread, data }: UpFrameOf<"presence">): void {
    const { presence } = this.host.limits;
    if (!session.members.has(thread))
      return this.reject(
        undefined,
        new Rejection("not_joined", "Join the thread before you say what you do there."),
      );
    if (Buffer.byteLength(JSON.stringify(data)) > presence)
      return this.reject(
        undefined,
        new Rejection("too_big", `Presence data may have ${byteSize(presence)}.`),
      );
    const key = { tenant: session.caller.tenant, thread };
    void this.host.rooms.presence({ key, connection: this.id, data });
  }

  private receiveBinary(data: Uint8Array): void {
    const [channel, behind] = readVaruint(data) ?? [0, 0];
    const issued = this.session?.channels ?? 0;
    if (channel < 1 || channel > issued)
      return this.close(4402, "The binary frame names a channel that was never issued.");
    const members = [...(this.session?.members.values() ?? [])];
    // Frames for a channel that was left are late, not wrong.
    members.find((member) => member.channel === channel)?.receive(data.subarray(behind));
  }

  private send(frame: object): void {
    if (this.state !== "closed") this.outbox.push(JSON.stringify(frame));
  }

  /** Sends one frame that is already text; used by thread lists. */
  sendText(frame: string): void {
    if (this.state !== "closed") this.outbox.push(frame);
  }

  private reject(ref: string | number | undefined, error: unknown): void {
    if (!(error instanceof Rejection))
      this.host.log("a request failed", { connection: this.id, error: String(error) });
    this.send(rejectFrame(ref, error));
  }

  // A method, so that the state is looked at anew after an await.
  private isClosed(): boolean {
    return this.state === "closed";
  }
}
