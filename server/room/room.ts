import type { Clock } from "../../shared/clock.ts";
import type { Json } from "../../shared/protocol/index.ts";
import { Timeline } from "../../shared/timeline/index.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import type { AckRow, Batch, CommitResult, Loaded, Store, ThreadKey } from "../store/store.ts";
import { type AbandonedCode, endAbandonedRuns, isUnfinished } from "./abandoned-runs.ts";
import { AckMemory } from "./ack-memory.ts";
import { Audience } from "./audience.ts";
import type { CommitTurn } from "./commit-turn.ts";
import { docBroadcast } from "./doc-requests.ts";
import { fromRow } from "./input-record.ts";
import { Leases } from "./leases.ts";
import { Marks, randomId } from "./marks.ts";
import { notStored } from "./not-stored.ts";
import { type Broadcast, Rejection } from "./port.ts";
import { loadTimeline, logAsText } from "./read-log.ts";
import { ReadMarks } from "./read-marks.ts";
import { Responses } from "./responses.ts";
import type { StoredState } from "./stored-state.ts";
import { threadInfo } from "./thread-info.ts";
import { ToolDesk } from "./tool-desk.ts";
import { type LogPlace, Turn } from "./turn.ts";
import type { CommitFailure, Current, Work } from "./work.ts";
import { tellAgents } from "./working-agents.ts";

/** Entries between two writes of the stored fold: what loading a thread replays at most. */
const FOLD_EVERY = 256;

/** What a room is built on. */
export type RoomHost = {
  store: Store;
  commits: CommitTurn;
  agents: AgentRegistry;
  clock: Clock;
  /** Makes a thread's shared state of what is stored of it, `null` for nothing, and of what the log says it is. */
  stateOf(loaded: Loaded | null, state: () => Json): StoredState;
  publish(key: ThreadKey, broadcast: Broadcast): void;
  /** Something a thread list shows has changed. */
  changed(key: ThreadKey): void;
  /** The room has nothing to do any more, for now. */
  idle(room: Room): void;
  /** The room has closed by itself: the store does not give it its thread back. */
  gone(room: Room): void;
  warn(what: string, details: object): void;
};

/**
 * The live object of one thread ([L3], [L4]): a serial hub. Work comes into an inbox; once a turn all of it
 * is applied to the timeline, committed as one batch, and only then answered and told to everybody. When a
 * commit fails the room drops its memory and reads the store again; nobody was told anything.
 */
export class Room {
  readonly key: ThreadKey;
  readonly audience: Audience;
  readonly responses: Responses;
  readonly tools: ToolDesk;
  private readonly leases: Leases;
  readonly acks: AckMemory;
  timeline = new Timeline();
  state: StoredState;
  reads = new ReadMarks();
  place: LogPlace;
  private readonly host: RoomHost;
  private inbox: Work[] = [];
  private current: Current | null = null;
  private busy = false;
  private sinceFold = 0;
  private readonly marks = new Marks();
  private holds = 0;
  /** Commits that failed since one did not. */
  private failures = 0;
  private storedUnfinished = false;
  /** Set when the room has left memory; work for it goes to a new one. */
  closed = false;
  /** Set before a shutdown: nothing is begun any more, and a failed commit is not tried in another way. */
  stopping = false;
  /** Whether the store knows the thread. */
  exists = false;

  private constructor(key: ThreadKey, host: RoomHost) {
    this.key = key;
    this.host = host;
    this.state = host.stateOf(null, () => this.timeline.state);
    this.acks = new AckMemory(host.store, host.clock, key);
    this.audience = new Audience(key, host);
    this.tools = new ToolDesk(host.clock);
    this.leases = new Leases(host.clock, (work) => this.next(work));
    this.place = { epoch: randomId(), seq: 0, mark: "", generation: 0, ownerEpoch: 1 };
    this.responses = new Responses({
      key,
      agents: host.agents,
      clock: host.clock,
      state: () => this.state.shared,
      tools: () => this.tools.union(),
      people: () => this.audience.people.users(),
      next: (work) => this.next(work),
      warn: (what, details) => host.warn(what, { thread: key.thread, ...details }),
    });
  }

  /**
   * Brings a thread into memory; runs that a stopped server left running are ended, and queued inputs start.
   * @throws whatever the store throws: a thread that cannot be read is refused, never shown empty
   */
  static async open(key: ThreadKey, host: RoomHost): Promise<Room> {
    const room = new Room(key, host);
    const loaded = await host.store.load(key);
    if (loaded) await room.restore(loaded, "SERVER_RESTART");
    return room;
  }

