import { defined } from "../defined.ts";
import type {
  AGUIEvent,
  Entry,
  EntryOf,
  InputInfo,
  Interrupt,
  InterruptInfo,
  Json,
  Message,
  Role,
  ThreadSettings,
  TokenUsage,
  ToolInfo,
  TurnEnd,
} from "../protocol/index.ts";
import { ActiveRuns, addUsage } from "./active-runs.ts";
import { foldEvent, putBehindCall } from "./fold-event.ts";
import { foldInput } from "./fold-input.ts";
import { foldState } from "./fold-state.ts";
import { MessageList, type Slot } from "./message-list.ts";
import { TurnTree } from "./turns.ts";

/**
 * The incremental fold of a thread's log ([T1]–[T5]): messages, turns, state, runs, inputs, interrupts and
 * pending tool calls after the last applied entry. Used by the server and by the SDK, so that both always
 * agree. Values it hands out are immutable: what changed is a new object, what did not keeps its identity.
 */
export class Timeline {
  readonly turns = new TurnTree();
  readonly messages = new MessageList((turn) => this.turns.visible(turn));
  readonly runs = new ActiveRuns();
  /** The agent's state; `{}` until an agent or person says otherwise. */
  state: Json = {};
  title = "";
  archived = false;
  settings: ThreadSettings = {};
  members: Record<string, Role> = {};
  /** Inputs that run, then those that are queued, in the order in which they will run. */
  readonly inputs = new Map<string, InputInfo>();
  /** Open interrupts by id, answered ones included until their resume run begins. */
  readonly interrupts = new Map<string, InterruptInfo>();
  /** Calls that ended runs left for the application to answer, by tool call id. */
  readonly tools = new Map<string, ToolInfo>();
  /** Set when an entry showed turns that were not shown before it; who tells readers resets it. */
  showsOther = false;
  /** Token counts of all runs, one item per provider and model. */
  usage: TokenUsage[] = [];
  /** Seq up to which entries are applied; who applies only those for it ([B5]) sets it. */
  seq = 0;
  /**
   * Messages of the path to the head that this timeline does not hold, before the first one it does. What is
   * dropped among them later is not taken off: the number is exact where a snapshot or a page was taken, and
   * may be too high, never too low, after that.
   */
  before = 0;
  /** Grows with changes of inputs, interrupts, tools, and of title, archived, settings, members. */
  readonly versions = { inputs: 0, interrupts: 0, tools: 0, thread: 0 };
  private visible: View = { slots: [], messages: [], of: -1 };

  /** The visible messages with their places, in order. */
  get slots(): readonly Slot[] {
    return this.view().slots;
  }

  /** The visible messages in order: those whose turn is on the path from the root to the head. */
  get list(): readonly Message[] {
    return this.view().messages;
  }

  /** Applies the next entry of the log. Entries must come in order; gaps in seq are fine ([C4]). */
  apply(entry: Entry): void {
    this.seq = entry.seq;
    this.messages.seq = entry.seq;
    switch (entry.kind) {
      case "event":
        return this.applyEvent(entry);
      case "messages":
        return this.applyMessages(entry);
      case "message":
        return this.applyMessage(entry);
      case "input":
        this.versions.inputs += 1;
        return foldInput(this.inputs, entry);
      case "state":
      case "text":
        this.state = foldState(this.state, entry);
        return;
      case "answer":
        return this.applyAnswer(entry);
      case "tool":
        return this.applyTool(entry);
      case "head":
        // Whoever has not followed from the beginning does not hold what is shown from now on.
        if (entry.turn !== null && !this.turns.visible(entry.turn)) this.showsOther = true;
        this.turns.move(entry.turn);
        // Whoever does not hold the newest message that is shown now has nothing left to show.
        return this.messages.reached(this.messages.slots.findLast((s) => this.turns.visible(s.turn)) ?? null);
      case "thread":
        return this.applyThread(entry);
    }
  }

