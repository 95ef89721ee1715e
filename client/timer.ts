import type { Clock } from "../shared/clock.ts";

/** One alarm that can be set again and called off. */
export interface Timer {
  /** Calls `run` once after `ms`; what was set before is called off. */
  set(ms: number, run: () => void): void;
  clear(): void;
  readonly running: boolean;
}

/** Makes a {@link Timer} on a clock. */
export function createTimer(clock: Clock): Timer {
  let cancel: (() => void) | undefined;
  const clear = () => {
    cancel?.();
    cancel = undefined;
  };
  return {
    set(ms, run) {
      clear();
      cancel = clock.after(ms, () => {
        cancel = undefined;
        run();
      });
    },
    clear,
    get running() {
      return cancel !== undefined;
    },
  };
}
