import type { TextEdit } from "../../shared/json-crdt/text-edits.ts";

/** A place in a text field of the state. */
export type TextPlace = { path: string; index: number };

/** Where runs write in text fields: behind what each wrote last, kept right while others write too. */
export class AgentPlaces {
  private readonly places = new Map<string, TextPlace>();

  /** @returns the run's place; `undefined` when it has written nowhere */
  of(run: string): TextPlace | undefined {
    return this.places.get(run);
  }

  /** A text was edited. @param run whose agent did; `null` for people */
  edited(run: string | null, path: string, edits: readonly TextEdit[]): void {
    for (const place of this.places.values())
      if (place.path === path) for (const edit of edits) place.index = moved(place.index, edit);
    const last = edits.at(-1);
    if (run !== null && last) this.places.set(run, { path, index: last[0] + last[2].length });
  }

  /** No run is under way any more. */
  clear(): void {
    this.places.clear();
  }
}

/** What others put where an agent writes comes behind it. */
function moved(index: number, [at, deleted, inserted]: TextEdit): number {
  if (at >= index) return index;
  return Math.max(at, index - deleted) + inserted.length;
}
