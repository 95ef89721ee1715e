import type { IncomingMessage } from "node:http";
import { type Client, type ClientOptions, createClient } from "../../client/index.ts";
import type { Agent, AgentOptions } from "../../server/agents/agent.ts";
import { AgentRegistry } from "../../server/agents/registry.ts";
import { guests } from "../../server/auth/guests.ts";
import { Gateway } from "../../server/gateway/gateway.ts";
import { DEFAULT_LIMITS } from "../../server/gateway/limits.ts";
import { Rooms } from "../../server/room/rooms.ts";
import { openMemory } from "../../server/store/memory.ts";
import type { Store } from "../../server/store/store.ts";
import { compileTextPaths } from "../../shared/json-crdt/text-paths.ts";
import { FakeClock, settled } from "./fake-clock.ts";
import { seeded } from "./scripted-client.ts";
import { SocketNet, type SocketPair } from "./socket-pair.ts";

const REQUEST = {
  headers: { host: "127.0.0.1" },
  socket: { remoteAddress: "127.0.0.1" },
} as unknown as IncomingMessage;

/**
 * The real server (gateway, rooms, runs, a store) without a network: clients reach it through socket pairs,
 * and time is a clock that tests wind.
 */
export class PairedServer {
  readonly clock = new FakeClock();
  readonly net = new SocketNet();
  readonly rooms: Rooms;
  readonly gateway: Gateway;
  private readonly newest = new Map<string, SocketPair>();
  private readonly open = new Set<SocketPair>();
  private seeds = 0;

  /** @param store memory unless one is given */
  constructor(agents: Record<string, Agent | AgentOptions>, store: Store = openMemory()) {
    const registry = new AgentRegistry(agents);
    this.rooms = new Rooms({
      texts: compileTextPaths(["/document"]),
      store,
      agents: registry,
      clock: this.clock,
      limits: { message: DEFAULT_LIMITS.message, queue: DEFAULT_LIMITS.queue },
      idleMs: 60_000,
      warn() {},
    });
    this.gateway = new Gateway({
      rooms: this.rooms,
      clock: this.clock,
      limits: DEFAULT_LIMITS,
      authenticate: guests(),
      origins: { cors: [], host: "127.0.0.1" },
      server: { version: "0.0.0", agents: registry.list() },
      log() {},
    });
    this.net.ondial = (pair) => this.take(pair);
  }

  /** An SDK client of its own person. */
  client(name: string, options: ClientOptions = {}): Client {
    this.seeds += 1;
    const { net, newest } = this;
    // A constructor that returns an object gives that object.
    const dial = function dial(url: string, protocols?: string | string[]) {
      const socket = new net.WebSocket(url, protocols);
      newest.set(name, net.last);
      return socket;
    } as unknown as SocketNet["WebSocket"];
    return createClient({
      url: "http://paired.test",
      user: { id: name.toLowerCase(), name },
      WebSocket: dial,
      clock: this.clock,
      random: seeded(this.seeds),
      ...options,
    });
  }

  /** Breaks the connection of a client made by {@link client}; it comes back when time passes. */
  cut(name: string): void {
    this.newest.get(name)?.cut();
  }

  /** Lets promises and commits run and delivers frames until nothing moves any more. Time stands still. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 4; ) {
      await settled();
      let moved = 0;
      for (const pair of this.open) {
        moved += pair.flushUp() + pair.flushDown();
        if (pair.server.closed && pair.client.readyState === 3) this.open.delete(pair);
      }
      quiet = moved > 0 ? 0 : quiet + 1;
    }
  }

  /** Lets time pass, then settles; what is sent in the first moments arrives before the rest of the time passes. */
  async pass(ms: number): Promise<void> {
    const first = Math.min(ms, 200);
    this.clock.advance(first);
    await this.settle();
    this.clock.advance(ms - first);
    await this.settle();
  }

  private take(pair: SocketPair): void {
    this.open.add(pair);
    const connection = this.gateway.accept(pair.server, REQUEST);
    pair.server.onmessage = (data) => connection.receive(data);
    pair.server.onpong = () => connection.pong();
    pair.server.onclose = () => this.gateway.closed(connection);
    // The client sets its handlers once it has the socket.
    queueMicrotask(() => pair.accept());
  }
}
