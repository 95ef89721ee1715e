import * as Y from "yjs";
import { type StepBudget, WALK } from "./update-budget.ts";
import type { Overlay, Piece, Place } from "./update-overlay.ts";
import { REF } from "./update-scan.ts";

/**
 * Counts how Yjs tidies up format markers once an update is applied: all of a text that got a marker, with all
 * formats that are open at each item; and in other texts with markers, for each deleted item the whole gap around it.
 */
export function countFormatting(overlay: Overlay, gone: ReadonlySet<Y.Item>, budget: StepBudget): void {
  const marked = new Map<Place, Set<string>>();
  const deleted: Piece[] = [];
  for (const pieces of overlay.added.values())
    for (const piece of pieces) {
      const { place, struct } = piece;
      if (place === null) continue;
      if (struct!.ref === REF.format) {
        const keys = marked.get(place) ?? new Set();
        marked.set(place, keys.add(struct!.text!));
      } else if (piece.isGone && isFormatted(place.type)) deleted.push(piece);
    }
  for (const [place, keys] of marked) countWhole(overlay, place, keys, budget);
  for (const item of gone) if (isFormatted(item.parent)) deleted.push(...overlay.piecesOf(item));
  const counted = new Set<Piece>();
  for (const piece of deleted)
    if (!counted.has(piece) && !marked.has(piece.place!)) countGap(overlay, piece, gone, counted, budget);
}

function countWhole(overlay: Overlay, place: Place, keys: Set<string>, budget: StepBudget): void {
  let length = 0;
  for (let at = overlay.startOf(place); at; at = overlay.rightOf(at)) {
    budget.spend(WALK);
    length += 1;
    if (at.item?.content instanceof Y.ContentFormat) keys.add(at.item.content.key);
  }
  budget.spend(length * keys.size * WALK);
}

function countGap(
  overlay: Overlay,
  piece: Piece,
  gone: ReadonlySet<Y.Item>,
  counted: Set<Piece>,
  budget: StepBudget,
): void {
  let length = 0;
  let deletions = 0;
  const walk = (from: Piece | null, next: (piece: Piece) => Piece | null) => {
    for (let at = from; at && isGap(at, gone); at = next(at)) {
      budget.spend(WALK);
      length += 1;
      if (!at.item || gone.has(at.item)) {
        deletions += 1;
        counted.add(at);
      }
    }
  };
  walk(piece, (at) => overlay.rightOf(at));
  walk(overlay.leftOf(piece), (at) => overlay.leftOf(at));
  budget.spend(length * deletions * WALK);
}

function isGap({ item, struct, isGone }: Piece, gone: ReadonlySet<Y.Item>): boolean {
  return isGone || (item ? !item.countable || gone.has(item) : struct!.ref === REF.format);
}

function isFormatted(type: unknown): boolean {
  return type instanceof Y.Text && (type as unknown as { _hasFormatting: boolean })._hasFormatting;
}
