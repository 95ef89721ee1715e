import { valueAt } from "../json-crdt/place.ts";
import { parsePointer } from "../json-crdt/pointer.ts";
import { TextEditError } from "../json-crdt/text-edits.ts";
import type { Entry, EntryOf, Json, JsonPatch } from "../protocol/index.ts";
import { foldState, patched } from "./fold-state.ts";

/**
 * The state as it would be by the plain rules of AG-UI, where nobody merges: a snapshot takes the place of everything,
 * and a patch goes to whatever stands at its index ([H15]). It tells what a thread's people would have lost.
 */
export class PlainState {
  /** The state by plain rules; the merged one itself where both are the same. */
  state: Json;
  /** The state by the rules of this protocol. */
  merged: Json;
  /** The run whose last event said its texts by itself. */
  private told: string | null = null;

  /** @param state what both begin with */
  constructor(state: Json) {
    this.state = state;
    this.merged = state;
  }

  /** Applies the next entry of the log. */
  apply(entry: Entry): void {
    const before = this.merged;
    this.merged = foldState(before, entry);
    const isSame = this.state === before;
    switch (entry.kind) {
      case "event":
        return this.applyEvent(entry, isSame);
      case "state":
        this.told = null;
        this.state = isSame ? this.merged : foldState(this.state, entry);
        return;
      case "text":
        if (entry.run !== null && entry.run === this.told) return;
        this.state = isSame ? this.merged : this.edited(entry);
    }
  }

  private applyEvent(entry: EntryOf<"event">, isSame: boolean): void {
    if (!/^STATE_/.test(entry.event.type)) return;
    const { sent } = entry;
    this.told = sent ? entry.run : null;
    const isSnapshot = entry.was === "STATE_SNAPSHOT" || (entry.event.type as string) === "STATE_SNAPSHOT";
    if (isSnapshot) this.state = patched(this.merged, sent ?? []);
    else if (isSame && !sent) this.state = this.merged;
    else this.state = patched(this.state, sent ?? (entry.event.delta as JsonPatch));
  }

  private edited(entry: EntryOf<"text">): Json {
    const value = valueAt(this.merged, parsePointer(entry.path)) as Json;
    const whole: JsonPatch = [{ op: "replace", path: entry.path, value }];
    // Agents send a text as a whole.
    if (entry.run !== null) return patched(this.state, whole);
    try {
      return foldState(this.state, entry);
    } catch (error) {
      // The text is another one here, and there is no such place in it: whoever typed saw what was merged.
      if (!(error instanceof TextEditError)) throw error;
      return patched(this.state, whole);
    }
  }
}
