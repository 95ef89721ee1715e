import { applyPatch } from "../shared/json-crdt/patch.ts";
import type { Json, JsonPatch, PatchAck, UpFrameOf } from "../shared/protocol/index.ts";
import { CothreadError } from "./cothread-error.ts";
import type { PendingOptions } from "./pending-inputs.ts";
import { type Answer, ackOf, promised } from "./requests.ts";

type PatchFrame = Omit<UpFrameOf<"patch">, "ref">;
type PendingPatch = {
  frame: PatchFrame;
  answered(answer: Answer): void;
  /** Where the server has put it, once it has answered. */
  seq?: number;
};

/** The changes of the state that this client has made and not seen in the log, oldest first. */
export interface PendingPatches {
  /** Grows with every change. */
  readonly version: number;
  /** A state with them in it. */
  over(state: Json): Json;
  /**
   * Shows a patch at once and sends it.
   * @param state what it was made for, pending patches included
   * @returns a promise of the server's ack; it rejects with a CothreadError when the patch does not apply, or is
   *   refused
   */
  add(frame: PatchFrame, state: Json): Promise<PatchAck>;
  /** The log is here up to a seq. */
  settle(seq: number): void;
}

/** Makes {@link PendingPatches}. */
export function createPendingPatches(options: Pick<PendingOptions, "put" | "changed">): PendingPatches {
  const { put, changed } = options;
  let list: PendingPatch[] = [];
  let version = 0;
  let busy = false;

  const keep = (left: PendingPatch[]) => {
    if (left.length < list.length) version += 1;
    list = left;
  };

  // One at a time: each is made on those before it, and means something else when one of them is refused.
  const send = () => {
    const one = list.find(({ seq }) => seq === undefined);
    if (busy || !one) return;
    busy = true;
    put(one.frame, (answer) => {
      busy = false;
      if (answer.ok) one.seq = (answer.fields as PatchAck).seq;
      else {
        const lost = list.slice(list.indexOf(one) + 1);
        keep(list.slice(0, list.indexOf(one)));
        const error = new CothreadError("stale", "A change before this one was refused. Try again.");
        for (const other of lost) other.answered({ ok: false, error });
      }
      one.answered(answer);
      changed();
      send();
    });
  };

  return {
    get version() {
      return version;
    },
    over: (state) =>
      list.reduce((now, { frame }) => {
        try {
          return applyPatch(now, frame.patch as JsonPatch);
        } catch {
          // Others have changed what it is about; the server says what becomes of it.
          return now;
        }
      }, state),
    add(frame, state) {
      const promise = promised(
        (answered) => {
          try {
            applyPatch(state, frame.patch as JsonPatch);
          } catch (error) {
            const why = (error as Error).message;
            return answered({
              ok: false,
              error: new CothreadError("bad_message", `It does not apply: ${why}.`),
            });
          }
          list.push({ frame, answered });
          version += 1;
        },
        ackOf<PatchAck>,
      );
      send();
      changed();
      return promise;
    },
    settle: (seq) => keep(list.filter((one) => one.seq === undefined || one.seq > seq)),
  };
}
