import type { StateLimits } from "../../shared/json-crdt/check.ts";
import type { DiffOptions } from "../../shared/json-crdt/diff.ts";
import {
  doneChanges,
  type FineOp,
  type FinePatch,
  fineDiff,
  finePatch,
} from "../../shared/json-crdt/fine-patch.ts";
import { movePatch, toPatch } from "../../shared/json-crdt/moves.ts";
import { applyPatch, PatchError } from "../../shared/json-crdt/patch.ts";
import { valueAt } from "../../shared/json-crdt/place.ts";
import { parsePointer } from "../../shared/json-crdt/pointer.ts";
import { NO_TEXTS, type TextPaths } from "../../shared/json-crdt/text-paths.ts";
import type { StateChange } from "../../shared/json-crdt/y-read.ts";
import type { AGUIEvent, Author, EntryOf, Json, JsonPatch } from "../../shared/protocol/index.ts";
import type { AgentOptions } from "../agents/agent.ts";
import { RunFailure } from "../run/failure.ts";
import type { LogWriter } from "../run/ingest.ts";
import { AgentPlaces } from "./agent-places.ts";
import { type AgentMemory, AgentView } from "./agent-view.ts";
import { asSent, type Said } from "./as-sent.ts";
import { SharedDocument } from "./document.ts";
import { Rejection } from "./port.ts";
import { PrivateParts, withHidden } from "./private-state.ts";
import { RecentChanges, stale, whole } from "./recent-changes.ts";
import { revertRun, type StateChangeRow, type StateOp, stateBefore, textOp } from "./state-changes.ts";
import { StateSize } from "./state-size.ts";
import { encode, refuseLarge } from "./turn.ts";
import type { UpdateVerdict } from "./update-check.ts";

/** How an agent's states are to be read. */
export type StateOptions = Pick<AgentOptions, "privateState" | "stateBase">;

/** A run that writes the state. */
type StateRun = { slot: number; agent: string; view: AgentView; parts: PrivateParts };

/** What an agent said, and what that means for its replica. */
type Meaning = { said: Said; meant: JsonPatch };

const NO_MEMORY: AgentMemory = { keys: [], hidden: {} };

/**
 * The state of a thread that people and agents change at once ([H1]–[H14]). Whatever changes it
 * goes through here: it becomes one transaction of the document, and entries that say the same.
 */
export class SharedState {
  readonly document: SharedDocument;
  private readonly texts: TextPaths;
  private readonly diff: DiffOptions | undefined;
  private readonly memories: Map<string, AgentMemory>;
  private readonly runs = new Map<string, StateRun>();
  /** Where runs write. */
  readonly places = new AgentPlaces();
  private readonly recent: RecentChanges;
  private rows: StateChangeRow[] = [];
  private readonly remembered = new Set<string>();
  /** Agents with a run that begins: what they are given is stored before they are called. */
  private readonly beginning = new Set<string>();
  private readonly logged: () => Json;
  private readonly size: StateSize;

  /**
   * @param state what the log says the state is
   * @param stored the document as one update; made of the state when there is none
   * @param memories what is known of agents from earlier runs, by id
   * @param seq where the log stands; of what lies before, nothing is known here
   * @param limits of the state, where they differ from the defaults
   */
  constructor(
    texts: TextPaths,
    generation: number,
    stored: Uint8Array | null,
    state: () => Json,
    memories: Iterable<readonly [string, AgentMemory]> = [],
    seq = 0,
    diff?: DiffOptions,
    limits?: StateLimits,
  ) {
    this.recent = new RecentChanges(seq);
    this.texts = texts;
    this.logged = state;
    this.size = new StateSize(state, limits);
    this.diff = diff;
    this.memories = new Map(memories);
    this.document = new SharedDocument(texts, generation, stored, state);
    if (!stored) this.document.edit(finePatch({}, [{ op: "replace", path: "", value: state() }], texts).ops);
  }

  /**
   * A run begins, and takes a replica of its own.
   * @param resumes it goes on behind an interrupt
   * @returns the state it is to be given
   * @throws Rejection busy when fifteen runs are under way
   */
  begin(run: string, agent: string, options: StateOptions, resumes: boolean): Json {
    const slot = this.document.begin();
    if (slot === null) throw new Rejection("busy", "This thread has as many runs under way as it may have.");
    const given = this.logged();
    const memory = this.memories.get(agent) ?? NO_MEMORY;
    const start = { given, memory, resumes, base: options.stateBase ?? "auto" };
    const view = new AgentView(start, this.texts, this.diff);
    const at = { slot, agent, view, parts: new PrivateParts(options.privateState) };
    this.remember(at);
    this.beginning.add(agent);
    this.runs.set(run, at);
    return withHidden(given, memory.hidden);
  }

  /** A run is over: what others did meanwhile reaches its replica. */
  end(run: string): void {
    const at = this.runs.get(run);
    if (!at) return;
    this.runs.delete(run);
    if (this.runs.size === 0) this.places.clear();
    this.document.end(at.slot);
  }

