import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Clock } from "../../shared/clock.ts";
import { type AgentInfo, SUBPROTOCOL } from "../../shared/protocol/index.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import { type OriginRule, refuseOrigin } from "../auth/origin.ts";
import type { RoomsPort } from "../room/port.ts";
import { Connection } from "./connection.ts";
import type { ConnectionHost, Swept } from "./connection-host.ts";
import { Feeds } from "./feed.ts";
import type { GatewayLimits } from "./limits.ts";
import type { ServerSocket } from "./server-socket.ts";
import { ThreadWatches } from "./thread-watches.ts";
import { type SocketUser, WireSocket, type WireSocketHost } from "./wire-socket.ts";
import { YjsConnection, type YjsRequest } from "./yjs-connection.ts";
import { readYjsRequest, YJS_SUBPROTOCOL } from "./yjs-request.ts";

/** What a gateway is built on. */
export type GatewayOptions = {
  rooms: RoomsPort;
  clock: Clock;
  limits: GatewayLimits;
  authenticate: Authenticate;
  origins: OriginRule;
  server: { version: string; agents: AgentInfo[] };
  log(what: string, details: object): void;
};

const SWEEP_MS = 20;

/** The WebSocket doors: takes sockets, and looks after all of their connections. */
export class Gateway implements WireSocketHost {
  private readonly options: GatewayOptions;
  private readonly host: ConnectionHost;
  private readonly watches: ThreadWatches;
  private readonly connections = new Set<Connection | YjsConnection>();
  private readonly clients = new Map<string, Connection>();
  private readonly sockets: WebSocketServer;
  private cancelPings = () => {};
  private cancelSweep: (() => void) | null = null;
  private readonly watched = new Set<Swept>();
  private closing = false;

  constructor(options: GatewayOptions) {
    this.options = options;
    const { rooms, clock, limits, authenticate, server, log } = options;
    this.watches = new ThreadWatches(rooms, clock, limits.watches);
    this.host = {
      rooms,
      feeds: new Feeds(rooms),
      watches: this.watches,
      clock,
      limits,
      authenticate,
      server,
      claimClient: (connection) => this.claimClient(connection),
      watch: (connection) => this.watch(connection),
      log,
    };
    this.sockets = new WebSocketServer({
      noServer: true,
      WebSocket: WireSocket,
      perMessageDeflate: false,
      // The connection judges sizes by itself and says so with 4413; this bounds what is kept until then.
      maxPayload: limits.frame + 1024,
      handleProtocols: (offered) =>
        [SUBPROTOCOL, YJS_SUBPROTOCOL].find((protocol) => offered.has(protocol)) ?? false,
    });
    this.every(
      limits.pingMs,
      (cancel) => (this.cancelPings = cancel),
      () => {
        for (const connection of this.connections) connection.heartbeat();
      },
    );
  }

  /** Number of open sockets. */
  get size(): number {
    return this.connections.size;
  }

  /** Takes an HTTP upgrade that was meant for `/v1/ws`. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.open(request, socket, head, (ws) => this.accept(ws, request));
  }

  /** Takes one that was meant for the door of stock Yjs providers. @param prefix the path before the thread's id */
  upgradeYjs(request: IncomingMessage, socket: Duplex, head: Buffer, prefix: string): void {
    this.open(request, socket, head, (ws) => this.acceptYjs(ws, readYjsRequest(request, prefix)));
  }

  private open(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    accept: (ws: WireSocket) => SocketUser,
  ): void {
    const refused = refuseOrigin(request, this.options.origins);
    if (refused || this.closing) {
      const reason = refused ?? "The server is stopping.";
      const status = refused ? "403 Forbidden" : "503 Service Unavailable";
      this.options.log("upgrade refused", { reason });
      // Whoever hangs up before the answer is written must not bring the server down.
      socket.on("error", () => {});
      socket.end(
        `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(reason)}\r\n\r\n${reason}`,
      );
      return;
    }
    this.sockets.handleUpgrade(request, socket, head, (opened) => {
      const ws = opened as WireSocket;
      ws.serve(accept(ws), socket, this);
    });
  }

  /** Takes a socket that is open already; tests give one end of a pair. */
  accept(socket: ServerSocket, request: IncomingMessage): Connection {
    const connection = new Connection(randomUUID(), socket, request, this.host);
    this.connections.add(connection);
    return connection;
  }

  /** The same for a stock Yjs provider. */
  acceptYjs(socket: ServerSocket, asked: YjsRequest): YjsConnection {
    const connection = new YjsConnection(socket, asked, this.host);
    this.connections.add(connection);
    return connection;
  }

  /** Lets go of a connection whose socket has closed. */
  closed(user: SocketUser): void {
    const connection = user as Connection | YjsConnection;
    connection.closed();
    this.connections.delete(connection);
    this.watched.delete(connection);
    if (connection instanceof YjsConnection) return;
    const { clientKey } = connection;
    if (clientKey && this.clients.get(clientKey) === connection) this.clients.delete(clientKey);
  }

  /** Notes that a socket broke; its close follows. */
  failed(user: SocketUser, error: Error): void {
    const { id } = user as Connection | YjsConnection;
    this.options.log("socket error", { connection: id, error: error.message });
  }

  get frameLimit(): number {
    return this.options.limits.frame;
  }

  /** Says bye to everybody; clients come back after a moment of their own, not all at once. */
  close(): void {
    this.closing = true;
    this.cancelPings();
    this.cancelSweep?.();
    for (const connection of this.connections)
      connection.close(4000, "The server is stopping.", 500 + Math.floor(Math.random() * 1_500));
    this.watches.close();
  }

  /** Cuts what did not close by itself. */
  terminate(): void {
    for (const ws of this.sockets.clients) ws.terminate();
    this.sockets.close();
  }

  private claimClient(connection: Connection): void {
    if (!connection.caller) return;
    const { tenant, user, client } = connection.caller;
    const key = JSON.stringify([tenant, user.id, client]);
    const older = this.clients.get(key);
    this.clients.set(key, connection);
    connection.clientKey = key;
    older?.close(4409, "Another socket of the same client took over.");
  }

  /** Idle connections cost nothing: only those that something waits for are looked at. */
  private watch(connection: Swept): void {
    this.watched.add(connection);
    this.cancelSweep ??= this.options.clock.after(SWEEP_MS, () => {
      this.cancelSweep = null;
      const now = this.options.clock.now();
      for (const watched of this.watched) if (!watched.sweep(now)) this.watched.delete(watched);
      const [again] = this.watched;
      if (again && !this.closing) this.watch(again);
    });
  }

  private every(ms: number, keep: (cancel: () => void) => void, work: () => void): void {
    const again = () => {
      work();
      keep(this.options.clock.after(ms, again));
    };
    keep(this.options.clock.after(ms, again));
  }
}
