/** Time as the code sees it; tests put a clock they wind by hand in its place. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `run` once after `ms` milliseconds; the returned function calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** The clock on the wall. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
