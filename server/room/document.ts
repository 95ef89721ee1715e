import * as Y from "yjs";
import type { FineOp, FinePatch } from "../../shared/json-crdt/fine-patch.ts";
import { parsePointer } from "../../shared/json-crdt/pointer.ts";
import type { TextPaths } from "../../shared/json-crdt/text-paths.ts";
import { AGUI, DRAFT, STATE, stateOf } from "../../shared/json-crdt/y-json.ts";
import { readChange, type StateChange } from "../../shared/json-crdt/y-read.ts";
import { writeFine } from "../../shared/json-crdt/y-write.ts";
import type { Author, Json } from "../../shared/protocol/index.ts";
import type { TextPlace } from "./agent-places.ts";
import { isOfOtherGeneration, markGeneration, serverId } from "./generation.ts";
import { goneBefore, repairMerge } from "./merge-repair.ts";
import { Replica } from "./replica.ts";
import { checkUpdate, type UpdateVerdict } from "./update-check.ts";

/** Structs an update may have: Yjs takes about five microseconds for one, and everybody waits meanwhile. */
const STRUCTS = 20_000;
/** Replicas a thread may have: parallel runs. */
const SLOTS = 15;

/**
 * A thread's shared document ([H1], [H2], [H10]): the Yjs document people edit, and a replica for each run
 * under way. Every change is one transaction, and is read back as what it did to the state.
 */
export class SharedDocument {
  private readonly doc = new Y.Doc();
  /** Who has sent the draft last, as far as this is known. */
  draftSent: { by: Author & { kind: "user" }; inputId: string } | null = null;
  private readonly texts: TextPaths;
  private readonly generation: number;
  private readonly clientId: number;
  private readonly replicas = new Map<number, Replica>();
  private updates: Uint8Array[] = [];
  /** The peers whose updates these are; `null` for the server's own. */
  private writers = new Set<string | null>();
  private change: StateChange = { patch: [], texts: [] };
  private readonly logged: () => Json;
  private current: Y.Transaction | null = null;
  private isReading = false;

