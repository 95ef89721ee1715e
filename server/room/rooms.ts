import type { Clock } from "../../shared/clock.ts";
import type { TextPaths } from "../../shared/json-crdt/text-paths.ts";
import { Cursor, type Entry } from "../../shared/protocol/index.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import type { Store, ThreadKey } from "../store/store.ts";
import { CommitTurn } from "./commit-turn.ts";
import { answerSync, takeUpdate } from "./doc-requests.ts";
import type { DocumentLimits } from "./document-limits.ts";
import type { Broadcast, CatchUp, JoinReply, ListedThread, RoomsPort } from "./port.ts";
import { Rejection } from "./port.ts";
import { readLog } from "./read-log.ts";
import { answerRequest, type RequestLimits } from "./requests.ts";
import { Room, type RoomHost } from "./room.ts";
import { SdkLane } from "./sdk-lane.ts";
import { type Standing, standAt, windowOf } from "./standing.ts";
import { StoredState } from "./stored-state.ts";

/** What rooms are built on; times in ms, sizes in bytes. */
export type RoomsOptions = {
  store: Store;
  agents: AgentRegistry;
  clock: Clock;
  limits: RequestLimits;
  /** Where the state has text fields. */
  texts: TextPaths;
  /** What documents may come to, where that differs from the defaults. */
  documents?: Partial<DocumentLimits>;
  /** How long a room that nobody uses stays in memory. */
  idleMs: number;
  /** Told of what a person on call should know; never content. */
  warn(what: string, details: object): void;
};

/** Entries a returning reader is sent at most before a snapshot is cheaper ([J3]). */
const MAX_BEHIND = 5_000;
const MAX_BEHIND_BYTES = 4 * 1024 * 1024;

/** All rooms of this process: loaded once, unloaded when idle ([L4]). */
export class Rooms implements RoomsPort {
  private readonly options: RoomsOptions;
  private readonly host: RoomHost;
  private readonly rooms = new Map<string, Promise<Room>>();
  private readonly listeners = new Map<string, Set<(broadcast: Broadcast) => void>>();
  private readonly watchers = new Set<(key: ThreadKey) => void>();
  private readonly live = new Map<string, Room>();
  /** Rooms that wait to be unloaded: since when they are idle, and what calls the next look off. */
  private readonly idle = new Map<Room, { since: number; cancel: (() => void) | null }>();
  private stopping = false;

  constructor(options: RoomsOptions) {
    this.options = options;
    this.host = {
      ...options,
      commits: new CommitTurn(options.store, options.clock),
      stateOf: (loaded, state) => new StoredState(options.texts, loaded, state, options.documents),
      publish: (key, broadcast) => {
        for (const listener of this.listeners.get(mapKey(key)) ?? []) listener(broadcast);
      },
      changed: (key) => {
        for (const watcher of this.watchers) watcher(key);
      },
      idle: (room) => this.unloadLater(room),
      gone: (room) => this.forget(room),
    };
  }

  /** Takes up what a stopped server left: runs are ended, queued inputs start ([R5]). */
  async boot(): Promise<void> {
    for (const key of await this.options.store.unfinished()) {
      // One thread that cannot be read must not keep the server from starting; room() has said so.
      const room = await this.room(key).catch(() => null);
      if (room?.unused) this.unloadLater(room);
    }
  }

  async join(request: Parameters<RoomsPort["join"]>[0]): Promise<JoinReply> {
    const { key, caller, cursor, create, history, oldest } = request;
    return this.within(key, async (room) => {
      const usable = await this.usableCursor(room, cursor);
      const standing = await room.enqueue((turn) => {
        if (!room.exists && !turn.create) {
          if (!create) throw new Rejection("not_found", "There is no such thread.");
          turn.create = { epoch: room.place.epoch, at: turn.at };
          turn.setInfo({ updatedAt: turn.at });
        }
        return () => {
          room.audience.join(caller);
          room.tools.joined(caller);
          return standAt(room, usable, history, windowOf(room, oldest));
        };
      });
      return { ...(await this.reply(room, standing, history)), role: caller.role };
    });
  }

  async leave({ key, connection }: { key: ThreadKey; connection: string }): Promise<void> {
    // Only who is in memory can be left.
    const room = this.live.get(mapKey(key));
    room?.tools.left(connection);
    if (!room?.audience.leave(connection)) return;
    if (room.unused) this.unloadLater(room);
  }

