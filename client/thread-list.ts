import type { DownFrameOf, ThreadInfo, ThreadQuery } from "../shared/protocol/index.ts";
import { backoffMs } from "./backoff.ts";
import { CothreadError } from "./cothread-error.ts";
import { createEmitter } from "./emitter.ts";
import { createHeld } from "./held.ts";
import { makeId } from "./identity.ts";
import { withSnapshotFields } from "./snapshot-fields.ts";
import type { ThreadHost } from "./thread-host.ts";
import { statusOf, type ThreadStatus } from "./thread-status.ts";
import { JOIN_ATTEMPTS, whenLate } from "./thread-sync.ts";
import { createTimer } from "./timer.ts";

/** What a list shows at one moment. */
export type ThreadListSnapshot = {
  /** As for a thread: see {@link ThreadStatus}. */
  readonly status: ThreadStatus;
  /** Why it is not live. */
  readonly error: CothreadError | undefined;
  /** Newest first. Threads that did not change are the same objects as before. */
  readonly items: readonly ThreadInfo[];
};

/** The threads that match a query, kept up to date from the first hold until two seconds after the last release. */
export interface ThreadList extends ThreadListSnapshot {
  readonly query: ThreadQuery;
  /** Everything at this moment, as one object; the same one until something changes. */
  readonly snapshot: ThreadListSnapshot;
  /** Calls the listener whenever something changed. Returns the way out. */
  subscribe(listener: () => void): () => void;
  /** Asks for the list anew, also after `status` became `failed`. */
  retry(): void;
  /** Keeps the list up to date until the returned function is called. */
  hold(): () => void;
  /** Ends one hold, that of `client.threads()`. */
  release(): void;
}

/** What the client tells a list. */
export interface ThreadListControl {
  /** A `threads` frame, of whatever watch. */
  frame(frame: DownFrameOf<"threads">): void;
  /** The server said welcome. */
  welcome(): void;
  /** The connection is gone. */
  down(): void;
  /** The state of the connection changed. */
  connection(): void;
  /** The client was closed. */
  close(): void;
}

/** What a list needs from its client. */
export interface ThreadListHost
  extends Pick<ThreadHost, "clock" | "random" | "backoff" | "requests" | "connection"> {
  /** The list wants to be kept up to date from now on. */
  enterList(list: ThreadListControl): void;
  /** It does not any more. */
  leaveList(list: ThreadListControl): void;
}

/** Makes a {@link ThreadList}; it watches when it is held. */
export function createThreadList(query: ThreadQuery, host: ThreadListHost): ThreadList {
  const { clock, random, backoff, requests, connection } = host;
  const emitter = createEmitter<{ change: [] }>();
  const timer = createTimer(clock);
  /** Names the present watch; frames of older ones are ignored. */
  let watch: string | undefined;
  /** The next frame holds all of the list. */
  let fresh = true;
  let active = false;
  let attempts = 0;
  let phase: "out" | "asked" | "live" | "failed" = "out";
  let failure: CothreadError | undefined;
  let items: readonly ThreadInfo[] = [];
  let cached: ThreadListSnapshot | null = null;

  const now = () => {
    if (!cached) {
      const { status, error = failure } = connection();
      cached = active
        ? { status: statusOf(phase, status), error, items }
        : { status: "idle", error: undefined, items };
    }
    return cached;
  };
  const changed = () => {
    cached = null;
    emitter.emit("change");
  };
  const become = (next: typeof phase) => {
    phase = next;
    timer.clear();
    changed();
  };

  const unwatch = () => {
    if (watch !== undefined) requests.ask(JSON.stringify({ type: "unwatch", watch }), () => {});
    watch = undefined;
  };
  const ask = () => {
    unwatch();
    const mine = makeId(random);
    watch = mine;
    fresh = true;
    failure = undefined;
    become("asked");
    whenLate(
      timer,
      requests,
      () => mine === watch && phase === "asked",
      () => refused(new CothreadError("timeout", "The server did not send the list in time.", true)),
    );
    requests.ask(JSON.stringify({ type: "watch", watch, query }), (answer) => {
      if (!answer.ok && mine === watch && answer.error.code !== "offline") refused(answer.error);
    });
  };
  const refused = (error: CothreadError) => {
    unwatch();
    failure = error;
    attempts += 1;
    if (!error.retry || attempts >= JOIN_ATTEMPTS) return become("failed");
    become("out");
    timer.set(backoffMs(backoff, attempts, random), ask);
  };
  const retry = () => {
    attempts = 0;
    if (active && connection().status === "live") ask();
  };
  const out = () => {
    // A watch ends with its connection.
    watch = undefined;
    become("out");
  };

  const control: ThreadListControl = {
    frame(frame) {
      if (frame.watch !== watch) return;
      const byId = new Map(fresh ? [] : items.map((item) => [item.id, item]));
      for (const item of frame.items) byId.set(item.id, item);
      for (const id of frame.removed) byId.delete(id);
      items = [...byId.values()].sort((a, b) => b.updatedAt - a.updatedAt);
      fresh = false;
      attempts = 0;
      become("live");
    },
    welcome: retry,
    down: out,
    connection: changed,
    close() {
      held.end();
      active = false;
      out();
    },
  };
  const held = createHeld(
    clock,
    () => {
      active = true;
      host.enterList(control);
      if (connection().status === "live") ask();
      else changed();
    },
    () => {
      unwatch();
      active = false;
      host.leaveList(control);
      out();
    },
  );

  return withSnapshotFields(now, {
    query,
    get snapshot() {
      return now();
    },
    subscribe: (listener: () => void) => emitter.on("change", listener),
    retry,
    hold: held.hold,
    release: held.release,
  });
}
