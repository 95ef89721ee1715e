import { UpdateRefusal } from "./update-refusal.ts";

/** Steps of looking at one neighbour's pointer only. */
export const WALK = 1 / 16;
/** Steps for each struct that has to be moved when one is put into or taken out of a client's array. */
export const SHIFT = 1 / 1_000;
/** Steps for each plain value Yjs copies when it splits a row of them. */
export const CUT = 1 / 64;
/** Steps for each plain value Yjs copies when it merges rows of them. */
export const COPY = 1 / 16;

/** What Yjs may spend on an update beyond what it spends on each byte and struct of it. */
export class StepBudget {
  private left: number;

  /** @param steps each is one comparison with a concurrent neighbour */
  constructor(steps: number) {
    this.left = steps;
  }

  /** @throws UpdateRefusal too_costly when nothing is left */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0)
      throw new UpdateRefusal(
        "too_costly",
        "The update has too many changes at one place to be merged at once; send it in smaller parts.",
      );
  }
}
