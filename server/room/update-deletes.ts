import * as Y from "yjs";
import { SHIFT, type StepBudget, WALK } from "./update-budget.ts";
import { indexAt, type Overlay } from "./update-overlay.ts";
import { lacks, type Rehearsal } from "./update-rehearsal.ts";
import { type DeleteRange, REF } from "./update-scan.ts";

/**
 * Goes through the delete set of an update whose structs have been placed, as `readAndApplyDeleteSet` of Yjs does.
 * @returns whether it deletes anything that was there
 * @throws UpdateRefusal missing for units nobody has; too_costly
 */
export function rehearseDeletes(
  ranges: readonly DeleteRange[],
  overlay: Overlay,
  rehearsal: Rehearsal,
  budget: StepBudget,
): boolean {
  let deletes = false;
  for (const range of ranges) {
    if (range.clock + range.length > overlay.state(range.client)) throw lacks();
    if (deleteStored(range, overlay, rehearsal, budget)) deletes = true;
    if (deleteAdded(range, overlay, budget)) deletes = true;
  }
  return deletes;
}

function deleteStored(
  { client, clock, length }: DeleteRange,
  overlay: Overlay,
  rehearsal: Rehearsal,
  budget: StepBudget,
): boolean {
  if (clock >= overlay.known(client)) return false;
  const structs = overlay.structs(client);
  const end = clock + length;
  const first = Y.findIndexSS(structs, clock);
  let index = first;
  let deletes = false;
  for (; index < structs.length && structs[index]!.id.clock < end; index += 1) {
    const struct = structs[index]!;
    budget.spend(WALK);
    if (struct.deleted || !(struct instanceof Y.Item)) continue;
    deletes = true;
    if (struct.id.clock < clock) overlay.startingAt({ client, clock }, "deletion");
    if (end < struct.id.clock + struct.length) overlay.endingAt({ client, clock: end - 1 }, "deletion");
    rehearsal.removeItem(struct);
  }
  // What has become deleted is merged with what is so beside it, and all behind that moves up.
  const isMerged = index - first > 1 || isGone(structs[first - 1]) || isGone(structs[index]);
  if (deletes && isMerged) budget.spend((structs.length - index) * SHIFT);
  return deletes;

  function isGone(struct: Y.Item | Y.GC | undefined): boolean {
    return struct !== undefined && (struct.deleted || rehearsal.gone.has(struct as Y.Item));
  }
}

function deleteAdded({ client, clock, length }: DeleteRange, overlay: Overlay, budget: StepBudget): boolean {
  const pieces = overlay.added.get(client);
  const end = clock + length;
  const from = Math.max(clock, overlay.known(client));
  if (!pieces || from >= end) return false;
  overlay.startingAt({ client, clock: from }, "deletion");
  overlay.endingAt({ client, clock: end - 1 }, "deletion");
  let deletes = false;
  for (let i = indexAt(pieces, from); i < pieces.length && pieces[i]!.clock < end; i += 1) {
    const piece = pieces[i]!;
    budget.spend(WALK);
    if (piece.place === null || piece.struct!.ref === REF.deleted) continue;
    piece.isGone = true;
    deletes = true;
  }
  return deletes;
}
