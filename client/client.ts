import { type Clock, systemClock } from "../shared/clock.ts";
import type { DownFrame, DownFrameOf, ThreadQuery, User } from "../shared/protocol/index.ts";
import { PROTOCOL } from "../shared/protocol/version.ts";
import { readVaruint } from "../shared/varuint.ts";
import { BACKOFF, type Backoff } from "./backoff.ts";
import {
  type ConnectionState,
  createConnection,
  DEAD_DOWNLOADING_MS,
  DEAD_MS,
  DEAD_RESTORING_MS,
  type Hello,
} from "./connection.ts";
import type { CothreadError } from "./cothread-error.ts";
import { createEmitter } from "./emitter.ts";
import { environment } from "./environment.ts";
import { createHeld } from "./held.ts";
import { claimClientId, guestId, makeId, secureRandom } from "./identity.ts";
import { createOutbox } from "./outbox.ts";
import { createRequests, promised, rejection } from "./requests.ts";
import { withSnapshotFields } from "./snapshot-fields.ts";
import { type SocketConstructor, socketUrl } from "./socket.ts";
import type { Thread } from "./thread.ts";
import { createThreadCore, type ThreadCore, type ThreadOptions } from "./thread-core.ts";
import type { ThreadControl, ThreadHost, ThreadUpdate } from "./thread-host.ts";
import {
  createThreadList,
  type ThreadList,
  type ThreadListControl,
  type ThreadListHost,
} from "./thread-list.ts";
import { createWeakRegistry } from "./weak-registry.ts";

/** A guest's name, and id where the application has one of its own. */
export type Guest = { id?: string; name: string };

/** What `createClient` takes; every option may be left out in a browser. */
export interface ClientOptions {
  /** The server: http(s):// or ws(s)://, with its base path. Default: where the page came from. */
  url?: string;
  /** Who a guest is. The id is made once and kept in localStorage. Servers with authentication ignore it. */
  user?: Guest;
  /** Gives the token for authentication; called for every connection, so that it is never an old one. */
  token?: () => string | Promise<string>;
  /** Default: the global one. Node 20 has none: give it that of the package `ws`. */
  WebSocket?: SocketConstructor;
  /** Newest messages to fetch when a thread is joined. Default 200. */
  history?: number;
  /** Bounds of the waits between attempts to connect, ms. Default 500 and 20 000. */
  backoff?: Backoff;
  /** Time; for tests. */
  clock?: Clock;
  /** Numbers in [0, 1) for ids and jitter; for tests. Must be hard to guess elsewhere. */
  random?: () => number;
}

/** What the client shows at one moment; a new object whenever something changed. */
export type ClientSnapshot = ConnectionState & {
  /** Changes that the server has not acknowledged. */
  readonly unsent: number;
  /** Who the server says this is; `null` before the first welcome. */
  readonly user: User | null;
  /** Version of the server and the agents it has; `null` before the first welcome. */
  readonly server: DownFrameOf<"welcome">["server"] | null;
};

/** What one can listen to on a client. */
export type ClientEvents = {
  change: [];
  status: [state: ConnectionState];
  /** The connection was refused, or the server refused something that nobody waits for. */
  error: [error: CothreadError];
};

/**
 * A connection to one server, shared by all threads and lists. It connects when the first thread or list is
 * held, or by `connect()`; making a client touches no network and no timer.
 */
export interface Client extends ClientSnapshot {
  /** Everything at this moment, as one object; the same one until something changes. Its fields are here too. */
  readonly snapshot: ClientSnapshot;
  /**
   * A thread, joined and kept so until `release()` is called as often as this was. The same object for the
   * same id.
   * @throws TypeError where there is no WebSocket and none was given
   */
  thread(id: string, options?: ThreadOptions): Thread;
  /** A thread without joining it: for code that holds it later, such as a hook that renders. */
  peek(id: string, options?: ThreadOptions): Thread;
  /** A live list of threads, held until `release()`. The same object for the same query. */
  threads(query?: ThreadQuery): ThreadList;
  /** A list without watching it; see {@link peek}. */
  peekThreads(query?: ThreadQuery): ThreadList;
  /** Renames or archives a thread without joining it. */
  update(id: string, change: ThreadUpdate): Promise<void>;
  /** Calls the listener whenever the snapshot changed. Returns the way out. */
  subscribe(listener: () => void): () => void;
  /** Listens to one kind of happening; see {@link ClientEvents}. Returns the way out. */
  on<K extends keyof ClientEvents>(name: K, listener: (...args: ClientEvents[K]) => void): () => void;
  /** Connects without waiting for the first thread or list. */
  connect(): void;
  /** Drops the present connection, if any, and connects at once; also after `refused`. */
  reconnect(): void;
  /** Changes a guest's name; the server learns it by the reconnect that this makes. */
  setUser(user: Guest): void;
  /** Keeps the client open until the returned function is called; two seconds after the last it is closed. */
  hold(): () => void;
  /** Closes the connection for good. What is unsent rejects with `closed`. */
  close(): void;
}

const HISTORY = 200;
const NAME_MAX = 80;

/**
 * Makes a client.
 * @throws TypeError when `url` is given and is not an address
 */
