import type { Author, Message, SubmitAck, UpFrameOf } from "../shared/protocol/index.ts";
import type { Timeline } from "../shared/timeline/timeline.ts";
import type { CothreadError } from "./cothread-error.ts";
import type { ChangeFrame, OutboxItem } from "./outbox.ts";
import type { Answer } from "./requests.ts";

/**
 * How far a message is that has not come back from the server yet. A new object whenever that changes.
 * - `sending`: on its way, or waiting for the connection; `reason` says when the server asked for patience
 * - `queued`: the server has it and runs it after what is running
 * - `failed`: refused for good; `retry()` sends it again, `discard()` forgets it
 */
export type Pending = {
  readonly state: "sending" | "queued" | "failed";
  readonly inputId: string;
  /** Why it failed, or why it takes longer: a sentence for people. */
  readonly reason?: string;
  readonly error?: CothreadError;
  /** Sends a failed input again, with the same ids. Resolves and rejects like `send`. */
  retry(): Promise<SubmitAck>;
  /** Forgets a failed input, or takes back one that the server cannot have yet. */
  discard(): void;
};

type SubmitFrame = Omit<UpFrameOf<"submit">, "ref">;

/** What was submitted from here and has not arrived in the log. */
type PendingInput = {
  inputId: string;
  messages: readonly Message[];
  by: Author;
  at: number;
  frame: SubmitFrame;
  view: Pending;
  ack?: SubmitAck;
  /** Set while it is on its way. */
  way?: { item: OutboxItem | undefined; promise: Promise<SubmitAck> };
};

/** The way from pending inputs to the outbox, and who hears that they changed. */
export interface PendingOptions {
  /** Puts a change into the outbox; `undefined` when it was answered at once. */
  put(
    frame: ChangeFrame,
    settled: (answer: Answer) => void,
    delayed?: (error: CothreadError) => void,
  ): OutboxItem | undefined;
  /** Ends a change as `withdrawn` unless the server may have seen it. */
  takeBack(item: OutboxItem): boolean;
  changed(): void;
}

/** The inputs of this client between the press of a button and the log, oldest first. */
export interface PendingInputs {
  /** Grows with every change. */
  readonly version: number;
  /**
   * Submits an input and shows it at once. One that is pending already is not submitted a second time.
   * @param at when, ms
   * @returns a promise of the server's ack; it rejects with a CothreadError when the input is refused
   */
  submit(frame: SubmitFrame, messages: readonly Message[], by: Author, at: number): Promise<SubmitAck>;
  /** Takes back an input that failed or that the server cannot have; false when it may have it. */
  takeBack(inputId: string): boolean;
  /** Drops what has arrived: the log up to `seq` holds everything that was acknowledged up to there. */
  settle(seq: number, timeline: Timeline | null): void;
  /** Drops what was acknowledged: the log is another one now. */
  forgetAcked(): void;
  /** What stands at the end of the conversation: messages that the timeline shows nowhere itself. */
  visible(timeline: Timeline | null): Message[];
  /** The pending input a message belongs to. */
  of(messageId: string): Readonly<PendingInput> | undefined;
}

/** Makes {@link PendingInputs}. */
export function createPendingInputs({ put, takeBack, changed }: PendingOptions): PendingInputs {
  const byId = new Map<string, PendingInput>();
  let version = 0;

  const say = (input: PendingInput, change: Pick<Pending, "state" | "reason" | "error">) => {
    const { inputId, retry, discard } = input.view;
    input.view = { ...change, inputId, retry, discard };
    version += 1;
    changed();
  };
  const remove = ({ inputId }: PendingInput) => {
    if (byId.delete(inputId)) version += 1;
  };

  const send = (input: PendingInput): Promise<SubmitAck> => {
    let item: OutboxItem | undefined;
    say(input, { state: "sending" });
    const promise = new Promise<SubmitAck>((resolve, reject) => {
      const settled = (answer: Answer) => {
        input.way = undefined;
        if (answer.ok) {
          const ack = answer.fields as SubmitAck;
          input.ack = ack;
          say(input, { state: ack.status === "queued" ? "queued" : "sending" });
          return resolve(ack);
        }
        const { error } = answer;
        if (error.code === "withdrawn") remove(input);
        say(input, { state: "failed", reason: error.message, error });
        reject(error);
      };
      item = put(input.frame, settled, (error) =>
        say(input, { state: "sending", reason: error.message, error }),
      );
    });
    // The failure shows in the conversation too, so nobody has to handle the promise.
    promise.catch(() => {});
    if (input.view.state === "sending" && !input.ack) input.way = { item, promise };
    return promise;
  };

  const back = (inputId: string): boolean => {
    const input = byId.get(inputId);
    if (!input || input.ack) return false;
    if (input.way) return input.way.item !== undefined && takeBack(input.way.item);
    remove(input);
    changed();
    return true;
  };

  return {
    get version() {
      return version;
    },
    submit(frame, messages, by, at) {
      const { inputId } = frame;
      const known = byId.get(inputId);
      if (known) return known.view.retry();
      const view: Pending = {
        state: "sending",
        inputId,
        retry: () => input.way?.promise ?? send(input),
        discard: () => void back(inputId),
      };
      const input: PendingInput = { inputId, messages, by, at, frame, view };
      byId.set(inputId, input);
      return send(input);
    },
    takeBack: back,
    settle(seq, timeline) {
      for (const input of [...byId.values()]) {
        const arrived = !input.way && input.messages.every(({ id }) => timeline?.messages.get(id));
        if (arrived || (input.ack && input.ack.seq <= seq)) remove(input);
      }
    },
    forgetAcked() {
      for (const input of [...byId.values()]) if (input.ack) remove(input);
    },
    visible(timeline) {
      return [...byId.values()]
        .filter(({ inputId }) => !timeline?.inputs.has(inputId))
        .flatMap(({ messages }) => messages.filter(({ id }) => !timeline?.messages.get(id)));
    },
    of(messageId) {
      return [...byId.values()].find(({ messages }) => messages.some(({ id }) => id === messageId));
    },
  };
}
