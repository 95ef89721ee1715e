import { EventType, type StateDeltaEvent, type StateSnapshotEvent } from "@ag-ui/core";
import { clip, inMarkdown } from "./wording.ts";

/** How far a step of the plan is. */
export type StepStatus = "pending" | "active" | "done";

/** A step as the script reads it; `place` is its index in the state's `plan`. */
export type PlanStep = { place: number; title: string; status: StepStatus };

type Item = Record<string, unknown>;

const isObject = (value: unknown): value is Item =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The part of the shared state that Planner writes: `title` and `plan: [{id, title, status}]`. Starts from
 * the state the run was given and turns each change into the event that tells it. Everything else in the
 * state, unknown fields and unknown items of the plan included, is left as people made it.
 */
export class PlanBoard {
  private readonly runId: string;
  private readonly rest: Item;
  private title: string;
  private items: unknown[];
  private made = 0;

  constructor(state: unknown, runId: string) {
    this.runId = runId;
    this.rest = isObject(state) ? state : {};
    this.title = typeof this.rest.title === "string" ? this.rest.title : "";
    this.items = Array.isArray(this.rest.plan) ? [...this.rest.plan] : [];
  }

  /** The plan's title, shortened and safe inside Markdown; empty when there is none. */
  get name(): string {
    return inMarkdown(clip(this.title, 80));
  }

  /** The steps there are, in order, long titles shortened. A status nobody knows counts as pending. */
  get steps(): PlanStep[] {
    return this.items.flatMap((item, place) => {
      if (!isObject(item)) return [];
      const title = typeof item.title === "string" && clip(item.title, 80);
      const status = item.status === "active" || item.status === "done" ? item.status : "pending";
      return [{ place, title: title || `Step ${place + 1}`, status }];
    });
  }

  /** The steps that are not done, the active ones first. */
  get open(): PlanStep[] {
    const open = this.steps.filter((step) => step.status !== "done");
    return [...open.filter((s) => s.status === "active"), ...open.filter((s) => s.status === "pending")];
  }

  /**
   * The whole state, to be told before the first change; `title` replaces the plan's title.
   * @param more what else in it is another one now
   */
  snapshot(title?: string, more: object = {}): StateSnapshotEvent {
    if (title !== undefined) this.title = title;
    const isThere = this.title !== "" || this.items.length > 0;
    const own = isThere ? { title: this.title, plan: this.items } : {};
    return { type: EventType.STATE_SNAPSHOT, snapshot: structuredClone({ ...this.rest, ...own, ...more }) };
  }

  /** Forgets the steps there are; told by the next {@link snapshot}. */
  clear(): void {
    this.items = [];
  }

  /** Appends a pending step. */
  add(title: string): StateDeltaEvent {
    const taken = new Set(this.items.map((item) => (isObject(item) ? item.id : undefined)));
    let id: string;
    do id = `${this.runId}-s${++this.made}`;
    while (taken.has(id));
    const item = { id, title, status: "pending" };
    this.items.push(item);
    return { type: EventType.STATE_DELTA, delta: [{ op: "add", path: "/plan/-", value: { ...item } }] };
  }

  /** Sets the status of steps, by their place, in one patch. */
  set(...changes: [place: number, status: StepStatus][]): StateDeltaEvent {
    const delta = changes.map(([place, status]) => {
      const item = this.items[place] as Item;
      // an item that somebody added by hand may have no status yet, and nothing can be replaced there
      const op = "status" in item ? ("replace" as const) : ("add" as const);
      this.items[place] = { ...item, status };
      return { op, path: `/plan/${place}/status`, value: status };
    });
    return { type: EventType.STATE_DELTA, delta };
  }
}