  private applyEvent(entry: EntryOf<"event">): void {
    const { event, run } = entry;
    switch (event.type as string) {
      case "RUN_STARTED": {
        const start = entry.start ?? { agent: "", by: entry.by ?? { kind: "system" } };
        this.turns.begin({ id: run, by: start.by, agent: start.agent });
        this.runs.begin(event, run, start);
        if (start.resumes !== undefined) this.dropAnswered(start.agent, start.resumes);
        return;
      }
      case "RUN_FINISHED":
        return this.finish(entry);
      case "RUN_ERROR": {
        if (entry.start) this.turns.begin({ id: run, by: entry.start.by, agent: entry.start.agent });
        if (entry.start?.resumes !== undefined) this.keepAnswered(entry.start.agent, entry.start.resumes);
        const { code, message } = event as { code?: string; message?: string };
        return this.endRun(entry, {
          outcome: "error",
          at: entry.at,
          ...(code && { code }),
          ...(message && { message }),
        });
      }
      case "STATE_SNAPSHOT":
      case "STATE_DELTA":
        this.state = foldState(this.state, entry);
        return;
      case "TOOL_CALL_RESULT":
        this.isDone(event.toolCallId as string);
        break;
    }
    foldEvent(this.messages, event, { turn: run, at: entry.at, seq: entry.seq });
    this.runs.follow(run, event);
  }

  private finish(entry: EntryOf<"event">): void {
    const outcome = entry.event.outcome as
      | { type: TurnEnd["outcome"]; interrupts?: Interrupt[]; pendingToolCallIds?: string[] }
      | undefined;
    const agent = this.runs.get(entry.run)?.agent ?? this.turns.get(entry.run)?.agent ?? "";
    for (const interrupt of outcome?.interrupts ?? []) {
      this.interrupts.set(interrupt.id, { ...interrupt, runId: entry.run, agent });
      this.versions.interrupts += 1;
    }
    for (const toolCallId of outcome?.pendingToolCallIds ?? []) {
      const call = this.messages.call(toolCallId)?.call;
      const { name = "", arguments: args = "" } = call?.function ?? {};
      this.tools.set(toolCallId, { runId: entry.run, toolCallId, name, args, status: "pending" });
      this.versions.tools += 1;
    }
    const { type = "success" } = outcome ?? {};
    const by = type === "cancelled" && entry.by ? { by: entry.by } : {};
    this.endRun(entry, { outcome: type, at: entry.at, ...by });
  }

  private endRun(entry: EntryOf<"event">, end: TurnEnd): void {
    const usage = (entry.event as AGUIEvent).usage as TokenUsage[] | undefined;
    this.usage = addUsage(this.usage, usage);
    this.turns.end(entry.run, { ...end, seq: entry.seq, ...(usage?.length && { usage }) });
    this.runs.end(entry.run);
  }

  private applyTool(entry: EntryOf<"tool">): void {
    const { toolCallId, runId, status, client, by, n, until } = entry;
    const tool = this.tools.get(toolCallId);
    if (!tool) return;
    const { name, args } = tool;
    // Without a number the call is given up, with its run.
    if (status === "released" && n === undefined) this.tools.delete(toolCallId);
    else {
      const now =
        status === "released" ? { status: "offered" as const } : defined({ status, client, by, until });
      this.tools.set(toolCallId, { toolCallId, runId, name, args, ...now, ...defined({ n: n ?? tool.n }) });
    }
    this.versions.tools += 1;
  }

  private applyAnswer(entry: EntryOf<"answer">): void {
    const interrupt = this.interrupts.get(entry.interruptId);
    if (!interrupt) return;
    const { by = { kind: "system" }, seq, status, payload, metadata, waits } = entry;
    const answered = defined({ by, seq, status, payload, metadata, waits });
    this.interrupts.set(entry.interruptId, { ...interrupt, answered });
    this.versions.interrupts += 1;
    const { message, runId } = interrupt;
    const said = (payload as { approved?: unknown } | null | undefined)?.approved ?? payload;
    const approved = typeof said === "boolean" ? said : undefined;
    const end = this.turns.get(runId)?.end;
    const decisions = [...(end?.decisions ?? []), defined({ by, status, message, approved })];
    if (end) this.turns.end(runId, { ...end, decisions });
  }

  /** A call has a result; one that a client has answered stays until the run goes on. */
  private isDone(toolCallId: string): void {
    if (this.tools.get(toolCallId)?.status === "answered") return;
    if (this.tools.delete(toolCallId)) this.versions.tools += 1;
  }

  private dropResults(runId: string): void {
    for (const [id, tool] of this.tools)
      if (tool.runId === runId && tool.status === "answered") this.tools.delete(id);
    this.versions.tools += 1;
  }

