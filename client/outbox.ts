import type { Clock } from "../shared/clock.ts";
import type { UpFrameOf } from "../shared/protocol/index.ts";
import { type Backoff, backoffMs } from "./backoff.ts";
import { CothreadError } from "./cothread-error.ts";
import type { Answer, Requests } from "./requests.ts";
import { createTimer, type Timer } from "./timer.ts";

type Unsent<F> = F extends unknown ? Omit<F, "ref"> : never;
/** Frames that change something; each carries an id by which the server knows it when it comes again. */
export type ChangeFrame = Unsent<
  UpFrameOf<
    | ("submit" | "edit" | "move" | "withdraw" | "cancel")
    | ("answer" | "head" | "result" | "update" | "patch" | "revert")
  >
>;

/** A change on its way. */
export type OutboxItem = {
  body: string;
  settled(answer: Answer): void;
  delayed: ((error: CothreadError) => void) | undefined;
  attempt: number;
  /** It was sent, and no answer says what became of it. */
  uncertain: boolean;
  /** A connection broke while it was under way. */
  cut: boolean;
};

type Lane = { thread: string; type: ChangeFrame["type"]; items: OutboxItem[]; busy: boolean; wait: Timer };

/**
 * What an outbox sends through and goes by: requests, time and chance for its waits, when it may send and how
 * much.
 */
export interface OutboxOptions {
  requests: Requests;
  clock: Clock;
  random: () => number;
  backoff: Backoff;
  /** Whether changes of that kind to that thread may be sent now. */
  ready(thread: string, type: ChangeFrame["type"]): boolean;
  /** Largest frame the server takes, in bytes. */
  limit(): number;
  /** Called whenever `size` changed. */
  changed(): void;
}

/**
 * Keeps every change until the server has acknowledged it or finally refused it, over any number of
 * connections; sent again it is the same change with the same id. Within a lane (what a person submits to
 * one thread, what they cancel there, …) one follows the other: the next is sent when the one before it is
 * answered, so that a change the server wants later is not overtaken.
 */
export interface Outbox {
  /** Changes without a final answer. */
  readonly size: number;
  /**
   * Takes a change and sends it as soon as possible.
   * @param settled called once with the final answer
   * @param delayed called when the server refused it for now and it will be sent again
   * @returns `undefined` when it was answered at once
   */
  add(
    frame: ChangeFrame,
    settled: (answer: Answer) => void,
    delayed?: (error: CothreadError) => void,
  ): OutboxItem | undefined;
  /** Sends what may be sent now. */
  flush(): void;
  /** Ends a change that the server cannot have seen, as `withdrawn`; false when it may have. */
  takeBack(item: OutboxItem): boolean;
  /** Ends all changes of a thread with an error; without a thread all there are and all that come. */
  fail(error: CothreadError, thread?: string): void;
}

/** Makes an {@link Outbox}. */
export function createOutbox(options: OutboxOptions): Outbox {
  const { requests, clock, random, backoff, ready, limit, changed } = options;
  const lanes = new Map<string, Lane>();
  let size = 0;
  let ended: CothreadError | undefined;

  const pump = (lane: Lane): void => {
    const item = lane.items[0];
    if (!item || lane.busy || lane.wait.running || !ready(lane.thread, lane.type)) return;
    if (bytesOver(item.body, limit())) {
      const error = new CothreadError("too_big", "This is larger than the server takes. Shorten it.");
      return settle(lane, item, { ok: false, error });
    }
    lane.busy = item.uncertain = true;
    requests.ask(item.body, (answer) => {
      lane.busy = false;
      if (answer.ok) return settle(lane, item, answer);
      const { error } = answer;
      if (error.code === "offline") item.cut = true;
      else if (!error.retry) settle(lane, item, answer);
      else {
        item.uncertain = item.cut;
        item.delayed?.(error);
        lane.wait.set(backoffMs(backoff, item.attempt++, random), () => pump(lane));
      }
    });
  };

  const settle = (lane: Lane, item: OutboxItem, answer: Answer) => {
    const at = lane.items.indexOf(item);
    // Ended by `fail` in the meantime; what was added since has waited for this answer.
    if (at < 0) return pump(lane);
    lane.items.splice(at, 1);
    if (at === 0) lane.wait.clear();
    count(-1);
    item.settled(answer);
    pump(lane);
  };

  const count = (by: number) => {
    size += by;
    if (by !== 0) changed();
  };

  return {
    get size() {
      return size;
    },
    add(frame, settled, delayed) {
      if (ended) return void settled({ ok: false, error: ended });
      const { thread, type } = frame;
      let body: string;
      try {
        body = JSON.stringify(frame);
      } catch (cause) {
        const error = new CothreadError("bad_message", `This cannot be sent: ${(cause as Error).message}`);
        return void settled({ ok: false, error });
      }
      const item = { body, settled, delayed, attempt: 0, uncertain: false, cut: false };
      // What is done to an input must not overtake it; a stop must not wait behind messages.
      const name = /^(?:submit|edit|move|withdraw)$/.test(type) ? thread : `${type}\n${thread}`;
      const lane = lanes.get(name) ?? { thread, type, items: [], busy: false, wait: createTimer(clock) };
      lanes.set(name, lane);
      lane.items.push(item);
      count(1);
      pump(lane);
      return lane.items.includes(item) ? item : undefined;
    },
    flush() {
      for (const lane of lanes.values()) pump(lane);
    },
    takeBack(item) {
      if (item.uncertain) return false;
      const error = new CothreadError("withdrawn", "It was taken back before it was sent.");
      for (const lane of lanes.values()) settle(lane, item, { ok: false, error });
      return true;
    },
    fail(error, thread) {
      if (thread === undefined) ended = error;
      for (const lane of lanes.values()) {
        if (thread !== undefined && lane.thread !== thread) continue;
        lane.wait.clear();
        const items = lane.items.splice(0);
        count(-items.length);
        for (const item of items) item.settled({ ok: false, error });
      }
    },
  };
}

/** Whether a text has more bytes than `limit` as UTF-8, which has at most three for each of its units. */
function bytesOver(text: string, limit: number): boolean {
  return text.length * 3 > limit && new TextEncoder().encode(text).length > limit;
}
