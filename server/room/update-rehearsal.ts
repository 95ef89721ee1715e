import * as Y from "yjs";
import { STATE } from "../../shared/json-crdt/y-json.ts";
import { COPY, SHIFT, type StepBudget, WALK } from "./update-budget.ts";
import { newPiece, type Overlay, type Piece, type Place } from "./update-overlay.ts";
import { malformed, UpdateRefusal } from "./update-refusal.ts";
import { type Id, REF, type ScannedUpdate, type Struct } from "./update-scan.ts";

/** Steps for making a document within the document. */
const SUBDOCUMENT = 60;

/** Steps for a member of an object that is there: it becomes an operation of its own in the log. */
const MEMBER = 4;
/** Steps for taking out one item with all that Yjs keeps of it. */
const REMOVAL = 1 / 2;

/** Judges whether a struct may stand in a place. */
export type Judge = (struct: Struct, place: Place, sub: string | null) => void;

/**
 * Goes through an update as Yjs will: in its order, with its comparisons, over an {@link Overlay} instead of the
 * document. So what Yjs will spend is counted, not guessed, and what it would put off is found.
 */
export class Rehearsal {
  private readonly overlay: Overlay;
  private readonly budget: StepBudget;
  private readonly judge: Judge;
  private stamp = 0;
  private readonly removed = new Set<Y.Item>();

  constructor(overlay: Overlay, budget: StepBudget, judge: Judge) {
    this.overlay = overlay;
    this.budget = budget;
    this.judge = judge;
  }

  /**
   * Places all structs, as `integrateStructs` of Yjs does.
   * @throws UpdateRefusal missing where Yjs would wait for another update; too_costly; malformed; of the judge
   */
  run({ clients }: ScannedUpdate): void {
    const next = new Map([...clients.keys()].map((client) => [client, 0]));
    const take = (client: number): Struct | undefined => {
      const at = next.get(client) ?? 0;
      next.set(client, at + 1);
      return clients.get(client)?.[at];
    };
    const waiting: Struct[] = [];
    // The higher ids first: that is what decides who scans whom.
    for (const client of [...clients.keys()].sort((a, b) => b - a)) {
      for (let head = take(client); head; head = waiting.pop() ?? take(client)) {
        const missing = this.missing(head);
        if (missing === null) this.integrate(head);
        else {
          waiting.push(head);
          const needed = take(missing);
          if (!needed) throw lacks();
          waiting.push(needed);
        }
      }
    }
  }

  /** The client another struct of which has to come first. */
  private missing(struct: Struct): number | null {
    const { client, clock, ref, origin, rightOrigin, parent } = struct;
    if (ref === REF.skip) return null;
    if (clock > this.overlay.state(client)) throw lacks();
    for (const id of [origin, rightOrigin, parent])
      if (id !== null && typeof id === "object" && id.client !== client)
        if (id.clock >= this.overlay.state(id.client)) return id.client;
    return null;
  }

  private integrate(struct: Struct): void {
    const { client, clock, length, ref } = struct;
    if (ref === REF.skip) return;
    const state = this.overlay.state(client);
    const isKnown = clock + length <= state;
    if (ref === REF.gc) {
      if (!isKnown) this.add(newPiece(client, state, clock + length - state, null, null), struct);
      return;
    }
    const { origin, rightOrigin } = struct;
    // Yjs splits what these lie in even for a struct it has.
    const asker = isKnown ? "known" : "struct";
    let left = origin && this.overlay.endingAt(origin, asker);
    const right = rightOrigin && this.overlay.startingAt(rightOrigin, asker);
    if (isKnown) return;
    const piece = newPiece(client, state, clock + length - state, origin, rightOrigin);
    const isGarbage = (origin && !left) || (rightOrigin && !right);
    const place = isGarbage ? null : this.placeFor(struct, left, right);
    const sub = struct.parent === null ? ((left ?? right)?.sub ?? null) : struct.sub;
    if (state > clock) {
      piece.origin = { client, clock: state - 1 };
      left = this.overlay.endingAt(piece.origin);
      if (place && (left?.place !== place || left.sub !== sub))
        throw malformed("something in it continues what is elsewhere");
    }
    if (place && ref === REF.doc) this.budget.spend(SUBDOCUMENT);
    if (place) this.judge(struct, place, sub);
    if (place?.type && sub !== null && place.root === STATE) this.budget.spend(MEMBER);
    // Cut in two, half of such a value would outlive the map it is in, and Yjs throws when it collects that.
    if (place && sub !== null && length !== 1 && ref !== REF.deleted)
      throw malformed("a key in it has several values at once");
    piece.place = place;
    piece.sub = sub;
    this.add(piece, struct);
    if (!place) return;
    if (ref === REF.type) piece.inside = this.overlay.newInside(place, struct.type);
    if (ref === REF.deleted) piece.isGone = true;
    this.link(piece, place, this.scan(piece, place, left, right));
  }

  private placeFor({ parent }: Struct, left: Piece | null, right: Piece | null): Place | null {
    if (parent === null) return (left ?? right)!.place;
    if (typeof parent === "string") return this.overlay.rootOf(parent);
    const owner = this.overlay.find(parent);
    return owner && this.overlay.insideOf(owner);
  }

