import type { DownFrameOf } from "../shared/protocol/index.ts";
import { CothreadError } from "./cothread-error.ts";

/** What a request was answered with: the fields of its `ack` or `joined`, or why not. */
export type Answer = { ok: true; fields: Record<string, unknown> } | { ok: false; error: CothreadError };

/** The requests that wait for their answer on the present connection, by `ref`. */
export interface Requests {
  /**
   * Sends a request. `answered` is called once, from within the frame that answers; with `offline` when the
   * connection breaks first or is not there.
   * @param body the frame as JSON, an object with `type` and without `ref`
   * @returns the `ref` it was given
   */
  ask(body: string, answered: (answer: Answer) => void): number;
  /** Hands an answer to the request it belongs to; false when nobody waits for it. */
  answer(frame: DownFrameOf<"ack" | "joined" | "reject">): boolean;
  /** Ends all that waits: the connection is gone. */
  down(): void;
}

/**
 * Makes {@link Requests}.
 * @param send gives a frame to the connection; false when it is not live
 */
export function createRequests(send: (text: string) => boolean): Requests {
  const open = new Map<unknown, (answer: Answer) => void>();
  let last = 0;
  const offline = (answered: (answer: Answer) => void) =>
    answered({
      ok: false,
      error: new CothreadError("offline", "There is no connection to the server. Try again later.", true),
    });
  return {
    ask(body, answered) {
      last += 1;
      // The frame is encoded once, however often it is sent; only its ref is new.
      if (send(`{"ref":${last},${body.slice(1)}`)) open.set(last, answered);
      else offline(answered);
      return last;
    },
    answer(frame) {
      const { type: _type, ref, ...fields } = frame;
      const answered = open.get(ref);
      open.delete(ref);
      answered?.(frame.type === "reject" ? { ok: false, error: rejection(frame) } : { ok: true, fields });
      return answered !== undefined;
    },
    down() {
      const waiting = [...open.values()];
      open.clear();
      waiting.forEach(offline);
    },
  };
}

/**
 * A promise of an answer. A failure that nobody waits for is no failure of the program.
 * @param fields gives what it resolves with; default: nothing
 */
export function promised<T = void>(
  start: (answered: (answer: Answer) => void) => void,
  fields?: (all: Record<string, unknown>) => T,
): Promise<T> {
  const promise = new Promise<T>((resolve, reject) => {
    start((answer) => (answer.ok ? resolve(fields?.(answer.fields) as T) : reject(answer.error)));
  });
  promise.catch(() => {});
  return promise;
}

/** All fields of an ack, for {@link promised}. */
export const ackOf = <T>(fields: Record<string, unknown>): T => fields as T;

/** The error that a `reject` frame stands for. */
export function rejection({ code, message, retry, details }: DownFrameOf<"reject">): CothreadError {
  return new CothreadError(code, message, retry, details);
}
