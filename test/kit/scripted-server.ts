import type {
  AGUIEvent,
  Author,
  Cursor,
  Entry,
  Message,
  NewEntry,
  Person,
  ThreadInfo,
  UpFrame,
} from "../../shared/protocol/index.ts";
import { PROTOCOL } from "../../shared/protocol/index.ts";
import { takeEarlier, takeSnapshot } from "../../shared/timeline/snapshot.ts";
import { Timeline } from "../../shared/timeline/timeline.ts";
import { SocketNet, type SocketPair } from "./socket-pair.ts";

type Frame = Record<string, unknown>;
type Commit = { seq: number; mark: string };

/** One thread of a {@link ScriptedServer}: a log in memory. */
export class ScriptedThread {
  readonly id: string;
  epoch = "e1";
  log: Entry[] = [];
  timeline = new Timeline();
  /** What changing requests were answered with, by type and id. */
  readonly acks = new Map<string, Frame>();
  people: Person[] = [];
  private commits: Commit[] = [{ seq: 0, mark: "" }];
  private readonly server: ScriptedServer;

  constructor(id: string, server: ScriptedServer) {
    this.id = id;
    this.server = server;
  }

  get head(): Commit {
    return this.commits.at(-1)!;
  }

  get cursor(): Cursor {
    return { epoch: this.epoch, ...this.head };
  }

  /** Writes entries as one commit, without telling anybody. */
  write(...entries: NewEntry[]): { after: number; items: Entry[] } {
    const after = this.head.seq;
    const items = entries.map((entry, i) => {
      const seq = after + i + 1;
      return { seq, at: 1_700_000_000_000 + seq, ...entry } as Entry;
    });
    for (const item of items) this.timeline.apply(item);
    this.log.push(...items);
    this.commits.push({ seq: after + items.length, mark: `${this.epoch}-${this.commits.length}` });
    return { after, items };
  }

  /** Writes entries and sends them to everybody who joined. */
  commit(...entries: NewEntry[]): void {
    this.tell(this.write(...entries));
  }

  /** Sends what {@link write} gave. */
  tell({ after, items }: { after: number; items: Entry[] }): void {
    this.server.broadcast(this.id, { type: "entries", thread: this.id, after, ...this.head, items });
  }

  /** One AG-UI event of a run, logged and sent. */
  event(run: string, event: { type: string; [field: string]: unknown }): void {
    const start = event.type === "RUN_STARTED" && { start: { agent: "planner", by: ANN } };
    this.commit({ kind: "event", run, event: event as unknown as AGUIEvent, ...start });
  }

  /** A finished message of a person, logged and sent. */
  message(id: string, content: string, by: Author = ANN): void {
    this.commit({ kind: "message", turn: `turn-${id}`, by, message: { id, role: "user", content } });
  }

  snapshot(history?: number) {
    return takeSnapshot(this.timeline, { thread: this.id, ...this.cursor }, history);
  }

  /** Entries behind a cursor; `null` when the cursor is not one of this log. */
  behind(cursor: unknown): Entry[] | null {
    const { epoch, seq, mark } = (cursor ?? {}) as Partial<Cursor>;
    const known = this.commits.some((commit) => commit.seq === seq && commit.mark === mark);
    return epoch === this.epoch && known ? this.log.slice(seq) : null;
  }

  /** The log is lost: what follows is another one. */
  lose(epoch: string): void {
    this.epoch = epoch;
    this.log = [];
    this.timeline = new Timeline();
    this.commits = [{ seq: 0, mark: "" }];
    this.acks.clear();
  }
}

/** Somebody who writes in tests. */
export const ANN: Author = { kind: "user", id: "guest:ann", name: "Ann" };

/** One socket of a {@link ScriptedServer}. */
export class ScriptedConnection {
  readonly pair: SocketPair;
  readonly threads = new Set<string>();
  readonly watches = new Map<string, unknown>();
  user: { id: string; name: string } = { id: "", name: "" };
  client = "";
  /** Everything it got, as frames. */
  readonly got: UpFrame[] = [];
  private greeted = false;
  private readonly server: ScriptedServer;

  constructor(pair: SocketPair, server: ScriptedServer) {
    this.pair = pair;
    this.server = server;
    pair.server.onmessage = (data) => this.receive(JSON.parse(String(data)) as UpFrame);
  }

  send(frame: object): void {
    this.pair.server.send(JSON.stringify(frame));
  }

  private receive(frame: UpFrame): void {
    this.got.push(frame);
    if (this.server.intercept?.(frame, this) === true) return;
    if (!this.greeted) {
      if (frame.type !== "hello") return this.pair.server.close(4402, "hello first");
      this.greeted = true;
      this.client = frame.client;
      this.user = { id: `guest:${frame.user?.id}`, name: frame.user?.name ?? "" };
      return this.send({ ...WELCOME, user: this.user });
    }
    const answer = this.handle(frame);
    if (answer && "ref" in frame) this.send({ type: "ack", ref: frame.ref, ...answer });
    for (const tell of this.server.after.splice(0)) tell();
  }

