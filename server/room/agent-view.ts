import { applies, carryOver, namesIn } from "../../shared/json-crdt/carry-over.ts";
import { type DiffOptions, diffJson } from "../../shared/json-crdt/diff.ts";
import { fineDiff } from "../../shared/json-crdt/fine-patch.ts";
import { applyPatch, jsonEqual } from "../../shared/json-crdt/patch.ts";
import { isMembers, valueAt } from "../../shared/json-crdt/place.ts";
import { parsePointer } from "../../shared/json-crdt/pointer.ts";
import type { TextPaths } from "../../shared/json-crdt/text-paths.ts";
import type { Json, JsonPatch } from "../../shared/protocol/index.ts";
import type { StateBase } from "../agents/agent.ts";
import type { Hidden } from "./private-state.ts";

/** What is known of an agent in a thread from its earlier runs; kept with the thread. */
export type AgentMemory = {
  /**
   * The state it last emitted, without its private parts. Before it says anything in a run that does not resume,
   * what it was given there: it is taken to keep that.
   */
  held?: Json;
  /** The state it emitted last, where that is not the same. */
  emitted?: Json;
  /** What it was given last, where it has said nothing since: it may have taken that over in silence. */
  given?: Json;
  /** Top-level keys it has emitted, ever. */
  keys: string[];
  /** Its private parts. */
  hidden: Hidden;
};

/** How a run began. */
export type ViewStart = {
  /** The state it was given, without its private parts. */
  given: Json;
  memory: AgentMemory;
  /** It goes on behind an interrupt: agents with a memory of their own leave `input.state` out then. */
  resumes: boolean;
  base: StateBase;
};

/**
 * Finds out what an agent means by the states it emits ([H6]). `input.state` holds what people did since its last
 * run, but agents drop it when they resume, leave out keys they do not know, or first emit their checkpoint once
 * more. What it emits is therefore compared with what it emitted last, and turned into a patch of what it ought
 * to see: its replica.
 */
export class AgentView {
  private readonly start: ViewStart;
  private readonly texts: TextPaths;
  private readonly diff: DiffOptions | undefined;
  private readonly keys: Set<string>;
  private held: Json | undefined;
  private emitted: Json | undefined;
  /** The state as the agent itself has it, where that is not its replica's. */
  private own: Json | undefined;
  /** Something it emitted holds what only `input.state` had. */
  private hasMerged = false;
  private hasSpoken = false;

  constructor(start: ViewStart, texts: TextPaths, diff?: DiffOptions) {
    this.start = start;
    this.texts = texts;
    this.diff = diff;
    this.keys = new Set(start.memory.keys);
    const { held, emitted } = start.memory;
    this.held = start.resumes || start.base === "own" ? held : start.given;
    this.emitted = emitted;
  }

  /** What to remember for the agent's next run, but for its private parts. */
  get memory(): Omit<AgentMemory, "hidden"> {
    const { held, emitted } = this;
    const { given } = this.start;
    return {
      keys: [...this.keys],
      ...(!this.hasSpoken && held !== given && { given }),
      ...(held !== undefined && { held }),
      ...(emitted !== undefined && emitted !== held && { emitted }),
    };
  }

  /**
   * A STATE_SNAPSHOT, without its private parts.
   * @param view the state of the replica
   * @returns the patch of the replica that it means
   */
  snapshot(snapshot: Json, view: Json): JsonPatch {
    // What it says once more, before it has looked at what it was given, is not what it goes on from.
    const known = this.isKnown(snapshot);
    const repeats = known && !this.start.resumes && this.start.base !== "own";
    const patch = this.meaning(snapshot, view, known);
    this.hasSpoken = true;
    this.emitted = snapshot;
    this.held = snapshot;
    if (isMembers(snapshot)) for (const key of Object.keys(snapshot)) this.keys.add(key);
    this.own = repeats || jsonEqual(applyPatch(view, patch), snapshot) ? undefined : snapshot;
    return patch;
  }

  /** The state as the agent itself has it. @param view the state of its replica */
  ownState(view: Json): Json {
    return this.own ?? view;
  }

  /**
   * A STATE_DELTA, without its private parts.
   * @param view the state of the replica
   * @returns the patch of the replica that it means: itself, unless the agent sees another state
   * @throws PatchError when it does not apply to the state the agent has
   */
  delta(delta: JsonPatch, view: Json): JsonPatch {
    const own = this.stateFor(delta, view);
    this.own = own;
    this.hasSpoken = true;
    const next = applyPatch(own ?? view, delta);
    for (const { path } of delta) for (const key of parsePointer(path).slice(0, 1)) this.keys.add(key);
    this.held = this.heldBy(delta, next);
    this.emitted = this.held;
    if (own === undefined) return delta;
    this.own = next;
    return carryOver(own, next, view, this.texts, this.diff);
  }