  /** Where `Item.integrate` of Yjs puts a piece: behind which one. */
  private scan(piece: Piece, place: Place, from: Piece | null, right: Piece | null): Piece | null {
    const { overlay, budget } = this;
    let left = from;
    if (left ? overlay.rightOf(left) === right : right && overlay.leftOf(right) === null) return left;
    let at = left ? overlay.rightOf(left) : this.firstOf(place, piece.sub);
    this.stamp += 1;
    const met = this.stamp;
    for (; at !== null && at !== right; at = overlay.rightOf(at)) {
      budget.spend(1);
      at.met = met;
      at.conflicts = this.stamp;
      if (isSame(piece.origin, at.origin)) {
        if (at.client < piece.client) {
          left = at;
          this.stamp += 1;
        } else if (isSame(piece.rightOrigin, at.rightOrigin)) break;
      } else {
        const origin = at.origin && overlay.find(at.origin);
        if (!origin || origin.met !== met) break;
        if (origin.conflicts !== this.stamp) {
          left = at;
          this.stamp += 1;
        }
      }
    }
    return left;
  }

  private link(piece: Piece, place: Place, left: Piece | null): void {
    const right = left ? this.overlay.rightOf(left) : this.firstOf(place, piece.sub);
    piece.left = left;
    piece.right = right;
    if (left) left.right = piece;
    else if (piece.sub === null) place.start = piece;
    if (right) right.left = piece;
    else if (piece.sub !== null) {
      place.keys.set(piece.sub, piece);
      if (left) {
        this.remove(left);
        left.isGone = true;
      }
    }
  }

  private firstOf(place: Place, sub: string | null): Piece | null {
    if (sub === null) return this.overlay.startOf(place);
    let first = this.overlay.lastOf(place, sub);
    for (let left = first && this.overlay.leftOf(first); left; left = this.overlay.leftOf(left)) {
      this.budget.spend(WALK);
      first = left;
    }
    return first;
  }

  private add(piece: Piece, struct: Struct): void {
    piece.struct = struct;
    const pieces = this.overlay.added.get(struct.client);
    if (pieces) pieces.push(piece);
    else this.overlay.added.set(struct.client, [piece]);
  }

  /** What the update takes out of the document. */
  get gone(): ReadonlySet<Y.Item> {
    return this.removed;
  }

  /** Counts what Yjs does to delete what a piece of the document holds. */
  private remove({ item }: Piece): void {
    if (item) this.takeOut(item);
  }

  /** Counts what Yjs does to delete an item of the document, with all that lies in it. */
  removeItem(item: Y.Item): void {
    if (!item.deleted && !this.removed.has(item) && item.parentSub !== null) this.budget.spend(MEMBER);
    this.takeOut(item);
  }

  private takeOut(root: Y.Item): void {
    const open = [root];
    for (let item = open.pop(); item; item = open.pop()) {
      this.budget.spend(WALK);
      if (item.deleted || this.removed.has(item)) continue;
      this.removed.add(item);
      this.budget.spend(REMOVAL);
      if (!(item.content instanceof Y.ContentType)) continue;
      const { type } = item.content;
      for (let at = type._start; at; at = at.right) open.push(at);
      for (const at of type._map.values()) open.push(at);
    }
  }

  /** Counts how Yjs merges neighbours once all is placed: it goes from right to left, and copies rows of values. */
  countMerges(): void {
    for (const [client, pieces] of this.overlay.added) {
      let kept = 0;
      let row = 0;
      for (let i = pieces.length - 1; i >= 0; i -= 1) {
        const right = pieces[i]!;
        const left = pieces[i - 1] ?? this.before(client, right);
        row += right.length;
        if (!left || !merges(left, right)) {
          kept += 1;
          row = 0;
          continue;
        }
        if (isRow(right)) this.budget.spend((row + left.length) * COPY);
        if (i === 0 || !pieces[i - 2] || !merges(pieces[i - 2]!, left)) this.budget.spend(kept * SHIFT);
      }
    }
  }

  private before(client: number, { clock }: Piece): Piece | null {
    return clock === 0 || this.overlay.known(client) !== clock
      ? null
      : this.overlay.find({ client, clock: clock - 1 });
  }
}

function merges(left: Piece, right: Piece): boolean {
  return left.right === right && isSame(left.rightOrigin, right.rightOrigin) && isRow(left) === isRow(right);
}

/** Whether Yjs copies what a piece holds when it merges it; what is deleted has lost its content by then. */
function isRow({ item, struct, isGone }: Piece): boolean {
  if (isGone) return false;
  if (item) return item.content instanceof Y.ContentAny || item.content instanceof Y.ContentJSON;
  return struct!.ref === REF.any || struct!.ref === REF.json;
}

function isSame(a: Id | null, b: Id | null): boolean {
  return a === b || (a !== null && b !== null && a.client === b.client && a.clock === b.clock);
}

/** Refuses what Yjs would keep until another update comes. */
export function lacks(): UpdateRefusal {
  return new UpdateRefusal(
    "missing",
    "The update builds on changes that the server does not have; send everything it lacks, from a state vector.",
  );
}
