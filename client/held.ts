import type { Clock } from "../shared/clock.ts";
import { createTimer } from "./timer.ts";

/** How long something stays after its last holder let go, ms: long enough for switching back and forth. */
export const LINGER_MS = 2_000;

/** Counts who uses a thing. */
export interface Held {
  /** Adds a holder; the returned function lets go, once. */
  hold(): () => void;
  /** Takes one holder away. */
  release(): void;
  /** Forgets all holders without telling anyone. */
  end(): void;
}

/**
 * Makes a {@link Held}.
 * @param taken called when somebody holds it again
 * @param dropped called {@link LINGER_MS} after nobody does
 */
export function createHeld(clock: Clock, taken: () => void, dropped: () => void): Held {
  const timer = createTimer(clock);
  let holders = 0;
  let active = false;
  const release = () => {
    if (holders === 0) return;
    holders -= 1;
    if (holders > 0) return;
    timer.set(LINGER_MS, () => {
      active = false;
      dropped();
    });
  };
  return {
    hold() {
      holders += 1;
      timer.clear();
      if (!active) {
        active = true;
        taken();
      }
      let holding = true;
      return () => {
        if (holding) release();
        holding = false;
      };
    },
    release,
    end() {
      timer.clear();
      holders = 0;
      active = false;
    },
  };
}
