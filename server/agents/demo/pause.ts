import type { Clock } from "../../../shared/clock.ts";

/**
 * Resolves after `ms` milliseconds on `clock`, or at once when `signal` aborts (never rejects). Zero and less
 * does not wait and sets no timer; after an abort none is left behind.
 */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener("abort", end, { once: true });
  });
}
