import * as Y from "yjs";
import type { AgentMemory } from "../../server/room/agent-view.ts";
import { freshDocument } from "../../server/room/fresh-document.ts";
import { SharedState } from "../../server/room/shared-state.ts";
import type { StateChangeRow } from "../../server/room/state-changes.ts";
import { finePatch } from "../../shared/json-crdt/fine-patch.ts";
import { applyPatch } from "../../shared/json-crdt/patch.ts";
import { compileTextPaths } from "../../shared/json-crdt/text-paths.ts";
import { stateOf } from "../../shared/json-crdt/y-json.ts";
import { writeFine } from "../../shared/json-crdt/y-write.ts";
import type { AGUIEvent, Author, Entry, Json, JsonPatch, NewEntry } from "../../shared/protocol/index.ts";
import { Timeline } from "../../shared/timeline/index.ts";

export const TEXTS = compileTextPaths(["/document", "/items/*/note"]);
export const ANA: Author = { kind: "user", id: "ana", name: "Ana" };

const through = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** What a store holds of a thread's state. */
type Stored = {
  entries: Entry[];
  updates: Uint8Array[];
  rows: StateChangeRow[];
  memories: Map<string, AgentMemory>;
};

/** A log and the shared state over it, committed and restarted as a room does it. */
export class StateWorld {
  stored: Stored = { entries: [], updates: [], rows: [], memories: new Map() };
  timeline = new Timeline();
  shared!: SharedState;
  generation = 0;
  /** Logged, not committed. */
  pending: Entry[] = [];

  constructor(state: Json = {}) {
    this.load();
    this.log({ kind: "state", run: null, patch: [{ op: "replace", path: "", value: state }], via: "patch" });
    this.shared = this.make([]);
    this.commit();
  }

  get state(): Json {
    return this.timeline.state;
  }

  get seq(): number {
    return this.timeline.seq;
  }

  log(entry: NewEntry): void {
    const placed = through({ seq: this.seq + 1, at: 1, ...entry }) as Entry;
    this.timeline.apply(placed);
    this.pending.push(placed);
  }

  commit(): void {
    const { updates, rows, memories } = this.shared.take(true);
    this.stored.entries.push(...this.pending);
    this.stored.updates.push(...updates);
    this.stored.rows.push(...through(rows));
    for (const [agent, memory] of memories) this.stored.memories.set(agent, through(memory));
    this.pending = [];
  }

  /** The process dies, or a commit fails: what was not committed never was. */
  restart(): void {
    this.pending = [];
    this.load();
  }

  /** [Y8] Nobody is there, and the document is made anew. */
  compact(): void {
    this.generation += 1;
    const { update } = freshDocument(Y.mergeUpdates(this.stored.updates), this.generation);
    this.stored.updates = [update];
    this.restart();
  }

  /** The stored changes from a run's first one on. */
  changesFrom(run: string): StateChangeRow[] {
    const first = this.stored.rows.findIndex((row) => row.run === run);
    return first < 0 ? [] : this.stored.rows.slice(first);
  }

  event(run: string, event: object): void {
    this.shared.event(this, run, run, event as AGUIEvent);
  }
  snapshot(run: string, snapshot: Json): void {
    this.event(run, { type: "STATE_SNAPSHOT", snapshot });
  }
  delta(run: string, ...delta: JsonPatch): void {
    this.event(run, { type: "STATE_DELTA", delta });
  }
  patch(patch: JsonPatch, base = this.seq, client = ""): JsonPatch {
    return this.shared.patch(this, ANA, patch, base, client);
  }

  private load(): void {
    this.timeline = new Timeline();
    for (const entry of this.stored.entries) this.timeline.apply(entry);
    this.shared?.document.destroy();
    this.shared = this.make(this.stored.updates);
  }

  private make(updates: Uint8Array[]): SharedState {
    const stored = updates.length > 0 ? Y.mergeUpdates(updates) : null;
    return new SharedState(
      TEXTS,
      this.generation,
      stored,
      () => this.timeline.state,
      through([...this.stored.memories]),
      this.seq,
    );
  }
}

