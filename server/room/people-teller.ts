import type { Clock } from "../../shared/clock.ts";

/** Between two tellings of who is in a room, ms. */
const PAUSE_MS = 100;

/**
 * Tells who came, went and changed, at most ten times a second ([W1]).
 * @param tell called when something may have changed since it was called last
 * @returns to be called when something may have changed
 */
export function peopleTeller(clock: Clock, tell: () => void): () => void {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    clock.after(PAUSE_MS, () => {
      waits = false;
      tell();
    });
  };
}
