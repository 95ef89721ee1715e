type Data = string | Uint8Array;
type Packet = { data: Data } | { close: { code: number; reason: string } } | { beat: "ping" | "pong" };

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;

/** The code a side sees when the connection broke without a close frame. */
export const ABNORMAL = 1006;
const NO_STATUS = 1005;

/** The browser's side of a pair: the part of the WebSocket interface that clients use. */
export class ClientSocket {
  static readonly CONNECTING = CONNECTING;
  static readonly OPEN = OPEN;
  static readonly CLOSING = CLOSING;
  static readonly CLOSED = CLOSED;
  readyState: number = CONNECTING;
  binaryType = "blob";
  /** The subprotocol the server chose; empty until it is open. */
  protocol = "";
  onopen: ((event: { type: "open" }) => void) | null = null;
  onmessage: ((event: { type: "message"; data: unknown }) => void) | null = null;
  onclose: ((event: { type: "close"; code: number; reason: string; wasClean: boolean }) => void) | null =
    null;
  onerror: ((event: { type: "error" }) => void) | null = null;
  readonly url: string;
  private readonly pair: SocketPair;

  constructor(pair: SocketPair, url: string) {
    this.pair = pair;
    this.url = url;
  }

  /** @throws Error while it is not open yet, as a browser does; later on frames are lost in silence */
  send(data: Data): void {
    if (this.readyState === CONNECTING) throw new Error("InvalidStateError: still in CONNECTING state");
    if (this.readyState === OPEN) this.pair.up.push({ data });
  }

  close(code = NO_STATUS, reason = ""): void {
    if (code !== NO_STATUS && code !== 1000 && (code < 3000 || code > 4999))
      throw new Error(`InvalidAccessError: an application may not close with ${code}`);
    if (this.readyState >= CLOSING) return;
    if (this.readyState === CONNECTING) return this.pair.refuse();
    this.readyState = CLOSING;
    this.pair.up.push({ close: { code, reason } });
  }

  addEventListener(): void {
    throw new Error("this socket has on… handlers only");
  }
}

/** The server's side of a pair; it has what a gateway needs of a socket. */
export class ServerSocket {
  /** Everything that arrived, oldest first. */
  readonly received: Data[] = [];
  onmessage: ((data: Data) => void) | null = null;
  onclose: ((code: number, reason: string) => void) | null = null;
  onpong: (() => void) | null = null;
  /** How the connection ended, once it has. */
  closed: { code: number; reason: string } | null = null;
  private readonly pair: SocketPair;

  constructor(pair: SocketPair) {
    this.pair = pair;
  }

  /** Bytes that were sent and are not delivered. */
  get bufferedAmount(): number {
    return this.pair.down.reduce((sum, packet) => sum + ("data" in packet ? sizeOf(packet.data) : 0), 0);
  }

  /** The JSON frames that arrived. */
  get frames(): Record<string, unknown>[] {
    return this.received.filter((data) => typeof data === "string").map((text) => JSON.parse(text));
  }

  /** Sends a text frame, whichever form it has. */
  send(data: Data): void {
    this.push({ data: typeof data === "string" ? data : new TextDecoder().decode(data) });
  }

  sendBinary(data: Uint8Array): void {
    this.push({ data });
  }

  /** A browser answers by itself; `onpong` tells. */
  ping(): void {
    this.push({ beat: "ping" });
  }

  close(code = 1000, reason = ""): void {
    this.push({ close: { code, reason } });
  }

  /** Breaks the connection; what is not delivered is lost. */
  terminate(): void {
    this.pair.cut();
  }

  private push(packet: Packet): void {
    if (!this.closed) this.pair.down.push(packet);
  }
}

/** Two ends of a WebSocket without a network: what one end sends arrives when the test says so. */
export class SocketPair {
  readonly client: ClientSocket;
  readonly server: ServerSocket;
  /** What the client sent and the server has not got. */
  readonly up: Packet[] = [];
  /** What the server sent and the client has not got. */
  readonly down: Packet[] = [];
  readonly protocols: readonly string[];

  /** @param protocols the subprotocols the client offers */
  constructor(url = "ws://pair/", protocols: string | readonly string[] = []) {
    this.protocols = typeof protocols === "string" ? [protocols] : protocols;
    this.client = new ClientSocket(this, url);
    this.server = new ServerSocket(this);
  }