  private handle(frame: UpFrame): Frame | null {
    switch (frame.type) {
      case "join":
        return this.join(frame);
      case "leave":
        this.threads.delete(frame.thread);
        return {};
      case "watch": {
        this.watches.set(frame.watch, frame.query);
        const items = [...this.server.list.values()];
        this.server.after.push(() => this.send({ type: "threads", watch: frame.watch, items, removed: [] }));
        return {};
      }
      case "unwatch":
        this.watches.delete(frame.watch);
        return {};
      case "earlier": {
        const thread = this.server.thread(frame.thread);
        return { ...takeEarlier(thread.timeline, frame.before, frame.limit), seq: thread.head.seq };
      }
      case "submit":
        return this.once(frame.thread, `submit ${frame.inputId}`, () => {
          const messages = frame.messages as Message[];
          const { inputId } = frame;
          const by = { kind: "user" as const, ...this.user };
          const written = messages.map(
            (message): NewEntry => ({ kind: "message", turn: inputId, by, message }),
          );
          if (frame.start === false) return { entries: written, ack: { inputId, status: "done" } };
          if (this.server.busy) {
            const queued: NewEntry = { kind: "input", by, inputId, status: "queued", messages, place: 0 };
            return { entries: [queued], ack: { inputId, status: "queued", place: 0 } };
          }
          const running: NewEntry = {
            kind: "input",
            by,
            inputId,
            status: "running",
            messages,
            runId: `run-${inputId}`,
          };
          return {
            entries: [running, ...written],
            ack: { inputId, status: "running", runId: `run-${inputId}` },
          };
        });
      case "withdraw":
        return this.once(frame.thread, `withdraw ${frame.key}`, () => ({
          entries: [{ kind: "input", inputId: frame.inputId, status: "withdrawn" }],
          ack: {},
        }));
      case "cancel":
        return this.once(frame.thread, `cancel ${frame.key}`, () => ({ entries: [], ack: {} }));
      case "update": {
        const { title, archived } = frame;
        const change = { ...(title !== undefined && { title }), ...(archived !== undefined && { archived }) };
        return this.once(frame.thread, `update ${frame.key}`, () => ({
          entries: [{ kind: "thread", ...change }],
          ack: {},
        }));
      }
      case "presence":
        return null;
      default:
        return {};
    }
  }

  private join({ ref, thread: id, cursor, create, history }: Extract<UpFrame, { type: "join" }>): null {
    if (!create && !this.server.threads.has(id)) {
      this.send({
        type: "reject",
        ref,
        code: "not_found",
        message: "There is no such thread.",
        retry: false,
      });
      return null;
    }
    const thread = this.server.thread(id);
    const items = thread.behind(cursor);
    this.threads.add(id);
    const { epoch, seq, mark } = thread.cursor;
    const place = { thread: id, epoch, seq, mark };
    const recovered = items !== null;
    this.send({ type: "joined", ref, channel: 1, generation: 0, recovered, role: "owner", ...place });
    const after = seq - (items?.length ?? 0);
    if (items) this.send({ type: "entries", thread: id, after, seq, mark, items });
    else this.send(thread.snapshot(history));
    this.send({ type: "people", thread: id, all: thread.people });
    return null;
  }

  /** Commits a change the first time it is asked for; later ones get the same answer. */
  private once(id: string, key: string, change: () => { entries: NewEntry[]; ack: Frame }): Frame {
    const thread = this.server.thread(id);
    const known = thread.acks.get(key);
    if (known) return { ...known, duplicate: true };
    const { entries, ack } = change();
    if (entries.length > 0) {
      const written = thread.write(...entries);
      this.server.after.push(() => thread.tell(written));
    }
    const full = { ...ack, seq: thread.head.seq };
    thread.acks.set(key, full);
    return full;
  }
}

const WELCOME = {
  type: "welcome",
  v: PROTOCOL,
  connection: "c",
  server: { version: "0.0.0", agents: [{ id: "planner", name: "Planner", default: true }] },
  limits: { frame: 1_000_000, message: 100_000, presence: 4_096, history: 1_000 },
};

/**
 * A server of few rules behind a {@link SocketNet}: it keeps logs, answers joins by cursor, and applies each
 * submit once. Tests decide when frames travel, and may answer a frame in its place.
 */
export class ScriptedServer {
  readonly net = new SocketNet();
  readonly threads = new Map<string, ScriptedThread>();
  readonly list = new Map<string, ThreadInfo>();
  readonly connections: ScriptedConnection[] = [];
  /** Whether it takes connections. */
  up = true;
  /** Whether a run is under way everywhere, so that inputs are queued. */
  busy = false;
  /** Looks at each frame first; `true` = the server does nothing about it. */
  intercept: ((frame: UpFrame, connection: ScriptedConnection) => boolean | undefined) | null = null;
  /** What is told to everybody behind the present ack. */
  readonly after: (() => void)[] = [];

  constructor() {
    this.net.ondial = (pair) => void this.connections.push(new ScriptedConnection(pair, this));
  }

  get last(): ScriptedConnection {
    return this.connections.at(-1)!;
  }

  thread(id: string): ScriptedThread {
    const known = this.threads.get(id);
    if (known) return known;
    const fresh = new ScriptedThread(id, this);
    this.threads.set(id, fresh);
    return fresh;
  }

  /** Completes handshakes, or refuses them when it is down. */
  accept(): void {
    for (const { pair } of this.connections) {
      if (pair.client.readyState !== 0) continue;
      if (this.up) pair.accept();
      else pair.refuse();
    }
  }

  /** Completes handshakes and delivers everything. */
  flush(): void {
    this.accept();
    this.net.flush();
  }

  broadcast(thread: string, frame: object): void {
    for (const connection of this.connections) {
      if (connection.threads.has(thread) && !connection.pair.server.closed) connection.send(frame);
    }
  }

  /** Sends a change of the list to everybody who watches. */
  listed(items: ThreadInfo[], removed: string[] = []): void {
    for (const item of items) this.list.set(item.id, item);
    for (const id of removed) this.list.delete(id);
    for (const connection of this.connections) {
      for (const watch of connection.watches.keys())
        connection.send({ type: "threads", watch, items, removed });
    }
  }
}
