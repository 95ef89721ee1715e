import * as Y from "yjs";
import { AGUI, DRAFT, STATE } from "../../shared/json-crdt/y-json.ts";
import { COPY, CUT, SHIFT, type StepBudget } from "./update-budget.ts";
import { malformed, UpdateRefusal } from "./update-refusal.ts";
import { type Id, REF, type Struct, TYPE } from "./update-scan.ts";
import { NESTING_HARD } from "./update-values.ts";

/** What may stand in a type: of the state by the kind of type, of an application anything. */
export type PlaceKind = "map" | "array" | "text" | "other";

/**
 * What asks for a piece to be split. A struct the document has will not be told to others: what it asks for may not
 * change what a text says.
 */
export type Asker = "struct" | "known" | "deletion";

/** A type in which structs of the update are to stand. */
export type Place = {
  root: string | null;
  kind: PlaceKind;
  /** Containers down to this one; 0 for what is none. */
  depth: number;
  type: Y.AbstractType<unknown> | null;
  /** `undefined` until it is asked for. */
  start: Piece | null | undefined;
  /** The last piece of each key that was asked for. */
  keys: Map<string, Piece | null>;
};

/** A run of units that stands in a list: an item, or a part of one that has been split. */
export type Piece = {
  client: number;
  clock: number;
  length: number;
  origin: Id | null;
  rightOrigin: Id | null;
  /** `undefined` until it is asked for. */
  left: Piece | null | undefined;
  right: Piece | null | undefined;
  /** `null` for what will be garbage. */
  place: Place | null;
  sub: string | null;
  item: Y.Item | null;
  struct: Struct | null;
  /** The type it holds. */
  inside: Place | null;
  isGone: boolean;
  /** Stamps of the scans that met it. */
  met: number;
  conflicts: number;
};

/** What a document would be with an update, as far as the update reaches; the document itself is only read. */
export class Overlay {
  readonly added = new Map<number, Piece[]>();
  readonly places = new Map<Y.AbstractType<unknown>, Place>();
  private readonly roots = new Map<string, Place>();
  private readonly pieces = new Map<Y.Item, Piece[]>();
  private readonly states = new Map<number, number>();
  private readonly doc: Y.Doc;
  private readonly budget: StepBudget;

  constructor(doc: Y.Doc, budget: StepBudget) {
    this.doc = doc;
    this.budget = budget;
  }

  /** The first clock the document itself does not have. */
  known(client: number): number {
    let state = this.states.get(client);
    if (state === undefined) {
      state = Y.getState(this.doc.store, client);
      this.states.set(client, state);
    }
    return state;
  }

  /** The first clock that neither the document nor what was added has. */
  state(client: number): number {
    const last = this.added.get(client)?.at(-1);
    return last ? last.clock + last.length : this.known(client);
  }

  /** The structs the document has of a client. */
  structs(client: number): (Y.Item | Y.GC)[] {
    return (this.doc.store.clients.get(client) ?? []) as (Y.Item | Y.GC)[];
  }

  /** The piece with a unit that is there; `null` when it is garbage. */
  find({ client, clock }: Id): Piece | null {
    if (clock < this.known(client)) {
      const structs = this.structs(client);
      const struct = structs[Y.findIndexSS(structs, clock)];
      return struct instanceof Y.Item ? pieceAt(this.piecesOf(struct), clock) : null;
    }
    const piece = pieceAt(this.added.get(client)!, clock);
    return piece.struct?.ref === REF.gc || piece.place === null ? null : piece;
  }

  /** The piece that begins with a unit; what holds it is split where it has to be. */
  startingAt(id: Id, asker: Asker = "struct"): Piece | null {
    const piece = this.find(id);
    return piece && piece.clock < id.clock ? this.split(piece, id.clock - piece.clock, asker) : piece;
  }

  /** The piece that ends with a unit; what holds it is split where it has to be. */
  endingAt(id: Id, asker: Asker = "struct"): Piece | null {
    const piece = this.find(id);
    if (piece && piece.clock + piece.length - 1 > id.clock)
      this.split(piece, id.clock - piece.clock + 1, asker);
    return piece;
  }

