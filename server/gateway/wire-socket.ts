import type { Duplex } from "node:stream";
import { type RawData, WebSocket } from "ws";
import { byteSize } from "../../shared/byte-size.ts";
import type { CloseCode } from "../../shared/protocol/index.ts";
import type { ServerSocket } from "./server-socket.ts";

/** What stands behind a socket: it gets what comes in, and says how the socket is closed. */
export interface SocketUser {
  receive(data: string | Uint8Array): void;
  pong(): void;
  close(code: CloseCode, reason: string): void;
}

/** What a socket tells about itself. */
export interface WireSocketHost {
  /** Bytes a frame may have. */
  readonly frameLimit: number;
  closed(user: SocketUser): void;
  failed(user: SocketUser, error: Error): void;
}

/** Largest piece of a message that is handed to Node at once, in bytes. */
const SLICE = 64 * 1024;
/** Time that what waits has to be read after the connection was closed, ms; `ws` gives as much. */
const CLOSE_MS = 30_000;

// Frames encoded once are bytes, and `ws` takes bytes for a binary frame unless it is told otherwise.
const TEXT = { binary: false };
const BINARY = { binary: true };

/** A message that waits for those before it. */
type Waiting = { data: Uint8Array; binary: boolean; next: Waiting | null };

/**
 * The sockets of `ws` as the gateway needs them. One object, and listeners that all sockets share: what an
 * idle connection keeps is counted in thousands.
 *
 * What a reader does not take waits here, and goes to Node in pieces. Node hands all it has to the kernel as
 * one write and counts none of it before all of it is taken, so that a reader who takes a large snapshot slowly
 * would look like one who takes nothing. The kernel's own queue could be asked, but by undocumented fields only.
 * The pieces are fragments of one message (RFC 6455, 5.4) and not cut out of one frame: the pings, pongs and
 * closes that `ws` writes by itself may stand between fragments, and inside of a frame they would break it.
 */
export class WireSocket extends WebSocket implements ServerSocket {
  /** Set by {@link serve}. */
  connection: SocketUser | null = null;
  host: WireSocketHost | null = null;
  private wire: Duplex | null = null;
  /** What waits, oldest first; of the first one `sent` bytes are under way already. */
  private first: Waiting | null = null;
  private last: Waiting | null = null;
  private sent = 0;
  /** Bytes that wait here. */
  heldBytes = 0;
  /** Set when the connection was closed while something waited: called when nothing does any more. */
  private finish: (() => void) | null = null;

  /**
   * Hands what comes in to a connection, from now on.
   * @param wire what the socket writes to, for frames that have their header
   */
  serve(connection: SocketUser, wire: Duplex, host: WireSocketHost): void {
    this.connection = connection;
    this.wire = wire;
    this.host = host;
    this.on("message", onMessage).on("pong", onPong).on("error", onError).on("close", onClose);
  }

  /** `ws` closes by itself when what it reads is wrong; clients know codes of ours for that ([F3]). */
  override close(code?: number, reason?: string | Buffer): void {
    const { connection, host } = this;
    // Ours has a sentence; a peer's own close has bytes, and nobody reads any more what waits for that peer.
    if (typeof reason === "string") this.closeBehind(() => super.close(code, reason));
    else if (!connection || !host || code === undefined || reason !== undefined) {
      this.drop();
      super.close(code, reason);
    } else if (code === 1009) connection.close(4413, `A frame may have ${byteSize(host.frameLimit)}.`);
    else connection.close(4402, "That was not WebSocket: a frame is damaged, or its text is not UTF-8.");
  }

  override send(data: string | Uint8Array): void {
    if (this.passes(data.length)) super.send(data, TEXT);
    else this.enqueue(typeof data === "string" ? Buffer.from(data) : data, false);
  }

  sendBinary(data: Uint8Array): void {
    if (this.passes(data.length)) super.send(data, BINARY);
    else this.enqueue(data, true);
  }

  // Without compression `ws` writes each frame at once, so that frames written past it keep their order. One
  // write instead of header and body saves a third of the cost of a broadcast.
  sendFramed(framed: Uint8Array, frame: Uint8Array, binary: boolean): void {
    if (!this.passes(framed.length)) this.enqueue(frame, binary);
    else if (this.readyState === this.OPEN) this.wire?.write(framed);
  }

  /** Lets go of what waits: nobody will read it. */
  drop(): void {
    this.first = this.last = this.finish = null;
    this.sent = this.heldBytes = 0;
  }

  /** Whether a message may go out at once: none waits, it is no large one, and the reader takes what it gets. */
  private passes(length: number): boolean {
    return this.first === null && length <= SLICE && !this.full;
  }

  /** Whether Node has something that the kernel does not take; `drain` tells when that is over. */
  private get full(): boolean {
    const { wire } = this;
    if (!wire) return false;
    return wire.writableNeedDrain && wire.writableLength > 0;
  }

  private enqueue(data: Uint8Array, binary: boolean): void {
    if (this.readyState !== this.OPEN || this.finish) return;
    const added = { data, binary, next: null };
    this.heldBytes += data.length;
    if (this.last) {
      this.last.next = added;
      this.last = added;
      return;
    }
    this.first = this.last = added;
    this.pump();
  }

  /** Hands on what waits, for as long as it is taken. */
  private pump(): void {
    while (this.first) {
      if (this.readyState !== this.OPEN) return this.drop();
      if (this.full) return void this.wire?.once("drain", () => this.pump());
      const { data, binary, next } = this.first;
      const piece = data.subarray(this.sent, this.sent + SLICE);
      this.sent += piece.length;
      this.heldBytes -= piece.length;
      const fin = this.sent === data.length;
      if (fin) {
        this.sent = 0;
        this.first = next;
        this.last = next && this.last;
      }
      super.send(piece, { binary, fin });
    }
    this.finish?.();
  }

  /** Closes when what waits has been handed on, and lets it go when that takes too long. */
  private closeBehind(close: () => void): void {
    if (!this.first) return close();
    const timer = setTimeout(() => this.terminate(), CLOSE_MS);
    this.once("close", () => clearTimeout(timer));
    this.finish = () => {
      clearTimeout(timer);
      this.drop();
      close();
    };
  }
}

// Of all sockets, so that none has listeners of its own.
function onMessage(this: WebSocket, data: RawData, binary: boolean): void {
  const bytes = data as Buffer;
  (this as WireSocket).connection?.receive(binary ? bytes : bytes.toString("utf8"));
}

function onPong(this: WebSocket): void {
  (this as WireSocket).connection?.pong();
}

function onError(this: WebSocket, error: Error): void {
  const { connection, host } = this as WireSocket;
  if (connection) host?.failed(connection, error);
}

function onClose(this: WebSocket): void {
  const { connection, host } = this as WireSocket;
  (this as WireSocket).drop();
  if (connection) host?.closed(connection);
}
