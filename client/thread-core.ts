import type { AGUIEvent, Entry, EntryOf, Json, Message } from "../shared/protocol/index.ts";
import { CothreadError } from "./cothread-error.ts";
import { createEmitter, type Emitter } from "./emitter.ts";
import { createGate, type Gate } from "./gate.ts";
import { createHeld, type Held } from "./held.ts";
import type { ChangeFrame } from "./outbox.ts";
import { createPendingInputs, type PendingInputs, type PendingOptions } from "./pending-inputs.ts";
import { createPendingPatches, type PendingPatches } from "./pending-patches.ts";
import { applyPeople, createPresence, type OwnPresence } from "./people.ts";
import { promised } from "./requests.ts";
import { createThread, type Thread } from "./thread.ts";
import type { ThreadControl, ThreadHost } from "./thread-host.ts";
import type { MessageAbout, ThreadSnapshot } from "./thread-snapshot.ts";
import { statusOf, type ThreadStatus } from "./thread-status.ts";
import { createThreadSync, type ThreadSync } from "./thread-sync.ts";
import { createThreadView, type ThreadView } from "./thread-view.ts";
import { createThreadTools } from "./tools.ts";

/** How a thread is joined. */
export type ThreadOptions = {
  /** Make the thread when there is none of that id. Default true. */
  create?: boolean;
  /** How many of the newest messages to fetch at first. Default: the client's `history`. */
  history?: number;
};

/** What one can listen to on a thread, with what listeners are given. */
export type ThreadEvents = {
  /** Something changed; at most once for each frame. */
  change: [];
  /**
   * One AG-UI event of the log, each once, in order; those a snapshot stands for are not repeated, and an agent's
   * snapshots that changed nothing do not come ([B5]).
   */
  event: [event: AGUIEvent, entry: EntryOf<"event">];
  /** Entries of the log that were just applied. */
  entries: [items: readonly Entry[]];
  /** A message is complete: one of a person was committed, or an agent's text message ended. */
  message: [message: Message, about: MessageAbout | undefined];
  /** Everything was replaced by what the server sent; its state, without changes of this client that are under way. */
  snapshot: [state: Json];
  status: [status: ThreadStatus];
  /** Joined, for the first time or again: the document lane can be opened. Of which generation the document is. */
  joined: [generation: number];
  /** A message of the document lane, and the seq it is as of. */
  document: [message: Uint8Array, seq: number];
  /** So many updates of the document, sent since it was joined, are stored. */
  saved: [n: number];
  /** The others were told this by `setPresence` or `setTyping`. */
  presence: [data: Record<string, unknown>];
  /** The thread cannot be had; `error` is that of the snapshot. */
  error: [error: CothreadError];
};

/** What stands behind a `Thread`: membership, log, pending inputs and people. */
export interface ThreadCore {
  readonly id: string;
  readonly host: ThreadHost;
  readonly held: Held;
  readonly sync: ThreadSync;
  readonly pending: PendingInputs;
  readonly patches: PendingPatches;
  readonly presence: OwnPresence;
  readonly views: ThreadView;
  readonly emitter: Emitter<ThreadEvents>;
  readonly ready: Gate;
  /** What the application holds. */
  readonly thread: Thread;
  options: ThreadOptions;
  snapshot(): ThreadSnapshot;
  /** Puts a change into the outbox. @param fields what its ack is to be read as; default: nothing */
  change<T = void>(frame: ChangeFrame, fields?: (all: Record<string, unknown>) => T): Promise<T>;
  /** Something may look different now. */
  changed(): void;
  /** Joins again after it failed. */
  retry(): void;
}