  piecesOf(item: Y.Item): Piece[] {
    let pieces = this.pieces.get(item);
    if (!pieces) {
      const { client, clock } = item.id;
      const piece = newPiece(client, clock, item.length, item.origin, item.rightOrigin);
      piece.item = item;
      piece.sub = item.parentSub;
      piece.place = this.placeOf(item.parent as Y.AbstractType<unknown>);
      piece.isGone = item.deleted;
      piece.left = undefined;
      piece.right = undefined;
      pieces = [piece];
      this.pieces.set(item, pieces);
    }
    return pieces;
  }

  rightOf(piece: Piece): Piece | null {
    if (piece.right === undefined) {
      const { right } = piece.item as Y.Item;
      piece.right = right ? this.piecesOf(right)[0]! : null;
      if (piece.right) piece.right.left = piece;
    }
    return piece.right;
  }

  leftOf(piece: Piece): Piece | null {
    if (piece.left === undefined) {
      const { left } = piece.item as Y.Item;
      piece.left = left ? this.piecesOf(left).at(-1)! : null;
      if (piece.left) piece.left.right = piece;
    }
    return piece.left;
  }

  startOf(place: Place): Piece | null {
    if (place.start === undefined) {
      const first = place.type?._start;
      place.start = first ? this.piecesOf(first)[0]! : null;
    }
    return place.start;
  }

  /** The piece a key stands for: the last one of its list. */
  lastOf(place: Place, key: string): Piece | null {
    let last = place.keys.get(key);
    if (last === undefined) {
      const item = place.type?._map.get(key);
      last = item ? this.piecesOf(item).at(-1)! : null;
      place.keys.set(key, last);
    }
    return last;
  }

  /** The root type of a name, whether or not the document has it. */
  rootOf(name: string): Place {
    let place = this.roots.get(name);
    if (!place) {
      const type = (this.doc.share.get(name) ?? null) as Y.AbstractType<unknown> | null;
      const kind = name === STATE || name === AGUI ? "map" : name === DRAFT ? "text" : "other";
      // A state that is no object stands by itself below `agui`.
      const root = kind === "other" ? null : name;
      place = { root, kind, depth: name === AGUI ? 0 : 1, type, start: undefined, keys: new Map() };
      this.roots.set(name, place);
      if (type) this.places.set(type, place);
    }
    return place;
  }

  /** The type an item of the document or of the update holds; `null` when it holds none. */
  insideOf(piece: Piece): Place | null {
    const content = piece.item?.content;
    return content instanceof Y.ContentType ? this.placeOf(content.type) : piece.inside;
  }

  /** A type that comes with the update. */
  newInside(parent: Place, type: number): Place {
    return { ...this.nested(parent, kindOf(type)), type: null, start: null };
  }

  private placeOf(type: Y.AbstractType<unknown>): Place {
    const above: Y.AbstractType<unknown>[] = [];
    let at: Y.AbstractType<unknown> | null = type;
    while (at && !this.places.has(at)) {
      above.push(at);
      at = at._item ? (at._item.parent as Y.AbstractType<unknown>) : null;
    }
    let place = at ? this.places.get(at)! : null;
    for (let next = above.pop(); next; next = above.pop()) {
      place = place
        ? { ...this.nested(place, kindOfType(next)), type: next }
        : this.rootOf(this.nameOf(next));
      this.places.set(next, place);
    }
    return place!;
  }

  private nameOf(type: Y.AbstractType<unknown>): string {
    for (const name of [STATE, AGUI, DRAFT]) if (this.doc.share.get(name) === type) return name;
    // Which of the application's it is makes no difference, and finding out would take a walk over all.
    return "";
  }

