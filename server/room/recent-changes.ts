import type { FineOp } from "../../shared/json-crdt/fine-patch.ts";
import { moveOps } from "../../shared/json-crdt/moves.ts";
import { PatchError } from "../../shared/json-crdt/patch.ts";
import { valueAt } from "../../shared/json-crdt/place.ts";
import { PointerError, parsePointer } from "../../shared/json-crdt/pointer.ts";
import type { TextPaths } from "../../shared/json-crdt/text-paths.ts";
import type { Json, JsonPatch } from "../../shared/protocol/index.ts";
import { Rejection } from "./port.ts";
import { asFine, rewriteOver, type StateChangeRow } from "./state-changes.ts";

/** Changes kept in memory: how far behind a patch of a person may have been made. */
const KEPT = 1_000;

/** A change that a client's patch made: the client, and what the patch did to indexes where it was made. */
type Origin = { client: string; shapes: readonly FineOp[] };

/** The latest changes of a state, for patches that were made before them ([H14]). */
export class RecentChanges {
  private rows: StateChangeRow[] = [];
  private readonly origins = new WeakMap<StateChangeRow, Origin>();
  /** Seq from which on all changes are here. */
  private from: number;

  /** @param seq where the log stands; of what lies before, nothing is known */
  constructor(seq: number) {
    this.from = seq;
  }

  add(row: StateChangeRow): void {
    this.rows.push(row);
    if (this.rows.length <= KEPT * 2) return;
    this.from = this.rows.at(-1 - KEPT)?.seq ?? this.from;
    this.rows = this.rows.slice(-KEPT);
  }

  /** Notes that the changes behind a seq are those of one client's patch. */
  isBy(client: string, seq: number, shapes: readonly FineOp[]): void {
    for (const [i, row] of this.after(seq).entries())
      this.origins.set(row, { client, shapes: i === 0 ? shapes : [] });
  }

  /** The changes behind a seq. */
  after(seq: number): StateChangeRow[] {
    return this.rows.filter((row) => row.seq > seq);
  }

  /**
   * What others have changed behind a seq, as it is where the client's own patches were made before it.
   * @throws Rejection stale when not all of it is known
   */
  behind(base: number, client: string): FineOp[] {
    if (base < this.from) throw stale();
    const rows = this.after(base);
    return rows.flatMap((row, i) => {
      if (this.isOf(row, client)) return [];
      const ownLater = rows.slice(i + 1).filter((one) => this.isOf(one, client));
      const shapes = ownLater.flatMap((one) => this.origins.get(one)?.shapes ?? []);
      return shapes.reduce(moveOps, row.ops.map(asFine));
    });
  }

  /** An operation that writes a text field anew: with what others have typed into it meanwhile ([H8]). */
  rewritten(
    operation: JsonPatch[number],
    state: Json,
    texts: TextPaths,
    base: number,
    client: string,
  ): JsonPatch[number] {
    const { op, value } = operation;
    const rows = this.after(base);
    if (rows.length === 0 || (op !== "replace" && op !== "add") || typeof value !== "string")
      return operation;
    const path = parsePointer(operation.path);
    const text = valueAt(state, path);
    if (typeof text !== "string" || !texts.matches(path)) return operation;
    // What it was made on holds the client's own edits; those of others alone cannot be told apart from them.
    if (rows.some((row) => this.isOf(row, client))) return operation;
    return { ...operation, value: rewriteOver(value, path, text, rows) };
  }

  private isOf(row: StateChangeRow, client: string): boolean {
    return client !== "" && this.origins.get(row)?.client === client;
  }
}

/** What a patch is refused with whose target is gone, or which is too old to tell. */
export function stale(): Rejection {
  return new Rejection(
    "stale",
    "What this changes has been removed meanwhile. Look at the state and try again.",
  );
}

/**
 * Does something with a patch of a person that applies as a whole or not at all ([H3]).
 * @param isMoved the state is another one than the patch was made for: that may be why it does not apply
 * @throws Rejection stale, bad_message
 */
export function whole<T>(work: () => T, isMoved: boolean): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PatchError || error instanceof PointerError)) throw error;
    if (isMoved) throw stale();
    throw new Rejection("bad_message", `The patch does not apply: ${error.message}.`);
  }
}
