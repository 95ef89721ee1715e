import type { Clock } from "../shared/clock.ts";
import type { Cursor, DownFrameOf, Entry, Json, Role, UpFrameOf } from "../shared/protocol/index.ts";
import { fromSnapshot } from "../shared/timeline/snapshot.ts";
import type { Timeline } from "../shared/timeline/timeline.ts";
import { type Backoff, backoffMs } from "./backoff.ts";
import { CothreadError } from "./cothread-error.ts";
import type { Answer, Requests } from "./requests.ts";
import { createTimer, type Timer } from "./timer.ts";

/**
 * - `out`: not joined
 * - `asked`: a join is under way; what arrives belongs to an older one
 * - `snapshot`: joined, and a snapshot is on its way
 * - `replay`: joined, and the entries missed meanwhile are on their way
 * - `live`: has everything the server has
 * - `failed`: given up
 */
export type Phase = "out" | "asked" | "snapshot" | "replay" | "live" | "failed";

/** Joins in a row that may fail, or turn out useless, before the thread is given up. */
export const JOIN_ATTEMPTS = 8;
/** From this one on the client no longer trusts its cursor and asks for a snapshot. */
const DISTRUST = 3;
/** Time the server has for the answer to a join, and again for what comes behind it; see {@link whenLate}, ms. */
export const JOIN_MS = 60_000;

/**
 * Calls `late` when something is not there after {@link JOIN_MS}. Nothing is seen of a frame that is under way,
 * and to ask anew would only begin a large download again: so time counts half at first, and goes on when the
 * server has answered something else, which comes behind what it sent before.
 * @param waits whether it is still waited for
 */
export function whenLate(timer: Timer, requests: Requests, waits: () => boolean, late: () => void): void {
  timer.set(JOIN_MS / 2, () =>
    requests.ask('{"type":"ping"}', ({ ok }) => {
      if (ok && waits()) timer.set(JOIN_MS / 2, late);
    }),
  );
}

type Joined = Omit<DownFrameOf<"joined">, "type" | "ref">;

type JoinFrame = Pick<UpFrameOf<"join">, "type" | "thread" | "oldest"> & { cursor?: Cursor };

/**
 * What a thread is kept in step with: how it asks, what its waits are measured with, and who hears what
 * arrived.
 */
export interface ThreadSyncOptions {
  thread: string;
  clock: Clock;
  random: () => number;
  backoff: Backoff;
  /** Sends a join; see `Requests.ask`. */
  ask(frame: JoinFrame, answered: (answer: Answer) => void): void;
  requests: Requests;
  /** Phase, error or content changed. */
  changed(): void;
  joined(): void;
  /** The log is another one than before. */
  replaced(): void;
  snapshot(state: Json): void;
  /** Entries that were just applied. */
  entries(items: Entry[]): void;
}

/**
 * Keeps one thread's timeline equal to the server's: joins, recovers by cursor, applies every entry once.
 * Whatever does not fit makes it join again, with growing waits and at most {@link JOIN_ATTEMPTS} times in a
 * row, so that a broken server shows as an error and not as endless loading.
 */
export interface ThreadSync {
  readonly phase: Phase;
  /** Whether frames of this thread are to be applied and changes may be sent. */
  readonly joined: boolean;
  readonly timeline: Timeline | null;
  readonly cursor: Cursor | null;
  readonly role: Role | undefined;
  /** Of the document, and the number of its lane; `undefined` while the thread is not joined. */
  readonly lane: { readonly channel: number; readonly generation: number } | undefined;
  /** Why it is not live; stands while it is still trying. */
  readonly error: CothreadError | undefined;
  /** Joins, with the cursor when there is one; former failures are forgotten. */
  join(): void;
  /** The connection is gone, or the thread was left. What was learnt stays. */
  out(): void;
  /** A `snapshot` frame while joined; it replaces everything, whenever it comes. */
  onSnapshot(frame: DownFrameOf<"snapshot">): void;
  /** An `entries` frame while joined; it must begin where the last one ended. */
  onEntries(frame: DownFrameOf<"entries">): void;
}