  async catchUp(request: Parameters<RoomsPort["catchUp"]>[0]): Promise<Omit<JoinReply, "role">> {
    const { key, cursor, history, window } = request;
    return this.within(key, async (room) => {
      const usable = await this.usableCursor(room, cursor);
      const standing = await room.enqueue(() => () => standAt(room, usable, history, window));
      return this.reply(room, standing, history);
    });
  }

  async request(request: Parameters<RoomsPort["request"]>[0]): Promise<Record<string, unknown>> {
    return this.within(request.key, (room) => {
      if (!room.exists) throw new Rejection("not_found", "There is no such thread.");
      return answerRequest(room, request.caller, request.frame, this.options);
    });
  }

  async presence(request: Parameters<RoomsPort["presence"]>[0]): Promise<void> {
    this.live.get(mapKey(request.key))?.audience.setData(request.connection, request.data);
  }

  async docSync({ key, vector }: Parameters<RoomsPort["docSync"]>[0]) {
    return this.within(key, (room) => answerSync(room, vector));
  }

  async docUpdate(request: Parameters<RoomsPort["docUpdate"]>[0]) {
    return this.within(request.key, (room) => takeUpdate(room, request));
  }

  async awareness({ key, caller, update }: Parameters<RoomsPort["awareness"]>[0]) {
    return this.live.get(mapKey(key))?.audience.take(caller, update) ?? null;
  }

  async threads({ tenant, query, ids }: Parameters<RoomsPort["threads"]>[0]): Promise<ListedThread[]> {
    const rows = await this.options.store.threads({ tenant, limit: 200, ...query, ...(ids && { ids }) });
    return rows.map((row) => {
      const room = this.live.get(mapKey({ tenant, thread: row.id }));
      return { ...row, people: room?.audience.people.users().slice(0, 20) ?? [] };
    });
  }

  async unread({ tenant, user, ids }: Parameters<RoomsPort["unread"]>[0]): Promise<[string, number][]> {
    return [...(await this.options.store.unread(tenant, user, ids))];
  }

