import { setImmediate } from "node:timers";
import type { Clock } from "../../shared/clock.ts";

/** A clock that stands still until a test winds it. */
export class FakeClock implements Clock {
  private time: number;
  private timers: { due: number; run: () => void }[] = [];

  /** @param start where it stands at first, ms since the epoch */
  constructor(start = 1_700_000_000_000) {
    this.time = start;
  }

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { due: this.time + Math.max(0, ms), run };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  /** How many timers are set. */
  get pending(): number {
    return this.timers.length;
  }

  /** Milliseconds until the next timer; `null` when none is set. */
  get next(): number | null {
    return this.timers.length === 0 ? null : Math.min(...this.timers.map(({ due }) => due)) - this.time;
  }

  /** Time passes and no timer runs, as in a machine that sleeps; the next {@link advance} runs them late. */
  sleep(ms: number): void {
    this.time += ms;
  }

  /**
   * Lets time pass. Timers that fall due run in order of their time, those of the same time in the order
   * they were set; the clock shows each one's own time while it runs. Timers set meanwhile run too when they
   * fall into the span.
   */
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      let first: (typeof this.timers)[number] | undefined;
      for (const timer of this.timers)
        if (timer.due <= end && !(first && first.due <= timer.due)) first = timer;
      if (!first) break;
      this.timers = this.timers.filter((timer) => timer !== first);
      this.time = Math.max(this.time, first.due);
      first.run();
    }
    this.time = end;
  }
}

/** Resolves when all promises that can go on by themselves have done so. */
export function settled(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
