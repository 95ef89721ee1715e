import type {
  AnswerAck,
  EarlierAck,
  JsonPatch,
  Mention,
  PatchAck,
  RevertAck,
  SubmitAck,
  UpFrameOf,
} from "../shared/protocol/index.ts";
import { addEarlier } from "../shared/timeline/snapshot.ts";
import { withVaruint } from "../shared/varuint.ts";
import { CothreadError } from "./cothread-error.ts";
import { makeId } from "./identity.ts";
import { type InputContent, inputMessages, markNote } from "./input-messages.ts";
import { createReadMark } from "./read-mark.ts";
import { ackOf, promised } from "./requests.ts";
import { withSnapshotFields } from "./snapshot-fields.ts";
import type { ThreadCore, ThreadEvents } from "./thread-core.ts";
import type { ThreadUpdate } from "./thread-host.ts";
import type { MessageAbout, MessageView, ThreadSnapshot } from "./thread-snapshot.ts";
import type { ThreadTools } from "./tools.ts";

/** What goes along with an input; see the frame `submit`. */
export type SendOptions = Pick<
  UpFrameOf<"submit">,
  "agent" | "policy" | "runId" | "tools" | "context" | "forwardedProps" | "interrupts" | "steer"
> & {
  /** An agent shall answer, whatever starts a run in this thread ([S6] of the protocol). */
  start?: true;
  /** Names the input: sent again under the same id it is the same input. Made when absent. */
  inputId?: string;
};

/** An answer to an interrupt: what was decided, and what goes with it. */
export type InterruptAnswer = Pick<UpFrameOf<"answer">, "status" | "payload" | "metadata">;

/**
 * One thread, kept equal to the server's. It is joined from the first hold until two seconds after the last
 * release. Its values, those of {@link ThreadSnapshot}, are immutable; what did not change keeps its identity.
 */
export interface Thread extends ThreadSnapshot {
  /** Everything at this moment, as one object; the same one until something changes. */
  readonly snapshot: ThreadSnapshot;
  /**
   * Resolves when the thread is live for the first time. Rejects with a CothreadError when it cannot be had,
   * or is left before; a new promise then stands for the next attempt.
   */
  readonly ready: Promise<void>;
  /** Ids of `messages`; the same array as long as none comes, goes or moves. */
  readonly messageIds: readonly string[];

  /** A message of the conversation with what is known about it; the same object until it changes. */
  view(messageId: string): MessageView | undefined;
  /** Author, time, run and progress of a message; `undefined` when it is not in the conversation. */
  about(messageId: string): MessageAbout | undefined;
  /** Calls the listener whenever something changed, once for each frame. Returns the way out. */
  subscribe(listener: () => void): () => void;
  /** Listens to one kind of happening; see {@link ThreadEvents}. Returns the way out. */
  on<K extends keyof ThreadEvents>(name: K, listener: (...args: ThreadEvents[K]) => void): () => void;

