import { setImmediate } from "node:timers/promises";

/**
 * What a saturated source is held to: it makes things in bursts, one per turn of the event loop, and never
 * has more than `window` of them on their way to the slowest reader. Without the window, readers that are
 * slower than the source would be served by snapshots, and nothing would be delivered any more.
 */
export class Bursts {
  private readonly burst: number;
  private readonly window: number;
  private made = 0;
  private inBurst = 0;
  private read = 0;
  private freed = () => {};

  constructor(burst: number, window: number) {
    this.burst = burst;
    this.window = window;
  }

  /** Begins to count anew. */
  reset(): void {
    this.made = 0;
    this.read = 0;
  }

  /** Tells that every reader has so many since the last reset. */
  progress(read: number): void {
    this.read = read;
    this.freed();
  }

  /** Counts what was just made. @returns what to wait for before the next one, if for anything */
  count(n: number): Promise<void> | undefined {
    this.made += n;
    this.inBurst += n;
    if (this.inBurst < this.burst) return undefined;
    this.inBurst = 0;
    return this.rest();
  }

  private async rest(): Promise<void> {
    await setImmediate();
    while (this.made - this.read > this.window) {
      await new Promise<void>((resolve) => {
        this.freed = resolve;
      });
    }
  }
}