  /** Completes the handshake. */
  accept(protocol = this.protocols[0] ?? ""): void {
    if (this.client.readyState !== CONNECTING) return;
    this.client.readyState = OPEN;
    this.client.protocol = protocol;
    this.client.onopen?.({ type: "open" });
  }

  /** The handshake fails: no server, or an HTTP error. */
  refuse(): void {
    this.client.onerror?.({ type: "error" });
    this.cut();
  }

  /** Breaks the connection: both ends see 1006, what was under way is lost. */
  cut(): void {
    this.up.length = 0;
    this.down.length = 0;
    this.endClient(ABNORMAL, "", false);
    this.endServer(ABNORMAL, "");
  }

  /** Delivers what the client sent, up to `count` frames. Returns how many arrived. */
  flushUp(count = Number.POSITIVE_INFINITY): number {
    let delivered = 0;
    while (delivered < count && this.up.length > 0) {
      const packet = this.up.shift()!;
      delivered += 1;
      if ("data" in packet) {
        this.server.received.push(packet.data);
        this.server.onmessage?.(packet.data);
      } else if ("beat" in packet) this.server.onpong?.();
      else {
        this.endServer(packet.close.code, packet.close.reason);
        this.endClient(packet.close.code, packet.close.reason, true);
      }
    }
    return delivered;
  }

  /** Delivers what the server sent, up to `count` frames. Returns how many arrived. */
  flushDown(count = Number.POSITIVE_INFINITY): number {
    let delivered = 0;
    while (delivered < count && this.down.length > 0) {
      const packet = this.down.shift()!;
      delivered += 1;
      if ("data" in packet) {
        // A closing client still gets what was under way.
        if (this.client.readyState === OPEN || this.client.readyState === CLOSING)
          this.client.onmessage?.({ type: "message", data: this.forClient(packet.data) });
      } else if ("beat" in packet) {
        if (this.client.readyState === OPEN) this.up.push({ beat: "pong" });
      } else {
        this.endClient(packet.close.code, packet.close.reason, true);
        this.endServer(packet.close.code, packet.close.reason);
      }
    }
    return delivered;
  }

  /** Delivers in both directions until nothing is under way. */
  flush(): void {
    while (this.flushUp() + this.flushDown() > 0);
  }

  private forClient(data: Data): unknown {
    if (typeof data === "string" || this.client.binaryType !== "arraybuffer") return data;
    return data.slice().buffer;
  }

  private endClient(code: number, reason: string, wasClean: boolean): void {
    if (this.client.readyState === CLOSED) return;
    this.client.readyState = CLOSED;
    this.client.onclose?.({ type: "close", code, reason, wasClean });
  }

  private endServer(code: number, reason: string): void {
    if (this.server.closed) return;
    this.server.closed = { code, reason };
    this.server.onclose?.(code, reason);
  }
}

/** A place where sockets are dialled: give its `WebSocket` to the client under test. */
export class SocketNet {
  /** Every socket that was dialled, oldest first. */
  readonly pairs: SocketPair[] = [];
  /** Called with each new pair before the handshake; by default nothing answers. */
  ondial: ((pair: SocketPair) => void) | null = null;
  /** A constructor for the client's option of that name. */
  readonly WebSocket: new (
    url: string,
    protocols?: string | string[],
  ) => ClientSocket;

  constructor() {
    const net = this;
    // A constructor that returns an object gives that object.
    this.WebSocket = function dial(url: string, protocols?: string | string[]) {
      const pair = new SocketPair(url, protocols);
      net.pairs.push(pair);
      net.ondial?.(pair);
      return pair.client;
    } as unknown as SocketNet["WebSocket"];
  }

  /** The newest pair. */
  get last(): SocketPair {
    const pair = this.pairs.at(-1);
    if (!pair) throw new Error("nothing has been dialled");
    return pair;
  }

  /** Delivers everything on all pairs until nothing is under way. */
  flush(): void {
    const busy = () => this.pairs.some(({ up, down }) => up.length + down.length > 0);
    while (busy()) for (const pair of this.pairs) pair.flush();
  }
}

const sizeOf = (data: Data) => (typeof data === "string" ? Buffer.byteLength(data) : data.byteLength);