  /**
   * Submits an input that an agent shall answer; where that takes a mention, one without is only said: its ack is
   * `done`. Whom a message mentions stands in its
   * `metadata.cothread.mentions`. Its messages show at once as pending; offline they wait for
   * the connection.
   * @param content text, a message, or several
   * @returns the server's ack: where the input stands. Rejects with a CothreadError when the input is refused;
   *   it then shows as failed, with `retry()`
   */
  send(content: InputContent, options?: SendOptions): Promise<SubmitAck>;
  /**
   * Submits what stands at the beginning of the shared draft, which is then cut out of it; see `cothread/client/doc`.
   * @param text what the draft was when it was sent off: what others type behind it stays there
   * @returns as {@link send}. Rejects with `draft_sent` when somebody else was first; `details` says who
   */
  sendDraft(
    text: string,
    options?: SendOptions & { note?: boolean; mentions?: readonly Mention[] },
  ): Promise<SubmitAck>;
  /** Writes a message that starts nothing; the next run gets it. Otherwise like {@link send}. */
  note(content: InputContent, options?: Pick<SendOptions, "inputId">): Promise<SubmitAck>;
  /**
   * Takes an input back that is queued, that failed, or that was not sent yet. Rejects with `gone` when it
   * runs already.
   */
  withdraw(inputId: string): Promise<void>;
  /** Gives a queued input of this person other messages. Rejects with `gone` when it runs already. */
  edit(inputId: string, content: InputContent): Promise<void>;
  /** Moves a queued input. @param place in the queue, from 1. Rejects with `gone` when it runs already */
  move(inputId: string, place: number): Promise<void>;
  /**
   * Has an answer made again, from the messages before it; the old one stays, on a branch of its own.
   * @param id of the run, or of one of its messages. Rejects with `busy` while something runs, with `not_found`
   */
  regenerate(id: string, options?: SendOptions): Promise<SubmitAck>;
  /**
   * Says something differently: what was said, and all that followed, stays on a branch of its own.
   * @param id of the input, or of one of its messages. Rejects as {@link regenerate}
   */
  resend(id: string, content: InputContent, options?: SendOptions): Promise<SubmitAck>;
  /** Ids of the turns that begin where this one does, itself among them, in the order they began. */
  branches(turnId: string): readonly string[];
  /** Shows another branch, to everybody: the newest turn of it. Rejects as {@link regenerate} */
  switchTo(turnId: string): Promise<void>;
  /** The tools that this client executes for agents. */
  readonly tools: ThreadTools;
  /**
   * Answers what an agent asked, one of `interrupts`. With the last answer the agent goes on by itself.
   * @returns the server's ack; `remaining` counts what is open still. Rejects with a CothreadError:
   *   `already_answered` when somebody else was first (`details` says who and what), `bad_message` when the payload
   *   does not fit the interrupt's `responseSchema` (`details.where` is a pointer into it), `expired`
   */
  answer(interruptId: string, answer: InterruptAnswer): Promise<AnswerAck>;
  /**
   * Stops a run; what it has written stays. Rejects with `not_running` when there is nothing to stop.
   * @param runId default: the run that began last, or the one an input is about to start
   */
  cancel(runId?: string): Promise<void>;
  /**
   * Changes the state. It shows at once; the server moves the patch over what others have changed meanwhile.
   * @param patch RFC 6902, for `state` as it is shown now
   * @returns the server's ack, with the patch as it was applied. Rejects with a CothreadError: `stale` when what it
   *   names is gone, `bad_message` when it does not apply, `too_big`
   */
  patch(patch: JsonPatch): Promise<PatchAck>;
  /**
   * Takes back what a run did to the state, where others have left it alone.
   * @returns the server's ack; `skipped` holds pointers to what was left
   */
  revert(runId: string): Promise<RevertAck>;
  /** Renames or archives the thread, or changes its settings or members. */
  update(change: ThreadUpdate): Promise<void>;
  /**
   * Fetches messages before the first one that is here; `before` counts them. Calls that overlap are one.
   * @param limit how many, 1 to 1000; default 100
   * @returns how many came; 0 when there are none, or when everything was replaced meanwhile. Rejects with
   *   `offline` when there is no connection
   */
  earlier(limit?: number): Promise<number>;
  /**
   * Says that this person has read all that is shown now, for `unread` in thread lists. Nothing is sent when nothing
   * has come since, and at most once a second; call it whenever somebody looks.
   */
  read(): void;
  /** Tells the others that this person is typing; `true` ends by itself after six seconds. */
  setTyping(typing: boolean): void;
  /** Tells the others something about this client: at most 4 KB of JSON, replaces what was told before. */
  setPresence(data: Record<string, unknown>): void;
  /** What this client tells the others about itself, `typing` included. */
  readonly ownPresence: Readonly<Record<string, unknown>>;
  /** Generation of the shared document; `undefined` while the thread is not joined. */
  readonly generation: number | undefined;
  /**
   * Sends a message of y-protocols on the document lane; see `cothread/client/doc`, which does that for you.
   * @returns false while the thread is not joined: nothing was sent
   */
  sendDocument(message: Uint8Array): boolean;
  /** Tries again after `status` became `failed`. */
  retry(): void;

  /** Keeps the thread joined until the returned function is called. */
  hold(): () => void;
  /** Ends one hold, that of `client.thread()`. */
  release(): void;
}

const NOTE = { start: false } as const;
const PAGE = 100;
const PAGE_TRIES = 3;

