import type { Author, Entry, Json, Thread } from "../react/index.ts";
import { type Plan, readPlan, stepKey } from "./plan.ts";
import { at } from "./shared-state.ts";

/** Who changed something last, and when this window heard of it, ms. An agent's id stands as an author's. */
export type Changed = { readonly by: Author; readonly at: number };

/** What is known of what a run did to the state. */
export type RunChange =
  | { readonly kind: "none" | "changed" | "unknown" }
  | { readonly kind: "undone"; readonly by: Author };

/**
 * Who changed which part of the state. It knows what this window has heard since it follows the thread, and
 * nothing about what was before.
 */
export interface StateChanges {
  /** Follows the thread. @returns stops that; what was learnt stays until it begins anew */
  follow(): () => void;
  /** Calls the listener when something became known. Returns the way out. */
  subscribe(listener: () => void): () => void;
  /** Who changed a step last, by its key. */
  ofStep(key: string): Changed | undefined;
  /** Who changed the document last. */
  ofDocument(): Changed | undefined;
  /** What a run did; the same object until more is known. */
  ofRun(runId: string): RunChange;
}

const UNKNOWN: RunChange = { kind: "unknown" };
const NONE: RunChange = { kind: "none" };
const CHANGED: RunChange = { kind: "changed" };

type Op = { op: string; path: string; from?: string | undefined; value?: unknown };

/** Makes {@link StateChanges} of a thread. */
export function createStateChanges(thread: Thread): StateChanges {
  const listeners = new Set<() => void>();
  const steps = new Map<string, Changed>();
  const runs = new Map<string, RunChange>();
  let document: Changed | undefined;
  /** What the state was when it was last looked at. */
  let before: { state: Json; plan: Plan | null } = { state: {}, plan: null };

  const look = () => {
    before = { state: thread.state, plan: readPlan(thread.state) };
  };
  const forget = () => {
    steps.clear();
    runs.clear();
    document = undefined;
    look();
  };

  const tell = () => {
    for (const listener of listeners) listener();
  };

  const heard = (items: readonly Entry[]) => {
    const now = { state: thread.state, plan: readPlan(thread.state) };
    const order = (before.plan?.items ?? []).map((item) => stepKey(item));
    let news = false;
    for (const entry of items) {
      const { ops, by } = readEntry(thread, entry);
      if (noteRun(runs, entry, ops.length > 0)) news = true;
      if (!by || ops.length === 0) continue;
      const mark = { by, at: Date.now() };
      for (const op of ops) {
        if (touches(op.path, "/document") && at(now.state, ["document"]) !== undefined)
          if (op.path.startsWith("/document") || !same(before.state, now.state)) document = mark;
        for (const key of stepsOf(op, before.plan, now.plan, order)) steps.set(key, mark);
      }
      news = true;
    }
    before = now;
    if (news) tell();
  };

  return {
    follow() {
      forget();
      const ends = [
        thread.on("entries", heard),
        thread.on("snapshot", () => {
          forget();
          tell();
        }),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ofStep: (key) => steps.get(key),
    ofDocument: () => document,
    ofRun: (runId) => runs.get(runId) ?? UNKNOWN,
  };
}

/** Whether the document is the same one in both. */
function same(a: Json, b: Json): boolean {
  return at(a, ["document"]) === at(b, ["document"]);
}

/** What an entry changed in the state, and who did that. */
function readEntry(thread: Thread, entry: Entry): { ops: readonly Op[]; by: Author | undefined } {
  if (entry.kind === "state") return { ops: entry.patch, by: entry.by };
  if (entry.kind === "text") {
    const by = entry.run === null ? entry.by : agentOf(thread, entry.run);
    return { ops: [{ op: "text", path: entry.path }], by };
  }
  if (entry.kind !== "event" || (entry.event.type as string) !== "STATE_DELTA")
    return { ops: [], by: undefined };
  return { ops: entry.event.delta as readonly Op[], by: agentOf(thread, entry.run) };
}

function agentOf(thread: Thread, run: string): Author | undefined {
  const agent =
    thread.runs.find(({ runId }) => runId === run)?.agent ?? thread.turns.find(({ id }) => id === run)?.agent;
  return agent === undefined ? undefined : { kind: "agent", id: agent };
}

/** Notes what an entry says about a run. @returns whether that is new */
function noteRun(runs: Map<string, RunChange>, entry: Entry, changes: boolean): boolean {
  const note = (run: string, change: RunChange) => {
    if (runs.get(run) === change) return false;
    runs.set(run, change);
    return true;
  };
  if (entry.kind === "state" && entry.reverts !== undefined)
    return note(entry.reverts, { kind: "undone", by: entry.by ?? { kind: "system" } });
  if (entry.kind === "event" && (entry.event.type as string) === "RUN_STARTED") return note(entry.run, NONE);
  const writes = entry.kind === "event" || entry.kind === "text";
  return writes && changes && entry.run !== null ? note(entry.run, CHANGED) : false;
}

/** Whether what is at one pointer lies at, in or around what is at the other. */
function touches(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

/**
 * The steps an operation changed.
 * @param order keys of the steps, before this operation; it is kept up
 */
function stepsOf(op: Op, before: Plan | null, now: Plan | null, order: string[]): readonly string[] {
  if (!now || !touches(op.path, now.path)) return [];
  const within = op.path.slice(now.path.length + 1);
  // The whole plan was written anew: those count that are others than before.
  if (within === "" || op.path.length < now.path.length) {
    order.splice(0, order.length, ...now.items.map((item) => stepKey(item)));
    const old = new Map(before?.items.map((item) => [stepKey(item), JSON.stringify(item)]));
    return now.items.flatMap((item) =>
      old.get(stepKey(item)) === JSON.stringify(item) ? [] : [stepKey(item)],
    );
  }
  const [first = "", ...deeper] = within.split("/");
  const index = first === "-" ? order.length : Number(first);
  if (deeper.length > 0) return order[index] === undefined ? [] : [order[index]];
  if (op.op === "remove") {
    order.splice(index, 1);
    return [];
  }
  let key = stepKey(op.value as Json | undefined);
  if (op.from !== undefined) {
    const from = op.from.startsWith(`${now.path}/`) ? Number(op.from.slice(now.path.length + 1)) : -1;
    key = order[from] ?? "";
    if (op.op === "move" && from >= 0) order.splice(from, 1);
  }
  order.splice(index, op.op === "replace" ? 1 : 0, key);
  return key === "" ? [] : [key];
}
