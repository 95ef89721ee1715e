import type { Clock } from "../../shared/clock.ts";
import type { People, PeopleChange } from "./people.ts";

/** Between two tellings of who is in a room, ms. */
const PAUSE_MS = 100;

/**
 * Tells who came, went and changed, at most ten times a second ([W2]).
 * @returns to be called when something may have changed
 */
export function peopleTeller(people: People, clock: Clock, tell: (change: PeopleChange) => void): () => void {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    clock.after(PAUSE_MS, () => {
      waits = false;
      const change = people.takeChange();
      if (change) tell(change);
    });
  };
}