  /**
   * @param texts where text fields may lie
   * @param generation of the document
   * @param stored the document as one update; `null` for a new one
   * @param state what the log says the state is; equal to what the document holds whenever one of its methods
   *   is called
   */
  constructor(texts: TextPaths, generation: number, stored: Uint8Array | null, state: () => Json) {
    this.texts = texts;
    this.logged = state;
    this.generation = generation;
    this.clientId = serverId(generation);
    // Yjs gives a root type its kind when it is asked for; changes before that tell nobody.
    this.doc.getMap(STATE);
    this.doc.getMap(AGUI);
    if (stored) Y.applyUpdate(this.doc, stored);
    // Yjs picks another id when it meets its own in an update, so only now.
    this.doc.clientID = this.clientId;
    this.doc.on("beforeTransaction", ({ origin }: Y.Transaction) => {
      if (this.isReading) return;
      for (const replica of this.replicas.values()) if (replica !== origin) replica.part(state);
    });
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      this.updates.push(update);
      this.writers.add(typeof origin === "string" ? origin : null);
      // A replica that has parted lacks what the merge had to repair.
      for (const replica of this.replicas.values())
        if (replica !== origin || replica.split) replica.hold(update);
    });
    this.doc.on("afterTransaction", (transaction: Y.Transaction) => {
      if (transaction !== this.current) return;
      // Yjs opens a transaction to find out what became of a text.
      this.isReading = true;
      this.change = readChange(transaction);
      this.isReading = false;
    });
    markGeneration(this.doc, generation);
  }

  /** The state, read from the document: for tests and for what was stored without it. */
  get state(): Json {
    return stateOf(this.doc);
  }

  /**
   * Whether an update may be merged.
   * @param maxBytes what it may bring in under the state
   * @param draft characters the draft may have; as much more may come in, since what is taken away counts only when it
   *   is merged
   */
  check(update: Uint8Array, maxBytes: number, draft: number): UpdateVerdict {
    const maxDraft = Math.max(0, 2 * draft - this.doc.getText(DRAFT).length);
    return checkUpdate(this.doc, update, { maxBytes, maxDraft, structs: STRUCTS });
  }

  /** Writes changes that apply to the state as it is. */
  edit(ops: readonly FineOp[], origin: unknown = null): StateChange {
    return this.transaction(origin, () => {
      writeFine(this.doc, ops, this.texts);
    });
  }

  /** Takes in what a Yjs peer did. The bytes must have been checked. @param peer names the peer */
  merge(update: Uint8Array, peer: string): StateChange {
    return this.transaction(peer, () => Y.applyUpdate(this.doc, update, peer));
  }

  /** Takes a free slot for a run: what the document is now is what its agent sees. `null` when all are taken. */
  begin(): number | null {
    for (let slot = 1; slot <= SLOTS; slot += 1) {
      const replica = this.replica(slot);
      if (replica.busy) continue;
      replica.begin();
      return slot;
    }
    return null;
  }

  end(slot: number): void {
    this.replicas.get(slot)?.end();
  }

  /** Whether somebody else has changed the document since the slot's run began. */
  hasParted(slot: number): boolean {
    return this.replicas.get(slot)?.split ?? false;
  }

  /** The state as the slot's agent sees it. */
  viewOf(slot: number): Json {
    const replica = this.replica(slot);
    return replica.split ? replica.view : this.logged();
  }

  /** The same, read from its replica: for tests. */
  replicaState(slot: number): Json {
    const replica = this.replica(slot);
    if (!replica.split) replica.catchUp();
    return stateOf(replica.doc);
  }

  /** Writes an agent's changes, which apply to what it sees, into its replica and merges them. */
  editFrom(slot: number, { ops, after }: FinePatch): StateChange {
    const replica = this.replica(slot);
    if (replica.split) replica.view = after;
    const { update, written } = replica.write(ops, this.texts);
    if (!update) return { patch: [], texts: [] };
    const gone = replica.split ? goneBefore(this.doc, written) : new Set<string>();
    return this.transaction(replica, (transaction) => {
      Y.applyUpdate(this.doc, update, replica);
      if (replica.split) asOurs(transaction, () => repairMerge(this.doc, written, gone));
    });
  }

  /** Takes a text out of the beginning of the draft. @returns false, and changes nothing, when it is not there */
  cutDraft(text: string): boolean {
    const draft = this.doc.getText(DRAFT);
    if (!draft.toString().startsWith(text)) return false;
    this.transaction(null, () => draft.delete(0, text.length));
    return true;
  }

  /** A place in a text field as Yjs names it, for as long as it is there. */
  placeIn({ path, index }: TextPlace): Json | null {
    let found: unknown = this.doc.getMap(STATE);
    for (const token of parsePointer(path))
      found =
        found instanceof Y.Map
          ? found.get(token)
          : found instanceof Y.Array
            ? found.get(Number(token))
            : null;
    if (!(found instanceof Y.Text)) return null;
    const place = Y.createRelativePositionFromTypeIndex(found, Math.min(index, found.length));
    return Y.relativePositionToJSON(place) as Json;
  }

  /** The updates since this was last called. `by`: the peer that all of them are of, `null` when there is no such one */
  takeUpdates(): { updates: Uint8Array[]; by: string | null } {
    const { updates, writers } = this;
    const [by = null] = writers.size === 1 ? writers : [];
    this.updates = [];
    this.writers = new Set();
    return { updates, by };
  }

  /** All of it as one update. @param vector without what a peer of this state vector has */
  encode(vector?: Uint8Array): Uint8Array {
    return Y.encodeStateAsUpdate(this.doc, vector);
  }

  /** The state vector, encoded. */
  vector(): Uint8Array {
    return Y.encodeStateVector(this.doc);
  }

  /**
   * Whether a peer's document is one of another generation, or has something of the server's that was lost: nothing
   * of it may come in.
   * @param clocks its state vector
   */
  isOfOtherGeneration(clocks: ReadonlyMap<number, number>): boolean {
    return isOfOtherGeneration(this.doc, this.generation, clocks);
  }

  destroy(): void {
    for (const replica of this.replicas.values()) replica.destroy();
    this.doc.destroy();
  }

  private replica(slot: number): Replica {
    let replica = this.replicas.get(slot);
    if (!replica) {
      replica = new Replica(slot, this.encode());
      this.replicas.set(slot, replica);
    }
    return replica;
  }

  private transaction(origin: unknown, work: (transaction: Y.Transaction) => void): StateChange {
    this.change = { patch: [], texts: [] };
    this.doc.transact((transaction) => {
      this.current = transaction;
      work(transaction);
    }, origin);
    this.current = null;
    // An update that carries the server's own id would make Yjs take another.
    this.doc.clientID = this.clientId;
    return this.change;
  }
}

/**
 * Writes within a transaction that took in an update. Yjs calls such a transaction remote, and would take what is
 * written with the server's id for somebody else's use of it. A local one keeps what it remembers about places in
 * arrays, though, and the update has made that wrong.
 */
function asOurs(transaction: Y.Transaction, work: () => void): void {
  for (const type of transaction.changed.keys()) {
    const { _searchMarker: places } = type as unknown as { _searchMarker: unknown[] | null };
    if (places) places.length = 0;
  }
  transaction.local = true;
  work();
}