  /** The state an agent's delta is made for, where that is not its replica's: one that it applies to. */
  private stateFor(delta: JsonPatch, view: Json): Json | undefined {
    const { own, held } = this;
    if (own !== undefined && applies(own, delta)) return own;
    const hasKept = this.start.resumes && !this.hasMerged && held !== undefined && !applies(view, delta);
    return hasKept && applies(held, delta) ? held : undefined;
  }

  /** What it has emitted with a delta: it may have changed its checkpoint, and not what it was given. */
  private heldBy(delta: JsonPatch, next: Json): Json {
    const { held } = this;
    if (!this.start.resumes || this.hasMerged || held === undefined || !applies(held, delta)) return next;
    return applyPatch(held, delta);
  }

  /** Whether it says what it has said, or was given, before. */
  private isKnown(snapshot: Json): boolean {
    const { held, given } = this.start.memory;
    const before = this.hasSpoken ? [this.emitted] : [this.emitted, held, given];
    return before.some((known) => known !== undefined && jsonEqual(snapshot, known));
  }

  private meaning(snapshot: Json, view: Json, known: boolean): JsonPatch {
    const { base, resumes } = this.start;
    const { held } = this;
    if (held === undefined || base === "input")
      return diffJson(view, this.withUnknown(snapshot, view), this.diff);
    // (a) It said the same once more.
    if (known) return [];
    if (base === "auto" && !this.hasMerged) this.hasMerged = this.shows(snapshot, held);
    // (c) What it changed since it spoke last, and nothing else.
    if (base === "own" || (resumes && !this.hasMerged))
      return carryOver(held, this.withUnknown(snapshot, held), view, this.texts, this.diff);
    return diffJson(view, this.withUnknown(snapshot, view), this.diff);
  }

  /** (b) A top-level key that the agent never emitted is not its to remove. */
  private withUnknown(snapshot: Json, view: Json): Json {
    if (!isMembers(snapshot) || !isMembers(view)) return snapshot;
    const kept = Object.keys(view).filter((key) => !Object.hasOwn(snapshot, key) && !this.keys.has(key));
    if (kept.length === 0) return snapshot;
    return { ...snapshot, ...Object.fromEntries(kept.map((key) => [key, view[key] as Json])) };
  }

  /**
   * Whether a snapshot holds what people put into the state since the agent emitted it: more of it than not, since
   * an agent may come to tick the same box by itself.
   */
  private shows(snapshot: Json, held: Json): boolean {
    const { given } = this.start;
    const { ops } = fineDiff(held, given, this.texts, this.diff);
    const put = ops.filter(({ kind }) => kind !== "remove");
    const shown = put.filter((op) => {
      if (op.kind === "root") return jsonEqual(snapshot, op.value);
      if (op.kind !== "insert") {
        const value = counterpart(given, op.path, given);
        return value !== undefined && jsonEqual(counterpart(given, op.path, snapshot), value);
      }
      const holder = op.path.slice(0, -1);
      const [said, kept] = [counterpart(given, holder, snapshot), counterpart(given, holder, held)];
      if (has(said, op.value) && !has(kept, op.value)) return true;
      return showsOrder(counterpart(given, holder, given), said, kept);
    });
    return shown.length * 2 > put.length;
  }
}

/** Whether a list stands in the order of another one, and not in that of a third. */
function showsOrder(given: Json | undefined, said: Json | undefined, held: Json | undefined): boolean {
  const lists = [given, said, held].map(namesIn);
  const [wanted, now, before] = lists.map((names) =>
    JSON.stringify(names.filter((name) => lists.every((other) => other.includes(name)))),
  );
  return now === wanted && now !== before;
}

/** What stands in another state where something stands in this one: elements of lists go by their names. */
function counterpart(state: Json, path: readonly string[], other: Json): Json | undefined {
  let [here, there]: (Json | undefined)[] = [state, other];
  for (const token of path) {
    const next = here === undefined ? undefined : valueAt(here, [token]);
    if (Array.isArray(here) && Array.isArray(there)) {
      const index = namesIn(there).indexOf(namesIn(here)[Number(token)] ?? "");
      there = index < 0 ? undefined : there[index];
    } else there = there === undefined ? undefined : valueAt(there, [token]);
    here = next;
  }
  return there;
}

function has(list: Json | undefined, value: Json): boolean {
  return Array.isArray(list) && list.some((item) => jsonEqual(item, value));
}