  /**
   * Logs a STATE_SNAPSHOT or STATE_DELTA of a run, as one event that says what it changed, and edits of text
   * fields behind it ([H10]).
   * @param run the run that took the replica
   * @param logged the run the event is logged under: a response may hold several
   * @throws RunFailure when the state it makes may not stand
   */
  event(
    to: LogWriter,
    run: string,
    logged: string,
    event: AGUIEvent,
    maxBytes = Number.POSITIVE_INFINITY,
  ): void {
    const at = this.runs.get(run);
    if (!at) throw new Error("the run has no replica");
    // Before anything changes: what was merged cannot be taken back.
    refuseLarge(encode(event), maxBytes);
    const { snapshot, delta: _, ...rest } = event;
    const isSnapshot = (event.type as string) === "STATE_SNAPSHOT";
    const view = this.document.viewOf(at.slot);
    const delta = event.delta as JsonPatch;
    let meaning: Meaning;
    let fine: FinePatch;
    try {
      meaning = isSnapshot ? this.fromSnapshot(at, snapshot as Json, view) : this.fromDelta(at, delta, view);
      fine = finePatch(view, meaning.meant, this.texts, this.diff);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      // [H12] It changes nothing, and the run goes on.
      meaning = { said: { delta: [] }, meant: [] };
      fine = { ops: [], after: view };
    }
    const { said, meant } = meaning;
    // [H7] What the framework itself said of its state holds what is hidden too.
    if (Object.keys(this.memoryOf(at).hidden).length > 0) rest.rawEvent = undefined;
    const unfit = this.size.unfitness(fine.ops);
    if (unfit) throw new RunFailure(unfit.isTooBig ? "AGENT_TOO_BIG" : "AGENT_INVALID", refused(unfit.why));
    const parted = this.document.hasParted(at.slot);
    const before = this.logged();
    const change = this.document.editFrom(at.slot, fine);
    const inWords = parted || fine.ops.some(({ kind }) => kind === "text");
    const patch = inWords ? change.patch : isSnapshot ? toPatch(fine.ops) : meant;
    // Most of what agents say is what becomes of the state: only where it may not be is that looked at.
    const isAsSaid = !parted && "delta" in said && said.delta === meant;
    const sent = isAsSaid ? undefined : asSent(said, before, { ...change, patch }, this.diff);
    const entry = {
      kind: "event" as const,
      run: logged,
      event: { ...rest, type: "STATE_DELTA", delta: patch } as unknown as AGUIEvent,
      ...(isSnapshot && { was: "STATE_SNAPSHOT" as const }),
      ...(sent && { sent }),
    };
    to.log(entry);
    const ops = parted ? finePatch(before, change.patch, this.texts, this.diff).ops : fine.ops;
    this.keep(to, { run: logged }, ops, change.texts);
    this.remember(at);
  }

  /**
   * A person's patch ([H14]).
   * @param base seq of the last entry the person's client had applied; its own earlier patches count as applied
   * @param client which client it is
   * @returns the patch as it was applied
   * @throws Rejection stale when what it names is gone, or the base is too old; bad_message when it does not
   *   apply at all; too_big
   */
  patch(to: LogWriter, by: Author, patch: JsonPatch, base: number, client = ""): JsonPatch {
    const state = this.logged();
    if (base > to.timeline.seq) throw stale();
    const moved = whole(() => movePatch(patch, this.recent.behind(base, client), state), false);
    if (!moved) throw stale();
    const patched = moved.patch.map((operation) =>
      this.recent.rewritten(operation, state, this.texts, base, client),
    );
    const fine = whole(() => finePatch(state, patched, this.texts, this.diff), base < to.timeline.seq);
    const unfit = this.size.unfitness(fine.ops);
    if (unfit) throw new Rejection(unfit.isTooBig ? "too_big" : "bad_message", refused(unfit.why));
    const change = this.document.edit(fine.ops, by);
    const said = fine.ops.some(({ kind }) => kind === "text") ? change.patch : patched;
    const { seq } = to.timeline;
    this.logChange(to, { run: null, by, via: "patch" }, said, fine.ops, change.texts);
    this.recent.isBy(client, seq, moved.shapes);
    return patched;
  }

  /** Whether an update of a Yjs peer may be merged. @param draft characters the draft may have */
  check(update: Uint8Array, draft: number): UpdateVerdict {
    return this.document.check(update, this.size.room, draft);
  }

  /**
   * Takes in what a Yjs peer did; the update must have been checked.
   * @param peer names its connection
   * @returns whether it changed the state
   */
  merge(to: LogWriter, by: Author, update: Uint8Array, via: "doc" | "door", peer = ""): boolean {
    const before = this.logged();
    const change = this.document.merge(update, peer);
    if (change.patch.length + change.texts.length === 0) return false;
    const ops = doneChanges(before, change.patch, this.texts, this.diff);
    this.logChange(to, { run: null, by, via }, change.patch, ops, change.texts);
    return true;
  }