  /**
   * Does something in the next turn.
   * @param apply changes the timeline through the turn; may throw a Rejection as long as it changed nothing.
   *   What it returns is called when the turn is committed, and gives the result.
   * @param prepare done before the turn, in order of arrival
   * @returns the result
   * @throws Rejection of `apply`, or store_failed
   */
  enqueue<T>(apply: (turn: Turn) => () => T, prepare?: () => Promise<void>): Promise<T> {
    // The room gave its thread up while somebody was on the way to it.
    if (this.closed) return Promise.reject(notStored("failed"));
    return new Promise<T>((resolve, reject) => {
      this.inbox.push({ apply, prepare, resolve: resolve as (value: unknown) => void, reject });
      if (!this.busy) this.host.commits.schedule(this);
    });
  }

  /** As {@link enqueue}, for work of the room's own that nobody waits for. */
  next(work: (turn: Turn) => void): void {
    this.enqueue((turn) => {
      work(turn);
      return () => undefined;
    }).catch((error: Error) =>
      this.host.warn("work in a room failed", { thread: this.key.thread, error: error.message }),
    );
  }

  /** Remembers the answer to a changing request with the turn's commit. */
  giveAck(turn: Turn, row: AckRow): void {
    turn.acks.push(row);
    this.acks.keep(row);
  }

  /** Whether nobody is here and nothing is under way. */
  get unused(): boolean {
    const { audience, responses, inbox, holds } = this;
    return !this.busy && inbox.length + audience.people.size + holds === 0 && !responses.pending;
  }

  /** Whether the stored fold is behind. */
  get unfolded(): boolean {
    return this.sinceFold > 0;
  }

  /** Keeps the room in memory until the returned function is called. */
  hold(): () => void {
    this.holds += 1;
    return () => {
      this.holds -= 1;
    };
  }

  /** Brings the stored fold up to date; the last turn before a room leaves memory. */
  foldNow(): Promise<void> {
    return this.enqueue((turn) => {
      if (this.sinceFold > 0) turn.foldDue = true;
      return () => undefined;
    });
  }

  // ---- one turn: collect → commit → settle -------------------------------------------------------------

  async collect(): Promise<Batch | null> {
    this.busy = true;
    const inbox = this.inbox;
    this.inbox = [];
    const turn = new Turn(this.timeline, this.host.clock.now(), this.state.lane);
    const current: Current = { turn, mark: this.marks.next(), work: [], state: null };
    this.current = current;
    const head = this.timeline.turns.head;
    for (const item of inbox) {
      try {
        await item.prepare?.();
      } catch (error) {
        // Nothing of it is on the timeline yet: only this one request is lost.
        this.warn("the store could not be read", error);
        item.reject(notStored("failed"));
        continue;
      }
      try {
        current.work.push({ item, done: item.apply(turn) });
      } catch (error) {
        if (error instanceof Rejection) {
          item.reject(error);
          continue;
        }
        // Half of it may be on the timeline: nothing of this turn can be trusted.
        return this.breakOff(current, inbox.slice(inbox.indexOf(item)), error);
      }
    }
    this.sinceFold += turn.entries.length;
    if (this.sinceFold >= FOLD_EVERY) turn.foldDue = true;
    const unfinished = isUnfinished(this.timeline);
    try {
      if (head !== this.timeline.turns.head || turn.foldDue)
        turn.setInfo({ ...threadInfo(this.timeline, turn.at), said: this.reads.recount(turn) });
      if (unfinished !== this.storedUnfinished) turn.setInfo({ unfinished });
      this.storedUnfinished = unfinished;
      current.state = this.state.take(turn.foldDue);
      return turn.batch(this.place, this.key, current.mark, current.state);
    } catch (error) {
      return this.breakOff(current, [], error);
    }
  }

  settle(result: CommitResult | null): void {
    const { turn, mark, work, state, broken } = this.current as Current;
    this.current = null;
    if (broken || (result && !result.ok)) {
      const failed = broken ? { code: "failed" as const, error: broken } : result;
      void this.startOver(failed as CommitFailure, work);
      return;
    }
    if (result) this.failures = 0;
    const after = this.place.seq;
    const last = turn.entries.at(-1);
    if (last) this.place = { ...this.place, seq: last.seq, mark };
    if (turn.create) this.exists = true;
    if (turn.foldDue) this.sinceFold = 0;
    for (const committed of turn.committed) committed();
    tellAgents(this, this.host.agents);
    this.leases.watch(this.timeline);
    for (const { item, done } of work) {
      try {
        item.resolve(done());
      } catch (error) {
        item.reject(error as Error);
      }
    }
    if (last) {
      const { reach } = this.timeline.messages;
      this.timeline.messages.reach = Number.POSITIVE_INFINITY;
      const anew = this.timeline.showsOther;
      this.timeline.showsOther = false;
      this.publishSoon({ kind: "entries", after, seq: last.seq, mark, reach, anew, ...turn.text() });
    }
    if (state && state.updates.length > 0) this.publishSoon(docBroadcast(this.place.seq, state));
    if (turn.listed) this.host.changed(this.key);
    this.goOn();
  }