/** Somebody who edits the document with Yjs, at once or when back from a journey. */
export class YPeer {
  readonly doc = new Y.Doc();
  private readonly world: StateWorld;

  constructor(world: StateWorld, id: number) {
    this.world = world;
    this.pull();
    this.doc.clientID = id;
  }

  get state(): Json {
    return stateOf(this.doc);
  }

  /** Edits the peer's own copy; nobody knows yet. */
  edit(patch: JsonPatch): void {
    const { ops } = finePatch(this.state, patch, TEXTS);
    this.doc.transact(() => writeFine(this.doc, ops, TEXTS));
  }

  text(path: readonly string[], work: (text: Y.Text) => void): void {
    let found: unknown = this.doc.getMap("state");
    for (const token of path) {
      if (found instanceof Y.Map) found = found.get(token);
      else if (found instanceof Y.Array) found = found.get(Number(token));
    }
    if (found instanceof Y.Text) work(found);
  }

  push(): void {
    const mine = Y.encodeStateAsUpdate(
      this.doc,
      Y.encodeStateVectorFromUpdate(this.world.shared.document.encode()),
    );
    this.world.shared.merge(this.world, ANA, mine, "doc");
  }

  /** Gets what is committed; nothing else leaves a room. */
  pull(): void {
    Y.applyUpdate(this.doc, Y.mergeUpdates(this.world.stored.updates));
  }
}

/** What an agent does with the state it is given. */
export type Manners = {
  /** When it resumes it goes on with its own checkpoint. */
  ignoresStateOnResume?: boolean;
  /** It keeps only these top-level keys. */
  knows?: readonly string[];
  /** The first thing it says is its checkpoint, before it looks at what it was given. */
  emitsBeforeMerging?: boolean;
};

/** An agent's side of the state. */
export class StateAgent {
  private readonly world: StateWorld;
  private readonly id: string;
  private readonly manners: Manners;
  mine: Json = {};
  run = "";
  private runs = 0;

  constructor(world: StateWorld, id: string, manners: Manners = {}) {
    this.world = world;
    this.id = id;
    this.manners = manners;
  }

  /** Its last run has ended as it wanted, so that it may have been an interrupt. */
  mayResume = false;

  /** The server stopped in the middle of its run. */
  stop(): void {
    this.run = "";
    this.mayResume = false;
  }

  private isDeaf = false;

  begin(resumes = false): void {
    this.runs += 1;
    this.run = `${this.id}-${this.runs}-${this.world.seq}`;
    const begun = this.world.shared.begin(this.run, this.id, {}, resumes);
    // An agent is called when the turn that starts its run is stored.
    this.world.commit();
    if (this.manners.emitsBeforeMerging && this.mayResume && !resumes) this.say();
    this.isDeaf = resumes && this.manners.ignoresStateOnResume === true;
    if (!this.isDeaf) this.mine = this.known(through(begun));
  }

  /** Whether it knows what lies at a path. */
  mayName(path: string): boolean {
    return this.manners.knows?.includes(path.split("/")[1] ?? "") ?? true;
  }

  /** Emits its state. */
  say(): void {
    this.isDeaf = false;
    this.world.snapshot(this.run, through(this.mine));
  }

  change(...patch: JsonPatch): void {
    if (!patch.every(({ path }) => this.mayName(path))) return;
    // Nobody could tell which of both states such a delta is for; agents that do this say their state first.
    if (this.isDeaf) return;
    this.mine = applyPatch(this.mine, patch);
    this.world.delta(this.run, ...through(patch));
  }

  end(): void {
    this.world.shared.end(this.run);
    this.run = "";
    this.mayResume = true;
  }

  private known(state: Json): Json {
    const { knows } = this.manners;
    if (!knows || typeof state !== "object" || state === null || Array.isArray(state)) return state;
    return Object.fromEntries(Object.entries(state).filter(([key]) => knows.includes(key)));
  }
}
