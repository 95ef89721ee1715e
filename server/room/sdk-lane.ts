import type { Entry, JsonPatch } from "../../shared/protocol/index.ts";

/**
 * What the SDK's clients are sent of a log ([B5]), entry by entry in order: all of it but an agent's snapshots that
 * changed nothing. One that comes behind something with `sent` is not left out: there a state by plain rules may be
 * another one, and the snapshot sets it right. Where a lane begins, nothing is known of what lies before.
 */
export class SdkLane {
  /** Whether a state by plain rules is surely the merged one ([H15]). */
  private isSame = false;

  /** @returns whether the next entry is one for the SDK */
  carries(entry: Entry): boolean {
    if (entry.kind !== "event") return true;
    if (entry.sent) this.isSame = false;
    if (entry.sent || entry.was !== "STATE_SNAPSHOT") return true;
    const saysNothing = this.isSame && (entry.event.delta as JsonPatch).length === 0;
    this.isSame = true;
    return !saysNothing;
  }
}