/** Makes a {@link ThreadCore}; it joins when it is held. */
export function createThreadCore(id: string, host: ThreadHost): ThreadCore {
  const { clock, random, backoff, outbox, requests, connection } = host;
  const emitter = createEmitter<ThreadEvents>();
  const ready = createGate();
  let people: ThreadSnapshot["people"] = [];
  let count = 0;
  let active = false;
  let cached: ThreadSnapshot | null = null;
  let told: ThreadStatus = "idle";

  const sync = createThreadSync({
    thread: id,
    clock,
    random,
    backoff,
    ask(frame, answered) {
      const { create = true, history = host.history } = core.options;
      requests.ask(JSON.stringify({ ...frame, create, history }), answered);
    },
    requests,
    changed: () => changed(),
    joined() {
      presence.joined();
      outbox.flush();
      changed();
      if (sync.lane) emitter.emit("joined", sync.lane.generation);
    },
    replaced: () => pending.forgetAcked(),
    snapshot(state) {
      changed();
      emitter.emit("snapshot", state);
    },
    entries: (items) => applied(items),
  });
  const presence = createPresence(clock, (data) => {
    const isSent = sync.joined && host.send({ type: "presence", thread: id, data });
    if (isSent) emitter.emit("presence", data);
    return isSent;
  });

  // A change is sent to joined threads only, so the thread stays until it is settled.
  const put: PendingOptions["put"] = (frame, settled, delayed) => {
    const release = held.hold();
    return outbox.add(
      frame,
      (answer) => {
        release();
        settled(answer);
      },
      delayed,
    );
  };
  const pending = createPendingInputs({ put, takeBack: outbox.takeBack, changed: () => changed() });
  const patches = createPendingPatches({ put, changed: () => changed() });
  const views = createThreadView(pending, patches, () => sync.timeline);

  const status = () => (active ? statusOf(sync.phase, connection().status) : "idle");
  const failure = () => sync.error ?? (active ? connection().error : undefined);

  const changed = () => {
    // Until a snapshot has come, the cursor may be one of another log.
    if (sync.cursor && sync.phase !== "snapshot") {
      pending.settle(sync.cursor.seq, sync.timeline);
      patches.settle(sync.cursor.seq);
    }
    cached = null;
    const now = status();
    const news = now !== told;
    told = now;
    if (now === "live") ready.open();
    if (news && now === "failed") failed();
    emitter.emit("change");
    if (news) emitter.emit("status", now);
  };

  const failed = () => {
    const error = failure();
    if (!error) return;
    ready.bar(error);
    // While the connection is refused, what was sent is kept: `reconnect()` may get through.
    if (sync.phase === "failed") {
      sendLeave();
      outbox.fail(error, id);
    }
    emitter.emit("error", error);
  };

  const applied = (items: readonly Entry[]) => {
    changed();
    if (items.length > 0) emitter.emit("entries", items);
    for (const entry of items) {
      let complete: string | undefined;
      if (entry.kind === "message") complete = entry.message.id;
      if (entry.kind === "event") {
        const { event } = entry;
        emitter.emit("event", event, entry);
        if ((event.type as string) === "TEXT_MESSAGE_END") complete = event.messageId as string;
      }
      const view = complete === undefined ? undefined : views.view(complete);
      if (view) emitter.emit("message", view.message, view.about);
    }
  };

  const join = () => {
    ready.renew();
    sync.join();
  };
  const sendLeave = () => requests.ask(JSON.stringify({ type: "leave", thread: id }), () => {});
  const end = () => {
    active = false;
    people = [];
    count = 0;
    presence.end();
    ready.bar(connection().error ?? new CothreadError("closed", "The thread was left."));
    sync.out();
  };

  const control: ThreadControl = {
    frame(frame) {
      if (!sync.joined) return;
      if (frame.type === "people") {
        people = applyPeople(people, frame);
        count = frame.count ?? people.filter(({ kind }) => kind !== "agent").length;
        changed();
      } else if (frame.type === "saved") emitter.emit("saved", frame.n);
      else if (frame.type === "snapshot") sync.onSnapshot(frame);
      else sync.onEntries(frame);
    },
    welcome: join,
    down: sync.out,
    connection: changed,
    close() {
      held.end();
      end();
    },
    joined: () => sync.joined,
    channel: () => sync.lane?.channel,
    bytes: (message, seq) => emitter.emit("document", message, seq),
    phase: () => sync.phase,
  };
  const held = createHeld(
    clock,
    () => {
      active = true;
      ready.renew();
      host.enter(id, control);
      if (connection().status === "live") join();
      else changed();
    },
    () => {
      sendLeave();
      end();
      host.leave(id);
    },
  );

  const core: Omit<ThreadCore, "thread"> = {
    id,
    host,
    held,
    sync,
    pending,
    patches,
    presence,
    views,
    emitter,
    ready,
    options: {},
    snapshot() {
      if (!cached) {
        const { role, cursor } = sync;
        cached = {
          id,
          status: status(),
          error: failure(),
          messages: views.messages(),
          ...views.parts(),
          people,
          peopleCount: count,
          role,
          cursor,
        };
      }
      return cached;
    },
    change: (frame, fields) => promised((answered) => put(frame, answered), fields),
    changed,
    retry() {
      if (status() === "failed" && connection().status === "live") join();
    },
  };
  return Object.assign(core, { thread: createThread(core, createThreadTools(core)) });
}
