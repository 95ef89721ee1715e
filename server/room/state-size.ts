import { checkState, STATE_LIMITS, type StateLimits } from "../../shared/json-crdt/check.ts";
import type { FineOp } from "../../shared/json-crdt/fine-patch.ts";
import type { Json } from "../../shared/protocol/index.ts";

/** Why something may not be put into the state. */
export type Unfit = { why: string; isTooBig: boolean };

/**
 * Holds a state to its limits ([H13]) by looking at what changes, not at all of it. The size is that of the state as
 * JSON, in characters, within a few for each change.
 */
export class StateSize {
  private characters: number | null = null;
  private readonly state: () => Json;
  private readonly limits: Required<StateLimits>;

  /**
   * @param state what it is now; measured when it is first needed
   * @param limits where they differ from the defaults
   */
  constructor(state: () => Json, limits: StateLimits = {}) {
    this.state = state;
    this.limits = { ...STATE_LIMITS, ...limits };
  }

  /** What keeps changes out of the state; `null` when nothing does. */
  unfitness(ops: readonly FineOp[]): Unfit | null {
    let grown = 0;
    for (const op of ops) {
      if (op.kind === "remove") {
        grown -= length(op.was);
        continue;
      }
      const { depth } = this.limits;
      const above = op.kind === "root" ? 0 : op.path.length;
      const value = op.kind === "text" ? op.edits.map(([, , ins]) => ins).join("") : op.value;
      const why = checkState(value, { ...this.limits, depth: Math.max(0, depth - above) });
      if (why !== null) return { why, isTooBig: /more than/.test(why) };
      grown += growth(op);
    }
    const { characters } = this.limits;
    if (grown <= 0 || this.now + grown <= characters) return null;
    return { why: `The state would have more than ${characters} characters as JSON.`, isTooBig: true };
  }

  /** Takes note of changes that were made. To be called for every one. */
  changed(ops: readonly FineOp[]): void {
    if (this.characters === null) return;
    for (const op of ops) this.characters += op.kind === "remove" ? -length(op.was) : growth(op);
  }

  /**
   * What an update of a Yjs peer may bring in: how much it takes away is known only when it is merged, so that the
   * state may come to twice its limit that way. Nothing else can make it larger then.
   */
  get room(): number {
    return Math.max(0, 2 * this.limits.characters - this.now);
  }

  private get now(): number {
    this.characters ??= length(this.state());
    return this.characters;
  }
}

function growth(op: Exclude<FineOp, { kind: "remove" }>): number {
  switch (op.kind) {
    case "text":
      return op.edits.reduce((sum, [, del, ins]) => sum + ins.length - del, 0);
    case "insert":
      return length(op.value) + 1;
    case "root":
      return length(op.value) - length(op.was);
    case "set":
      return op.was === undefined
        ? length(op.value) + (op.path.at(-1)?.length ?? 0) + 4
        : length(op.value) - length(op.was);
  }
}

function length(value: Json): number {
  return JSON.stringify(value).length;
}