  private nested(parent: Place, kind: PlaceKind): Place {
    const depth = parent.depth + (parent.root !== null && kind === "text" ? 0 : 1);
    if (depth > NESTING_HARD)
      throw new UpdateRefusal("too_deep", `The update nests types deeper than ${NESTING_HARD} levels.`);
    return { root: parent.root, kind, depth, type: null, start: undefined, keys: new Map() };
  }

  private split(piece: Piece, length: number, asker: Asker): Piece {
    const clock = piece.clock + length;
    this.keepSurrogates(piece, clock, asker);
    const right = newPiece(piece.client, clock, piece.length - length, null, piece.rightOrigin);
    right.origin = { client: piece.client, clock: clock - 1 };
    right.left = piece;
    right.right = this.rightOf(piece);
    right.place = piece.place;
    right.sub = piece.sub;
    right.item = piece.item;
    right.struct = piece.struct;
    right.isGone = piece.isGone;
    if (right.right) right.right.left = right;
    else if (right.sub !== null) right.place!.keys.set(right.sub, right);
    piece.right = right;
    piece.length = length;
    const pieces = piece.item ? this.piecesOf(piece.item) : this.added.get(piece.client)!;
    const index = indexAt(pieces, piece.clock);
    pieces.splice(index + 1, 0, right);
    this.budget.spend(2 + this.shifted(piece, pieces.length - index) + copied(piece, right.length, asker));
    return right;
  }

  /** What it takes Yjs to put something behind a piece into the array of its client, and to take it out again. */
  private shifted(piece: Piece, behind: number): number {
    if (!piece.item) return 2 * behind * SHIFT;
    const structs = this.structs(piece.client);
    return 2 * (structs.length - Y.findIndexSS(structs, piece.item.id.clock) + behind) * SHIFT;
  }

  /** Yjs replaces both halves of a character that it has to split, and tells nobody ([H13]). */
  private keepSurrogates({ item, struct, place }: Piece, clock: number, asker: Asker): void {
    const isOurs = place !== null && place.root !== null;
    if (!isOurs && asker !== "known") return;
    const text = item ? (item.content instanceof Y.ContentString ? item.content.str : null) : struct!.text;
    const code = text?.charCodeAt(clock - (item ? item.id.clock : struct!.clock) - 1) ?? 0;
    if (code < 0xd800 || code > 0xdbff) return;
    if (!isOurs) throw malformed("it splits a character in two");
    throw new UpdateRefusal("not_json", "The update splits a character of a text in two.");
  }
}

/** Makes a piece that stands nowhere yet. */
export function newPiece(
  client: number,
  clock: number,
  length: number,
  origin: Id | null,
  rightOrigin: Id | null,
): Piece {
  return {
    client,
    clock,
    length,
    origin,
    rightOrigin,
    left: null,
    right: null,
    place: null,
    sub: null,
    item: null,
    struct: null,
    inside: null,
    isGone: false,
    met: 0,
    conflicts: 0,
  };
}

/** Index of the piece that holds a clock. */
export function indexAt(pieces: readonly Piece[], clock: number): number {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pieces[middle]!.clock <= clock) low = middle;
    else high = middle - 1;
  }
  return low;
}

function pieceAt(pieces: readonly Piece[], clock: number): Piece {
  return pieces[indexAt(pieces, clock)]!;
}

/** A part that is deleted is only cut out; other parts may be put together again, which costs far more. */
function copied({ item, struct }: Piece, length: number, asker: Asker): number {
  const isRow = item
    ? item.content instanceof Y.ContentAny || item.content instanceof Y.ContentJSON
    : struct!.ref === REF.any || struct!.ref === REF.json;
  return isRow ? length * (asker === "deletion" ? CUT : COPY) : 0;
}

function kindOf(type: number): PlaceKind {
  return type === TYPE.map ? "map" : type === TYPE.array ? "array" : type === TYPE.text ? "text" : "other";
}

function kindOfType(type: Y.AbstractType<unknown>): PlaceKind {
  if (type.constructor === Y.Map) return "map";
  if (type.constructor === Y.Array) return "array";
  return type.constructor === Y.Text ? "text" : "other";
}