  listen(key: ThreadKey, listener: (broadcast: Broadcast) => void): () => void {
    const id = mapKey(key);
    const set = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, set.add(listener));
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.listeners.get(id) === set) this.listeners.delete(id);
    };
  }

  onThreadChange(listener: (key: ThreadKey) => void): () => void {
    this.watchers.add(listener);
    return () => this.watchers.delete(listener);
  }

  /** Whether any agent is at work. */
  get running(): boolean {
    return [...this.live.values()].some((room) => room.responses.busy);
  }

  /** Lets running agents go on and starts nothing any more; what is queued waits for the next boot. */
  hold(): void {
    for (const room of this.live.values()) room.responses.held = true;
  }

  /** Ends all runs with a reason people can read, writes the folds and lets go of every room. */
  async close(): Promise<void> {
    this.stopping = true;
    const opened = await Promise.allSettled(this.rooms.values());
    await Promise.all(opened.map((one) => (one.status === "fulfilled" ? this.end(one.value) : null)));
    await this.host.commits.settled();
    for (const { cancel } of this.idle.values()) cancel?.();
    this.rooms.clear();
    this.live.clear();
  }

  private async end(room: Room): Promise<void> {
    const message =
      "The server was stopped while this run was under way. Send the message again to run it anew.";
    room.stopping = true;
    // The queue stays in the store: it starts at the next boot.
    room.next((turn) => {
      room.responses.queue.clear();
      room.responses.failAll(turn, "SERVER_RESTART", message);
    });
    await room.foldNow().catch(() => {});
    room.closed = true;
  }

  /** Runs something with the thread's room; when that left memory in between, with the new one. */
  private async within<T>(key: ThreadKey, work: (room: Room) => Promise<T>): Promise<T> {
    if (this.stopping)
      throw new Rejection("store_failed", "The server is stopping. Nothing was changed; try again.");
    const room = await this.room(key);
    if (room.closed) return this.within(key, work);
    const release = room.hold();
    try {
      return await work(room);
    } finally {
      release();
      if (room.unused) this.unloadLater(room);
    }
  }

  private room(key: ThreadKey): Promise<Room> {
    const id = mapKey(key);
    const known = this.rooms.get(id);
    if (known) return known;
    const opening = Room.open(key, this.host).then(
      (room) => {
        this.live.set(id, room);
        return room;
      },
      (error: Error) => {
        this.rooms.delete(id);
        this.options.warn("a thread cannot be read", { thread: key.thread, error: error.message });
        throw new Rejection("store_failed", "The thread cannot be read at the moment. Try again later.");
      },
    );
    this.rooms.set(id, opening);
    return opening;
  }

  private unloadLater(room: Room): void {
    if (room.closed || this.stopping) return;
    const { clock, idleMs } = this.options;
    const idle = this.idle.get(room) ?? { since: 0, cancel: null };
    idle.since = clock.now();
    if (idle.cancel) return;
    this.idle.set(room, idle);
    // Of a thread that does not exist nothing is worth keeping: asking for many must not fill the memory.
    const ms = room.exists ? idleMs : 0;
    const look = () => {
      const left = idle.since + ms - clock.now();
      if (left > 0 && room.unused) idle.cancel = clock.after(left, look);
      else if (this.idle.delete(room)) this.unload(room);
    };
    idle.cancel = clock.after(ms, look);
  }

  private unload(room: Room): void {
    if (room.closed || !room.unused) return;
    if (room.exists && room.unfolded) {
      // Whoever comes in while the fold is written keeps the room.
      room.foldNow().then(
        () => this.unload(room),
        () => this.unloadLater(room),
      );
      return;
    }
    // There is no await between the look and the removal, and later comers find it closed.
    room.closed = true;
    this.forget(room);
  }

  private forget(room: Room): void {
    const id = mapKey(room.key);
    if (this.live.get(id) !== room) return;
    this.live.delete(id);
    this.rooms.delete(id);
  }

  /** [C2], [C3] The cursor when the log has its seq, written by the commit it names. */
  private async usableCursor(room: Room, given: unknown): Promise<Cursor | null> {
    const parsed = Cursor.safeParse(given);
    if (!parsed.success) return null;
    const cursor = parsed.data;
    const { epoch, seq, mark } = room.place;
    if (cursor.epoch !== epoch || !Number.isInteger(cursor.seq) || cursor.seq < 0) return null;
    if (cursor.seq === 0) return cursor.mark === "" ? cursor : null;
    if (cursor.seq === seq) return cursor.mark === mark ? cursor : null;
    return (await this.options.store.mark(room.key, cursor.seq)) === cursor.mark ? cursor : null;
  }

  private async reply(room: Room, standing: Standing, history: number): Promise<Omit<JoinReply, "role">> {
    const { cursor, place, people } = standing;
    const { seq, mark } = place;
    let { snapshot } = standing;
    if (cursor && !snapshot) {
      const items = await this.behind(room, cursor.seq, seq);
      if (items && !items.some((entry) => standing.reaches(entry))) {
        const { window } = standing;
        const catchUp: CatchUp = { kind: "entries", after: cursor.seq, seq, mark, items, window };
        return { ...place, recovered: true, catchUp, people };
      }
    }
    snapshot ??= (await room.enqueue(() => () => standAt(room, null, history, null))).snapshot;
    if (!snapshot) throw new Error("unreachable: standing without a cursor has a snapshot");
    const { epoch, seq: at, mark: of } = snapshot.snapshot;
    const generation = place.generation;
    return {
      epoch,
      seq: at,
      mark: of,
      generation,
      recovered: false,
      catchUp: snapshot,
      people,
    };
  }

  /** The SDK's entries in (after, seq]; `null` when they are more than a snapshot is worth. */
  private async behind(room: Room, after: number, seq: number): Promise<Entry[] | null> {
    if (seq - after > MAX_BEHIND) return null;
    const items: Entry[] = [];
    const lane = new SdkLane();
    let bytes = 0;
    for await (const page of readLog(this.options.store, room.key, after, seq)) {
      const sent = page.filter((entry) => lane.carries(entry));
      for (const entry of sent) bytes += JSON.stringify(entry).length;
      if (bytes > MAX_BEHIND_BYTES) return null;
      items.push(...sent);
    }
    return items;
  }
}

function mapKey({ tenant, thread }: ThreadKey): string {
  return `${tenant}\n${thread}`;
}