/** Makes the public face of a thread. */
export function createThread(core: Omit<ThreadCore, "thread">, tools: ThreadTools): Thread {
  const { id, host, sync, pending, views, emitter, held, snapshot: now } = core;
  const newId = () => makeId(host.random);
  let paging: Promise<number> | undefined;

  const submit = (
    content: InputContent,
    options: SendOptions = {},
    start?: { start: false },
    draft?: UpFrameOf<"submit">["draft"],
    parent?: string | null,
  ) => {
    const { inputId = newId(), ...rest } = options;
    const written = inputMessages(content, newId);
    // As the server will mark them: a note looks like one before it is sent.
    const messages = start ? written.map(markNote) : written;
    const said = draft ? { draft } : { messages };
    const frame = {
      type: "submit" as const,
      thread: id,
      inputId,
      ...said,
      ...rest,
      ...start,
      ...(parent !== undefined && { parent }),
    };
    return pending.submit(frame, messages, host.me(), host.clock.now());
  };

  const turnOf = (id: string) => {
    const { timeline } = sync;
    return timeline?.turns.get(id) ? id : timeline?.messages.get(id)?.turn;
  };
  /** The turn that one begins at. Where that is not known here the server is asked for none, and says so. */
  const before = (turn = "?") => {
    const { timeline } = sync;
    const parent = timeline?.turns.get(turn)?.parent;
    return parent === undefined || (parent === null && timeline?.before) ? "?" : parent;
  };

  const page = (limit: number, tries: number): Promise<number> => {
    const { timeline } = sync;
    const first = () => timeline?.slots[0]?.message.id;
    const before = first();
    if (!timeline?.before || before === undefined) return Promise.resolve(0);
    return new Promise((resolve, reject) => {
      host.requests.ask(JSON.stringify({ type: "earlier", thread: id, before, limit }), (answer) => {
        if (!answer.ok) return reject(answer.error);
        const earlier = answer.fields as EarlierAck;
        // What the page would stand before is gone, or was moved.
        if (sync.timeline !== timeline || first() !== before) return resolve(0);
        // Entries that this page lacks have passed already.
        if (earlier.seq < timeline.seq && tries > 1) return resolve(page(limit, tries - 1));
        addEarlier(timeline, earlier, earlier.seq);
        core.changed();
        resolve(earlier.messages.length);
      });
    });
  };

  return withSnapshotFields(now, {
    get snapshot() {
      return now();
    },
    get ready() {
      return core.ready.promise;
    },
    get messageIds() {
      return views.ids();
    },
    view: views.view,
    about: (messageId: string) => views.view(messageId)?.about,
    subscribe: (listener: () => void) => emitter.on("change", listener),
    on: emitter.on,
    send: (content: InputContent, options?: SendOptions) => submit(content, options),
    note: (content: InputContent, options?: SendOptions) => submit(content, options, NOTE),
    sendDraft(text: string, { note, mentions, ...options }: Parameters<Thread["sendDraft"]>[1] = {}) {
      const { inputId = newId() } = options;
      const messageId = newId();
      const sent = submit(
        { id: messageId, content: text },
        { ...options, inputId },
        note ? NOTE : undefined,
        { messageId, text, ...(mentions && { mentions: [...mentions] }) },
      );
      // It is sent, only by somebody else: there is nothing to try again.
      sent.catch(
        (error) => error instanceof CothreadError && error.code === "draft_sent" && pending.takeBack(inputId),
      );
      return sent;
    },
    withdraw(inputId: string) {
      if (pending.takeBack(inputId)) return Promise.resolve();
      return core.change({ type: "withdraw", thread: id, key: newId(), inputId });
    },
    edit(inputId: string, content: InputContent) {
      const messages = inputMessages(content, newId);
      return core.change({ type: "edit", thread: id, key: newId(), inputId, messages });
    },
    move: (inputId: string, place: number) =>
      core.change({ type: "move", thread: id, key: newId(), inputId, place }),
    regenerate(id: string, options?: SendOptions) {
      const turn = turnOf(id);
      const agent = turn === undefined ? undefined : sync.timeline?.turns.get(turn)?.agent;
      const given = agent === undefined ? options : { agent, ...options };
      return submit([], given, undefined, undefined, before(turn));
    },
    resend(id: string, content: InputContent, options?: SendOptions) {
      return submit(content, options, undefined, undefined, before(turnOf(id)));
    },
    branches: (turnId: string) => sync.timeline?.turns.siblings(turnId) ?? [],
    switchTo: (turnId: string) => core.change({ type: "head", thread: id, key: newId(), turn: turnId }),
    tools,
    answer: (interruptId: string, answer: InterruptAnswer) =>
      core.change({ type: "answer", thread: id, key: newId(), interruptId, ...answer }, ackOf<AnswerAck>),
    cancel(runId?: string) {
      const { runs, inputs, toolCalls } = now();
      const target =
        runId ??
        runs.at(-1)?.runId ??
        toolCalls.find(({ status }) => status !== "pending")?.runId ??
        inputs.find(({ status }) => status === "running")?.runId;
      if (target !== undefined)
        return core.change({ type: "cancel", thread: id, key: newId(), runId: target });
      const error = new CothreadError("not_running", "Nothing is running here.");
      return promised((answered) => answered({ ok: false, error }));
    },
    patch(patch: JsonPatch) {
      const base = sync.timeline?.seq ?? 0;
      return core.patches.add({ type: "patch", thread: id, key: newId(), base, patch }, now().state);
    },
    revert: (runId: string) =>
      core.change({ type: "revert", thread: id, key: newId(), runId }, ackOf<RevertAck>),
    update: (change: ThreadUpdate) => host.update(id, change),
    earlier(limit = PAGE) {
      if (!paging) {
        const release = held.hold();
        paging = page(limit, PAGE_TRIES).finally(() => {
          paging = undefined;
          release();
        });
        paging.catch(() => {});
      }
      return paging;
    },
    read: createReadMark(id, host, sync),
    setTyping: core.presence.setTyping,
    setPresence: core.presence.set,
    get ownPresence() {
      return core.presence.told;
    },
    get generation() {
      return sync.lane?.generation;
    },
    sendDocument(message: Uint8Array) {
      const { channel } = sync.lane ?? {};
      return channel !== undefined && host.sendBytes(withVaruint(channel, message));
    },
    retry: () => core.retry(),
    hold: held.hold,
    release: held.release,
  });
}
