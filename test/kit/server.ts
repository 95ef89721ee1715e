import { onTestFinished } from "vitest";
import type { Agent, AgentOptions } from "../../server/agents/agent.ts";
import { AgentRegistry } from "../../server/agents/registry.ts";
import { type CothreadServer, createServer, type ServerOptions } from "../../server/index.ts";
import type { Broadcast, Caller, Rejection, RoomRequest } from "../../server/room/port.ts";
import { Rooms } from "../../server/room/rooms.ts";
import { openMemory } from "../../server/store/memory.ts";
import type { Store, ThreadKey } from "../../server/store/store.ts";
import { compileTextPaths } from "../../shared/json-crdt/text-paths.ts";
import type { Entry, Snapshot } from "../../shared/protocol/index.ts";
import { FakeClock } from "./fake-clock.ts";

/** Starts a real server on a free port, in memory and without the web app; it is closed after the test. */
export async function openServer(options: ServerOptions = {}): Promise<CothreadServer> {
  const server = await createServer({
    port: 0,
    store: "memory:",
    app: false,
    logLevel: "silent",
    drainMs: 0,
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}

/** What rooms without sockets are opened with; everything has a default. */
export type TestRoomsOptions = {
  agents?: Record<string, Agent | AgentOptions>;
  store?: Store;
  clock?: FakeClock;
  idleMs?: number;
  limits?: { message: number; queue: number };
};

/** Rooms without sockets, on a clock that the test winds; they are closed after the test. */
export class TestRooms {
  readonly rooms: Rooms;
  readonly store: Store;
  readonly clock: FakeClock;
  /** What a person on call would have been told. */
  readonly warnings: { what: string; details: object }[] = [];
  private n = 0;

  constructor(options: TestRoomsOptions = {}) {
    const { agents = {}, store = openMemory(), clock = new FakeClock(), idleMs = 60_000 } = options;
    this.store = store;
    this.clock = clock;
    this.rooms = new Rooms({
      store,
      clock,
      idleMs,
      agents: new AgentRegistry(agents),
      texts: compileTextPaths(["/document"]),
      limits: options.limits ?? { message: 1_000_000, queue: 100 },
      warn: (what, details) => this.warnings.push({ what, details }),
    });
    onTestFinished(() => this.rooms.close());
  }

  /** A person with one connection in one thread. */
  async join(
    thread: string,
    name = "Ana",
    more: { cursor?: unknown; history?: number; oldest?: string; client?: string } = {},
  ): Promise<TestReader> {
    this.n += 1;
    const { client = `client-${name.toLowerCase()}` } = more;
    const user = { id: `guest:${name.toLowerCase()}`, name };
    const caller: Caller = { tenant: "default", user, client, connection: `c${this.n}`, role: "editor" };
    return TestReader.join(this.rooms, { tenant: "default", thread }, caller, more);
  }
}

/** One reader of a thread, with what it has been told. */
export class TestReader {
  readonly entries: Entry[] = [];
  readonly people: (Broadcast & { kind: "people" })[] = [];
  readonly lost: string[] = [];
  readonly caller: Caller;
  readonly key: ThreadKey;
  /** The reply to its join. */
  reply!: Awaited<ReturnType<Rooms["join"]>>;
  private readonly rooms: Rooms;
  private readonly stop: () => void;
  private waiting: (() => void)[] = [];
  private n = 0;

  private constructor(rooms: Rooms, key: ThreadKey, caller: Caller) {
    this.rooms = rooms;
    this.key = key;
    this.caller = caller;
    this.stop = rooms.listen(key, (broadcast) => {
      if (broadcast.kind === "lost") this.lost.push(broadcast.reason);
      if (broadcast.kind === "people") this.people.push(broadcast);
      if (broadcast.kind !== "entries") return;
      this.entries.push(...broadcast.json.map((json) => JSON.parse(json) as Entry));
      const waiting = this.waiting;
      this.waiting = [];
      for (const look of waiting) look();
    });
  }

  static async join(
    rooms: Rooms,
    key: ThreadKey,
    caller: Caller,
    more: { cursor?: unknown; history?: number; oldest?: string },
  ): Promise<TestReader> {
    const reader = new TestReader(rooms, key, caller);
    const { cursor, history = Number.POSITIVE_INFINITY, oldest } = more;
    const held = oldest === undefined ? {} : { oldest };
    reader.reply = await rooms.join({ key, caller, cursor, create: true, history, ...held });
    return reader;
  }

  /** Sends a request. @throws Rejection */
  ask(frame: { type: RoomRequest["type"]; [field: string]: unknown }) {
    const { key, caller } = this;
    const full = { ref: 1, thread: key.thread, ...frame } as unknown as RoomRequest;
    return this.rooms.request({ key, caller, frame: full });
  }

  /** Submits a text; ids are made up unless given. */
  submit(text: string, more: object = {}) {
    this.n += 1;
    const id = `${this.caller.connection}-${this.n}`;
    return this.ask({
      type: "submit",
      inputId: id,
      messages: [{ id: `m-${id}`, role: "user", content: text }],
      ...more,
    });
  }

  /** The first entry that passes, come or to come. */
  async entry(test: (entry: Entry) => boolean): Promise<Entry> {
    for (;;) {
      const found = this.entries.find(test);
      if (found) return found;
      await new Promise<void>((look) => this.waiting.push(look));
    }
  }

  /** The terminal event of a run. */
  terminal(run?: string): Promise<Entry> {
    return this.entry(
      (entry) =>
        entry.kind === "event" &&
        /^RUN_(FINISHED|ERROR)$/.test(entry.event.type) &&
        (run === undefined || entry.run === run),
    );
  }

  async leave(): Promise<void> {
    this.stop();
    await this.rooms.leave({ key: this.key, connection: this.caller.connection });
  }
}

/** What a reader that joined without a cursor was given. */
export function snapshotOf(reader: TestReader): Snapshot {
  const { catchUp } = reader.reply;
  if (catchUp.kind !== "snapshot") throw new Error("the reader got entries");
  return catchUp.snapshot;
}

/** The code a request was refused with; fails when it was not. */
export async function codeOf(request: Promise<unknown>): Promise<string> {
  return request.then(
    (ack) => `accepted: ${JSON.stringify(ack)}`,
    (error: Rejection) => error.code ?? String(error),
  );
}
