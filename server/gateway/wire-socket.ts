import type { Duplex } from "node:stream";
import { type RawData, WebSocket } from "ws";
import type { Connection } from "./connection.ts";
import type { ServerSocket } from "./server-socket.ts";

/** What a socket tells about itself. */
export interface WireSocketHost {
  /** Bytes a frame may have. */
  readonly frameLimit: number;
  closed(connection: Connection): void;
  failed(connection: Connection, error: Error): void;
}

// Frames encoded once are bytes, and `ws` takes bytes for a binary frame unless it is told otherwise.
const TEXT = { binary: false };

/**
 * The sockets of `ws` as the gateway needs them. One object, and listeners that all sockets share: what an
 * idle connection keeps is counted in thousands.
 */
export class WireSocket extends WebSocket implements ServerSocket {
  /** Set by {@link serve}. */
  connection: Connection | null = null;
  host: WireSocketHost | null = null;
  private wire: Duplex | null = null;

  /**
   * Hands what comes in to a connection, from now on.
   * @param wire what the socket writes to, for frames that have their header
   */
  serve(connection: Connection, wire: Duplex, host: WireSocketHost): void {
    this.connection = connection;
    this.wire = wire;
    this.host = host;
    this.on("message", onMessage).on("pong", onPong).on("error", onError).on("close", onClose);
  }

  /** `ws` closes by itself when what it reads is wrong; clients know codes of ours for that ([F3]). */
  override close(code?: number, reason?: string | Buffer): void {
    const { connection, host } = this;
    // Without a reason it is `ws` that closes, because of what it read; a peer's own close has one.
    if (!connection || !host || code === undefined || reason !== undefined) super.close(code, reason);
    else if (code === 1009) connection.close(4413, `A frame may have ${host.frameLimit} bytes.`);
    else connection.close(4402, "That was not WebSocket: a frame is damaged, or its text is not UTF-8.");
  }

  override send(data: string | Uint8Array): void {
    super.send(data, TEXT);
  }

  // Without compression `ws` writes each frame at once, so that frames written past it keep their order. One
  // write instead of header and body saves a third of the cost of a broadcast.
  sendFramed(framed: Uint8Array): void {
    if (this.readyState === this.OPEN) this.wire?.write(framed);
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
  if (connection) host?.closed(connection);
}