  /**
   * Takes back what a run did to the state, where others have left it alone ([H9]).
   * @param rows the stored changes from the run's first one on
   * @returns pointers of what was left
   */
  revert(to: LogWriter, by: Author, run: string, rows: readonly StateChangeRow[]): string[] {
    const last = rows.at(-1)?.seq ?? 0;
    const all = [...rows, ...this.recent.after(last)];
    const { ops, skipped } = revertRun(all, run, this.logged());
    const change = this.document.edit(ops, by);
    const source = { run: null, by, via: "revert" as const, reverts: run };
    this.logChange(to, source, change.patch, ops, change.texts);
    return skipped;
  }

  /**
   * Makes the state what it was at a seq ([T6]).
   * @param stored the stored changes behind it
   */
  goBack(to: LogWriter, by: Author, stored: readonly StateChangeRow[], seq: number): void {
    const rows = [...stored, ...this.recent.after(stored.at(-1)?.seq ?? seq)];
    const { ops } = fineDiff(this.logged(), stateBefore(rows, this.logged()), this.texts, this.diff);
    if (ops.length === 0) return;
    const change = this.document.edit(ops, by);
    this.logChange(to, { run: null, by, via: "revert" }, change.patch, ops, change.texts);
  }

  /**
   * What is to be stored with the next commit, since this was last called.
   * @param all what is known of agents whose run is under way too: it may be as large as the state
   */
  take(all: boolean): {
    updates: Uint8Array[];
    /** The peer that all of the updates are of. */
    by: string | null;
    rows: StateChangeRow[];
    memories: [string, AgentMemory][];
  } {
    const { rows } = this;
    this.rows = [];
    const busy = new Set([...this.runs.values()].map(({ agent }) => agent));
    const memories: [string, AgentMemory][] = [];
    for (const agent of this.remembered) {
      if (!all && busy.has(agent) && !this.beginning.has(agent)) continue;
      this.beginning.delete(agent);
      this.remembered.delete(agent);
      memories.push([agent, this.memories.get(agent) as AgentMemory]);
    }
    return { ...this.document.takeUpdates(), rows, memories };
  }

  /** Hands over what a run's agent sees, and what its replica holds: for tests, where both are to be equal. */
  checkRun(run: string, look: (view: Json, replica: Json) => void): void {
    const { slot } = this.runs.get(run) ?? {};
    if (slot !== undefined) look(this.document.viewOf(slot), this.document.replicaState(slot));
  }

  private fromSnapshot(at: StateRun, snapshot: Json, view: Json): Meaning {
    const { shown, hidden } = at.parts.split(snapshot, this.memoryOf(at).hidden);
    this.memories.set(at.agent, { ...this.memoryOf(at), hidden });
    return { said: { snapshot: shown }, meant: at.view.snapshot(shown, view) };
  }

  private fromDelta(at: StateRun, delta: JsonPatch, view: Json): Meaning {
    if (!at.parts.concerns(delta)) return { said: { delta }, meant: at.view.delta(delta, view) };
    const memory = this.memoryOf(at);
    const own = at.view.ownState(view);
    const { shown, hidden } = at.parts.split(
      applyPatch(withHidden(own, memory.hidden), delta),
      memory.hidden,
    );
    this.memories.set(at.agent, { ...memory, hidden });
    const plain = toPatch(fineDiff(own, shown, NO_TEXTS, this.diff).ops);
    return { said: { delta: plain }, meant: at.view.delta(plain, view) };
  }

  private memoryOf({ agent }: StateRun): AgentMemory {
    return this.memories.get(agent) ?? NO_MEMORY;
  }

  private remember(at: StateRun): void {
    this.memories.set(at.agent, { ...at.view.memory, hidden: this.memoryOf(at).hidden });
    this.remembered.add(at.agent);
  }

  private logChange(
    to: LogWriter,
    source: Pick<EntryOf<"state">, "run" | "via" | "reverts"> & { by: Author },
    patch: JsonPatch,
    ops: readonly FineOp[],
    texts: StateChange["texts"],
  ): void {
    if (patch.length > 0 || texts.length === 0 || source.reverts !== undefined)
      to.log({ kind: "state", patch, ...source });
    this.keep(to, source, ops, texts);
  }

  /** Logs edits of text fields, and keeps what takes each change back. */
  private keep(
    to: LogWriter,
    { run, by, reverts }: { run: string | null; by?: Author; reverts?: string },
    ops: readonly FineOp[],
    texts: StateChange["texts"],
  ): void {
    this.size.changed(ops);
    const plain = ops.filter((op): op is FineOp & StateOp => op.kind !== "text");
    const back = reverts === undefined ? {} : { reverts };
    if (plain.length > 0 || reverts !== undefined)
      this.row({ seq: to.timeline.seq, run, ops: plain, ...back });
    for (const { path, edits } of texts) {
      const tokens = parsePointer(path);
      const text = String(valueAt(this.logged(), tokens));
      to.log({ kind: "text", run, path, edits, ...(by && { by }) });
      this.places.edited(run, path, edits);
      this.row({ seq: to.timeline.seq, run, ops: [textOp(tokens, edits, text)], ...back });
    }
  }

  private row(row: StateChangeRow): void {
    this.rows.push(row);
    this.recent.add(row);
  }
}

function refused(why: string): string {
  return `The state stays as it was. ${why}`;
}