export function createClient(options: ClientOptions = {}): Client {
  const { clock = systemClock, random = secureRandom, backoff = BACKOFF, url, token } = options;
  if (url !== undefined) socketUrl(url);
  const emitter = createEmitter<ClientEvents>();
  const coreOf = createWeakRegistry<ThreadCore>();
  const listOf = createWeakRegistry<ThreadList>();
  const threads = new Map<string, ThreadControl>();
  const lists = new Set<ThreadListControl>();
  const followers = () => [...threads.values(), ...lists];
  let guest = options.user;
  let madeId: string | undefined;
  let claim: ReturnType<typeof claimClientId> | undefined;
  let clientId: string | undefined;
  let welcomed: DownFrameOf<"welcome"> | undefined;
  let cached: ClientSnapshot | null = null;

  const changed = () => {
    cached = null;
    emitter.emit("change");
  };

  const hello = async (): Promise<Hello> => {
    claim ??= claimClientId(random);
    const [{ id: client }, given] = await Promise.all([claim, token?.()]);
    clientId = client;
    if (!guest?.id) madeId ??= guestId(random);
    // In JSON what is undefined is absent. Where there is a token, it says who this is.
    return {
      type: "hello",
      v: PROTOCOL,
      client,
      token: given,
      user:
        guest || !token
          ? {
              id: guest?.id || (madeId as string),
              name: guest?.name.trim().slice(0, NAME_MAX) || "Guest",
            }
          : undefined,
    };
  };

  const dispatch = (frame: DownFrame) => {
    switch (frame.type) {
      case "ack":
      case "joined":
      case "reject":
        if (!requests.answer(frame) && frame.type === "reject" && frame.ref === undefined)
          emitter.emit("error", rejection(frame));
        return;
      case "snapshot":
      case "entries":
      case "people":
      case "saved":
        return threads.get(frame.thread)?.frame(frame);
      case "threads":
        for (const list of lists) list.frame(frame);
    }
  };

  const line = createConnection({
    url: () => socketUrl(url ?? environment().location?.origin ?? ""),
    hello,
    WebSocket: options.WebSocket,
    clock,
    random,
    backoff,
    deadMs() {
      const phases = [...threads.values()].map(({ phase }) => phase());
      if (phases.some((phase) => phase === "snapshot" || phase === "replay")) return DEAD_DOWNLOADING_MS;
      return phases.includes("asked") ? DEAD_RESTORING_MS : DEAD_MS;
    },
    onWelcome(frame) {
      welcomed = frame;
      changed();
      for (const each of followers()) each.welcome();
    },
    onFrame: dispatch,
    onBytes(bytes) {
      const [channel, length] = readVaruint(bytes) ?? [0, 0];
      const [seq, behind] = readVaruint(bytes, length) ?? [0, 0];
      for (const each of threads.values())
        if (each.channel() === channel) each.bytes(bytes.subarray(behind), seq);
    },
    onDown() {
      requests.down();
      for (const each of followers()) each.down();
    },
    onState(state) {
      changed();
      for (const each of followers()) each.connection();
      emitter.emit("status", state);
      if (state.error && state.status === "refused") emitter.emit("error", state.error);
    },
  });
  const requests = createRequests(line.send);
  const outbox = createOutbox({
    requests,
    clock,
    random,
    backoff,
    // A thread can be renamed or put away without being in it; everything else is said inside.
    ready: (thread, type) =>
      line.state.status === "live" && (type === "update" || threads.get(thread)?.joined() === true),
    limit: () => welcomed?.limits.frame ?? Number.POSITIVE_INFINITY,
    changed,
  });
  const host: ThreadHost & ThreadListHost = {
    clock,
    random,
    backoff,
    history: options.history ?? HISTORY,
    requests,
    outbox,
    connection: () => line.state,
    client: () => clientId,
    me: () => ({ kind: "user", ...(welcomed?.user ?? { id: "", name: guest?.name ?? "" }) }),
    send: (frame) => line.send(JSON.stringify(frame)),
    sendBytes: line.send,
    update: (thread, change) =>
      promised((answered) =>
        outbox.add({ type: "update", thread, key: makeId(random), ...change }, answered),
      ),
    enter(thread, control) {
      threads.set(thread, control);
      line.start();
    },
    leave: (thread) => void threads.delete(thread),
    enterList(list) {
      lists.add(list);
      line.start();
    },
    leaveList: (list) => void lists.delete(list),
  };
  const close = () => {
    if (line.state.status === "closed") return;
    line.close();
    if (line.state.error) outbox.fail(line.state.error);
    for (const each of followers()) each.close();
    threads.clear();
    lists.clear();
    held.end();
    claim?.then(({ release }) => release());
  };
  const held = createHeld(clock, () => {}, close);

  const now = () => {
    cached ??= {
      retryAt: undefined,
      reason: undefined,
      error: undefined,
      ...line.state,
      unsent: outbox.size,
      user: welcomed?.user ?? null,
      server: welcomed?.server ?? null,
    };
    return cached;
  };
  const peek = (id: string, given?: ThreadOptions) => {
    const core = coreOf(id, () => createThreadCore(id, host));
    core.options = { ...core.options, ...given };
    return core.thread;
  };
  const peekThreads = (query: ThreadQuery = {}) => {
    const key = JSON.stringify([query.archived, query.text, query.limit]);
    return listOf(key, () => createThreadList({ ...query }, host));
  };
  const joined = <T extends Thread | ThreadList>(it: T) => {
    // Not when the client is made: where pages are rendered there may be none, and none is needed.
    if (!options.WebSocket && !environment().WebSocket)
      throw new TypeError("There is no WebSocket here: give createClient a `WebSocket`.");
    it.hold();
    return it;
  };

  return withSnapshotFields(now, {
    get snapshot() {
      return now();
    },
    thread: (id: string, given?: ThreadOptions) => joined(peek(id, given)),
    peek,
    threads: (query?: ThreadQuery) => joined(peekThreads(query)),
    peekThreads,
    update: host.update,
    subscribe: (listener: () => void) => emitter.on("change", listener),
    on: emitter.on,
    connect: line.start,
    reconnect: line.restart,
    setUser(user: Guest) {
      guest = { ...guest, ...user };
      // Before the first hello nobody has been told a name.
      if (claim) line.restart();
    },
    hold: held.hold,
    close,
  });
}