/** Makes a {@link ThreadSync}; it is out. */
export function createThreadSync(options: ThreadSyncOptions): ThreadSync {
  const { thread, clock, random, backoff, changed } = options;
  const timer = createTimer(clock);
  let phase: Phase = "out";
  let timeline: Timeline | null = null;
  let cursor: Cursor | null = null;
  /** Identity of the log that `timeline` is of; outlives a cursor that is no longer trusted. */
  let epoch: string | undefined;
  let role: Role | undefined;
  let lane: ThreadSync["lane"];
  let error: CothreadError | undefined;
  /** Tells what is waited for now from what was before. */
  let turn = 0;
  /** Joins in a row that led to nothing. */
  let trouble = 0;
  /** What the server had when it answered the join. */
  let target = 0;

  const stop = (next: Phase) => {
    phase = next;
    turn += 1;
    timer.clear();
    changed();
  };

  const fail = (why: CothreadError) => {
    error = why;
    stop("failed");
  };

  /** What is here, in the words of a join. A part of which nothing is left cannot be named, and is no use. */
  const held = () => {
    if (!cursor || !timeline?.before) return cursor ? { cursor } : {};
    const oldest = timeline.slots[0]?.message.id;
    return oldest === undefined ? {} : { cursor, oldest };
  };

  const ask = () => {
    stop("asked");
    watch();
    const mine = turn;
    options.ask({ type: "join", thread, ...held() }, (answer) => {
      if (mine !== turn) return;
      if (answer.ok) onJoined(answer.fields as Joined);
      // The next welcome joins again.
      else if (answer.error.code === "offline") stop("out");
      else if (answer.error.retry) again(answer.error);
      else fail(answer.error);
    });
  };

  /** Looks after what is waited for from now on. */
  const watch = () => {
    const mine = ++turn;
    whenLate(
      timer,
      options.requests,
      () => mine === turn,
      () => again(new CothreadError("timeout", "The server did not send the thread in time.", true)),
    );
  };

  /** Joins again, after a wait unless it is the first time. */
  const again = (why: CothreadError, atOnce = false) => {
    trouble += 1;
    if (trouble > JOIN_ATTEMPTS) return fail(why);
    if (trouble >= DISTRUST) cursor = null;
    if (atOnce) return ask();
    error = why;
    stop("out");
    timer.set(backoffMs(backoff, trouble - 1, random), ask);
  };

  const unreadable = (cause: unknown) => {
    cursor = null;
    const reason = cause instanceof Error ? cause.message : String(cause);
    again(new CothreadError("bad_frame", `What the server sent cannot be read here: ${reason}.`, true));
  };

  const live = () => {
    phase = "live";
    turn += 1;
    error = undefined;
    timer.clear();
  };

  const onJoined = (frame: Joined) => {
    role = frame.role;
    lane = frame;
    target = frame.seq;
    watch();
    if (!frame.recovered) phase = "snapshot";
    else if (!cursor || cursor.epoch !== frame.epoch)
      return unreadable("it recovers what this client never had");
    else if (cursor.seq < frame.seq) phase = "replay";
    else live();
    options.joined();
  };

  return {
    get phase() {
      return phase;
    },
    get joined() {
      return phase === "snapshot" || phase === "replay" || phase === "live";
    },
    get timeline() {
      return timeline;
    },
    get cursor() {
      return cursor;
    },
    get role() {
      return role;
    },
    get lane() {
      return this.joined ? lane : undefined;
    },
    get error() {
      return error;
    },
    join() {
      trouble = 0;
      error = undefined;
      ask();
    },
    out() {
      stop("out");
    },
    onSnapshot(frame) {
      try {
        timeline = fromSnapshot(frame);
      } catch (cause) {
        return unreadable(cause);
      }
      if (epoch !== undefined && epoch !== frame.epoch) options.replaced();
      epoch = frame.epoch;
      cursor = { epoch, seq: frame.seq, mark: frame.mark };
      live();
      options.snapshot(timeline.state);
    },
    onEntries(frame) {
      if (phase === "snapshot" || !timeline || !cursor) return;
      const { after, seq, mark, items } = frame;
      if (after !== cursor.seq) {
        const why = new CothreadError("bad_frame", "Something the server sent is missing here.", true);
        return again(why, trouble === 0);
      }
      try {
        for (const entry of items) timeline.apply(entry);
        // What was left out counts too: a patch is made at this place ([H14]), not at that of the last entry.
        timeline.seq = seq;
      } catch (cause) {
        return unreadable(cause);
      }
      // Only what moves on counts: a frame of nothing must not make endless joins look like progress.
      if (seq > after) trouble = 0;
      cursor = { epoch: cursor.epoch, seq, mark };
      if (seq >= target) live();
      options.entries(items);
    },
  };
}