  private breakOff(current: Current, left: Work[], cause: unknown): null {
    current.broken = cause instanceof Error ? cause : new Error(String(cause));
    // What was not applied is refused with the rest: it may have been sent in view of what came before.
    for (const item of left) current.work.push({ item, done: () => undefined });
    return null;
  }

  private goOn(): void {
    this.busy = false;
    if (this.inbox.length > 0) this.host.commits.schedule(this);
    else if (this.unused) this.host.idle(this);
  }

  /** [L4] The turn was not stored: back to what the store has, and tell those who waited. */
  private async startOver(failure: CommitFailure, work: Current["work"]): Promise<void> {
    this.failures += 1;
    const { seq: told } = this.place;
    this.warn("a commit failed; the room starts over from the store", failure.error);
    this.responses.drop();
    this.acks.clear();
    try {
      if (failure.code === "fenced" || this.stopping) throw failure.error;
      const loaded = await this.host.store.load(this.key);
      if (this.exists && loaded?.epoch !== this.place.epoch) throw new Error("the log is another one now");
      this.timeline = new Timeline();
      this.state = this.host.stateOf(null, () => this.timeline.state);
      this.reads = new ReadMarks();
      this.storedUnfinished = false;
      if (loaded) await this.restore(loaded, "STORE_FAILED");
      if (this.place.seq > told) await this.tellStored(told);
      this.publishSoon({ kind: "resync" });
    } catch (error) {
      this.closed = true;
      this.warn("the room gives its thread up", error);
      this.host.gone(this);
      this.publishSoon({ kind: "lost", reason: "The thread cannot be read at the moment." });
      for (const item of this.inbox) item.reject(notStored("failed"));
      this.inbox = [];
    }
    for (const { item } of work) item.reject(notStored(failure.code));
    if (this.closed) return;
    // A store that goes on failing would be asked to end the same runs again and again, without a pause.
    const tried = this.failures > 1 && this.inbox.length > 0;
    if (tried) this.host.clock.after(Math.min(5_000, 50 * 2 ** this.failures), () => this.goOn());
    else this.goOn();
  }

  /** [L5] What was stored all the same, and nobody was told. */
  private async tellStored(after: number): Promise<void> {
    const { seq, mark } = this.place;
    const text = await logAsText(this.host.store, this.key, after, seq);
    const reach = Number.NEGATIVE_INFINITY;
    this.publishSoon({ kind: "entries", after, seq, mark, reach, anew: true, ...text });
  }

  /** Answers are promises and take a few microtasks to reach their sockets; what all are told comes after them. */
  private publishSoon(broadcast: Broadcast): void {
    setImmediate(() => this.host.publish(this.key, broadcast));
  }

  private warn(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.host.warn(what, { thread: this.key.thread, error: reason });
  }

  private async restore(loaded: Loaded, code: AbandonedCode): Promise<void> {
    const { epoch, seq, mark, generation, ownerEpoch } = loaded;
    this.place = { epoch, seq, mark: seq === 0 ? "" : mark, generation, ownerEpoch };
    this.exists = true;
    this.timeline = await loadTimeline(this.host.store, this.key, loaded);
    this.reads = new ReadMarks(loaded.reads);
    this.sinceFold = seq - (loaded.fold?.seq ?? 0);
    this.state = this.host.stateOf(loaded, () => this.timeline.state);
    const inputs = new Map(loaded.inputs.map((row) => [row.inputId, fromRow(row)]));
    const inOrder = [...this.timeline.inputs.keys()].flatMap((id) => inputs.get(id) ?? []);
    const running = inOrder.filter((record) => record.status === "running");
    this.responses.queue.restore(inOrder.filter((record) => record.status === "queued"));
    this.storedUnfinished = isUnfinished(this.timeline);
    if (!this.storedUnfinished || this.stopping) return;
    this.next((turn) => {
      if (running.length + this.timeline.runs.size > 0) endAbandonedRuns(turn, running, code);
      this.responses.startNext(turn);
    });
  }
}
