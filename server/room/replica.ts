import * as Y from "yjs";
import type { FineOp } from "../../shared/json-crdt/fine-patch.ts";
import type { TextPaths } from "../../shared/json-crdt/text-paths.ts";
import { type Written, writeFine } from "../../shared/json-crdt/y-write.ts";
import type { Json } from "../../shared/protocol/index.ts";

/** Updates an idle replica lets gather before it takes them in. */
const HELD_AT_MOST = 64;

/**
 * An agent's copy of the shared document ([H2]). While its run lasts the agent's changes go through it, so that
 * they mean what the agent saw when it made them: from the first foreign change on, foreign changes are held
 * back until the run ends. Between runs it follows the document.
 */
export class Replica {
  readonly doc = new Y.Doc();
  private readonly slot: number;
  private held: Uint8Array[] = [];
  /** A run is under way that uses it. */
  busy = false;
  /** Others have changed the document since the run began. */
  split = false;
  /** The state as the agent sees it, once that is another one than the document's. */
  view: Json = null;

  /**
   * @param slot 1 to 15: the Yjs client id of what it writes
   * @param update the whole document as one update
   */
  constructor(slot: number, update: Uint8Array) {
    this.slot = slot;
    Y.applyUpdate(this.doc, update);
    // Yjs picks another id when it meets its own in an update, so only now.
    this.doc.clientID = slot;
  }

  /** Takes note of what the document has become. */
  hold(update: Uint8Array): void {
    this.held.push(update);
    if (!this.busy && this.held.length > HELD_AT_MOST) this.catchUp();
  }

  /** Becomes equal to the document. */
  catchUp(): void {
    const { held } = this;
    this.held = [];
    for (const update of held) Y.applyUpdate(this.doc, update, HELD);
    this.doc.clientID = this.slot;
  }

  /** A run begins: what the document is now is what the agent sees. */
  begin(): void {
    this.catchUp();
    this.busy = true;
    this.split = false;
  }

  /**
   * Somebody else is about to change the document: from here on the agent's view is another one.
   * @param state what the document holds before that
   */
  part(state: () => Json): void {
    if (!this.busy || this.split) return;
    this.catchUp();
    this.split = true;
    this.view = state();
  }

  end(): void {
    this.busy = false;
    this.split = false;
    this.view = null;
    this.catchUp();
  }

  /** Writes the agent's changes. @returns them as an update, and where others may have written too */
  write(ops: readonly FineOp[], texts: TextPaths): { update: Uint8Array | null; written: Written[] } {
    if (!this.split) this.catchUp();
    let update: Uint8Array | null = null;
    const keep = (bytes: Uint8Array) => {
      update = bytes;
    };
    this.doc.once("update", keep);
    let written: Written[] = [];
    this.doc.transact(() => {
      written = writeFine(this.doc, ops, texts);
    });
    this.doc.off("update", keep);
    return { update, written };
  }

  destroy(): void {
    this.doc.destroy();
  }
}

const HELD = Symbol("held");
