import * as Y from "yjs";
import { STATE } from "../../shared/json-crdt/y-json.ts";
import { type StepBudget, WALK } from "./update-budget.ts";
import type { Overlay } from "./update-overlay.ts";

/** Steps for an entry of its own. */
const ENTRY = 8;
/** Steps for each element of an array that is copied. */
const ELEMENT = 1 / 512;

/**
 * Counts what becomes of the texts of the state that an update changes: each is an entry of its own ([H8]), and what
 * holds it is copied, up to the state.
 */
export function countTexts(overlay: Overlay, budget: StepBudget): void {
  for (const [type, { root, kind }] of overlay.places) {
    if (root !== STATE || kind !== "text") continue;
    budget.spend(ENTRY);
    for (let { _item } = type; _item; ) {
      const holder = _item.parent as Y.AbstractType<unknown>;
      budget.spend(holder instanceof Y.Array ? holder.length * ELEMENT : holder._map.size * WALK);
      ({ _item } = holder);
    }
  }
}