  /** An agent has its answers, and goes on from a run. */
  private dropAnswered(agent: string, runId: string): void {
    this.dropResults(runId);
    for (const [id, interrupt] of this.interrupts)
      if (interrupt.answered && interrupt.agent === agent) this.interrupts.delete(id);
    this.versions.interrupts += 1;
  }

  /** An agent could not be given its answers: they are not asked for again. Results are in the conversation. */
  private keepAnswered(agent: string, runId: string): void {
    this.dropResults(runId);
    for (const [id, interrupt] of this.interrupts) {
      const { answered } = interrupt;
      if (answered && interrupt.agent === agent)
        this.interrupts.set(id, { ...interrupt, answered: { ...answered, waits: true } });
    }
    this.versions.interrupts += 1;
  }

  private applyMessages(entry: EntryOf<"messages">): void {
    for (const id of entry.drop) if (this.isNews(id, entry.seq)) this.messages.drop(id);
    for (const { message, after } of entry.put) {
      const slot = this.messages.get(message.id);
      if (slot) {
        if (slot.asOf < entry.seq) this.messages.replace(slot, message);
        continue;
      }
      const before = after === null ? null : this.messages.get(after);
      // Without its neighbour the message stands outside of what this timeline holds.
      if (before === undefined || (before === null && this.before > 0)) continue;
      this.messages.reached(before);
      this.messages.insertAfter(before, message, { turn: entry.run, at: entry.at, seq: entry.seq });
    }
  }

  private applyMessage(entry: EntryOf<"message">): void {
    this.turns.begin({ id: entry.turn, by: entry.by ?? { kind: "system" } });
    const { message } = entry;
    const toolCallId = message.role === "tool" ? message.toolCallId : undefined;
    if (toolCallId !== undefined) this.isDone(toolCallId);
    const known = this.messages.get(message.id);
    if (known) return this.messages.reached(known);
    const place = { turn: entry.turn, at: entry.at, seq: entry.seq };
    const after = entry.after === undefined ? undefined : this.messages.get(entry.after);
    if (after) {
      this.messages.reached(after);
      this.messages.insertAfter(after, message, place);
    } else if (toolCallId !== undefined) putBehindCall(this.messages, message, toolCallId, place);
    else this.messages.append(message, place);
  }

  /** Whether an entry's effect on a message is not in it already. */
  private isNews(id: string, seq: number): boolean {
    return (this.messages.get(id)?.asOf ?? 0) < seq;
  }

  private applyThread(entry: EntryOf<"thread">): void {
    this.versions.thread += 1;
    if (entry.title !== undefined) this.title = entry.title;
    if (entry.archived !== undefined) this.archived = entry.archived;
    if (entry.settings) this.settings = { ...this.settings, ...entry.settings };
    for (const [id, role] of Object.entries(entry.members ?? {})) {
      const { [id]: _old, ...others } = this.members;
      this.members = role === null ? others : { ...others, [id]: role };
    }
  }

  private view(): View {
    const { messages: list, turns } = this;
    const { replaced } = list;
    let { slots, messages, of } = this.visible;
    // Both only grow: the sum stands still when both do.
    const now = list.orderVersion + turns.pathVersion;
    if (of !== now || replaced.size > PATCHED) {
      slots = kept(
        slots,
        list.slots.filter((slot) => turns.visible(slot.turn)),
      );
      messages = kept(
        messages,
        slots.map((slot) => slot.message),
      );
    } else
      for (const slot of replaced) {
        // From the end, where messages are written.
        const index = slots.lastIndexOf(slot);
        if (index < 0 || messages[index] === slot.message) continue;
        messages = messages.slice();
        messages[index] = slot.message;
      }
    replaced.clear();
    this.visible = { slots, messages, of: now };
    return this.visible;
  }
}

/** The visible slots and their messages, and the versions they are of. */
type View = { slots: Slot[]; messages: Message[]; of: number };

/** Up to how many replaced messages are put into the view one by one; with more it is made anew. */
const PATCHED = 8;

/** `next`, or `old` when both hold the same items. */
function kept<T>(old: T[], next: T[]): T[] {
  return old.length === next.length && old.every((item, i) => item === next[i]) ? old : next;
}
