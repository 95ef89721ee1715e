import { valueAt } from "../json-crdt/place.ts";
import { parsePointer } from "../json-crdt/pointer.ts";
import type { AGUIEvent, Entry, EntryOf, Message } from "../protocol/index.ts";
import type { ActiveRunState } from "./active-runs.ts";
import { FittedRun, type HeldMessages } from "./fitted-run.ts";
import type { Slot } from "./message-list.ts";
import { messagesSnapshot } from "./prelude.ts";
import type { Timeline } from "./timeline.ts";

/**
 * Turns the entries behind a prelude into the AG-UI events a stock client is sent ([P4]): the followed run's
 * own events as they are, everything else that changes messages as a MESSAGES_SNAPSHOT of the visible
 * list, or as `RUN_STARTED.input.messages` when it came between runs. One run is followed at a time; when it
 * ends and another is active, that one is followed next.
 *
 * What another run streams into a message is shown when the message is complete, and before the followed
 * run ends: a snapshot for each token would cost the whole thread each time.
 */
export class StockTail {
  private readonly thread: string;
  private readonly timeline: Timeline;
  private readonly messages: HeldMessages;
  private run: string | null;
  private fitted: FittedRun;
  /** Between runs: what the client holds, since it is not what the timeline shows. */
  private held: readonly Message[] | null = null;
  /** Between runs: the state changed. */
  private stateBehind = false;
  /** Text that another run wrote has not been shown. */
  private textBehind = false;
  /** The run whose RUN_FINISHED came last; only that may still fail. */
  private finished: string | null = null;

  /**
   * @param thread the thread's id, as AG-UI's threadId
   * @param timeline the thread at the prelude; this object then owns it and applies the entries to it. One made
   *   from a snapshot will do until a head moves to a turn that the snapshot did not show.
   * @param runId the run the prelude follows; default: the oldest active one
   */
  constructor(thread: string, timeline: Timeline, runId?: string) {
    this.thread = thread;
    this.timeline = timeline;
    this.messages = {
      get: (id) => shown(timeline, timeline.messages.get(id)),
      ownerOf: (toolCallId) => shown(timeline, timeline.messages.ownerOf(toolCallId)),
    };
    this.fitted = new FittedRun(this.messages, timeline.list);
    const run = (runId !== undefined && timeline.runs.get(runId)) || timeline.runs.all()[0];
    this.run = run?.runId ?? null;
    if (run) this.fitted.reopen(run.open.values());
    else {
      const last = [...timeline.turns.all()].findLast(({ agent, end }) => agent !== undefined && end);
      this.finished = last?.id ?? null;
    }
  }

  /** The events for the next entry, in order; none when it says nothing to a stock client. */
  push(entry: Entry): AGUIEvent[] {
    if (entry.kind === "event" && (entry.event.type as string) === "RUN_STARTED") return this.start(entry);
    if (entry.kind === "event" && entry.run === this.run) return this.follow(entry);
    if (this.run !== null) return this.overhear(entry);
    if (entry.kind === "event" && (entry.event.type as string) === "RUN_ERROR") return this.fail(entry);
    const before = this.timeline.list;
    const { state } = this.timeline;
    this.timeline.apply(entry);
    if (this.timeline.list !== before) this.held ??= before;
    this.stateBehind ||= this.timeline.state !== state;
    return [];
  }

  private start(entry: EntryOf<"event">): AGUIEvent[] {
    this.timeline.apply(entry);
    return this.run === null ? this.begin(entry.run, entry.event) : [];
  }

  /** RUN_STARTED, with what came since the last run. */
  private begin(runId: string, started: AGUIEvent): AGUIEvent[] {
    this.run = runId;
    this.finished = null;
    const events: AGUIEvent[] = [];
    const { list } = this.timeline;
    const held = this.held ?? list;
    const had = new Set(held.map((message) => message.id));
    const messages = list.filter((message) => !had.has(message.id));
    this.fitted = new FittedRun(this.messages, messages);
    if (messages.length > 0) {
      const input = { threadId: this.thread, runId, messages, tools: [], context: [] };
      events.push({ ...started, input });
    } else events.push(started);
    if (this.stateBehind) events.push(stateSnapshot(this.timeline.state));
    const shown = [...held, ...messages];
    if (shown.length !== list.length || shown.some((message, i) => message !== list[i]))
      events.push(...this.restated(shown));
    this.held = null;
    this.stateBehind = false;
    return events;
  }

  /** A run that failed before it started, or one that failed after it had finished. */
  private fail(entry: EntryOf<"event">): AGUIEvent[] {
    this.timeline.apply(entry);
    if (entry.late) {
      if (entry.run !== this.finished) return [];
      this.finished = null;
      return [entry.event];
    }
    const started = { type: "RUN_STARTED", threadId: this.thread, runId: entry.run } as unknown as AGUIEvent;
    const events = [...this.begin(entry.run, started), entry.event];
    this.run = null;
    return events;
  }

  private follow(entry: EntryOf<"event">): AGUIEvent[] {
    const type = entry.event.type as string;
    const fitted = this.fitted.fit(entry.event);
    this.timeline.apply(entry);
    if (entry.was) return [this.asSnapshot(entry.event)];
    const mints = type.endsWith("_START") || type === "TOOL_CALL_RESULT" || type === "ACTIVITY_SNAPSHOT";
    // The client shows what it is told of; messages of a run on another branch are taken away again.
    const isHidden = mints && !this.timeline.turns.visible(entry.run);
    if (isHidden || this.fitted.needsSnapshot) fitted.push(this.snapshot());
    if (type !== "RUN_FINISHED" && type !== "RUN_ERROR") return fitted;
    const events = [...this.caughtUp(), ...fitted];
    this.run = null;
    this.finished = type === "RUN_FINISHED" ? entry.run : null;
    const next = this.timeline.runs.all()[0];
    if (next) events.push(...this.join(next));
    return events;
  }

  /** Goes over to a run that is under way; the client has all of its messages. */
  private join(run: ActiveRunState): AGUIEvent[] {
    const started = this.begin(run.runId, run.started);
    return [...started, ...this.fitted.reopen(run.open.values())];
  }

  /** An entry that is not the followed run's own. */
  private overhear(entry: Entry): AGUIEvent[] {
    const event = entry.kind === "event" ? entry.event : null;
    const type = event?.type as string | undefined;
    const before = this.timeline.list;
    const { state } = this.timeline;
    const result = this.resultIn(entry);
    this.timeline.apply(entry);
    if (this.timeline.state !== state) {
      if (entry.kind === "state") return [stateDelta(entry.patch)];
      if (entry.kind === "text") return [this.asText(entry)];
      return [entry.kind === "event" && entry.was ? this.asSnapshot(entry.event) : (event as AGUIEvent)];
    }
    if (type === "RUN_FINISHED" || type === "RUN_ERROR") return this.caughtUp();
    if (this.timeline.list === before && entry.kind !== "messages") return [];
    if (result) return this.fitted.fit(result);
    if (type?.endsWith("_CONTENT") || type?.endsWith("_ARGS")) {
      this.textBehind = true;
      return [];
    }
    this.textBehind = false;
    return this.restated(before);
  }

  /** A new tool result as an event, which puts it behind its call; a snapshot would append it. */
  private resultIn(entry: Entry): AGUIEvent | null {
    if (entry.kind === "event") {
      const { event } = entry;
      const isNew =
        (event.type as string) === "TOOL_CALL_RESULT" && !this.messages.get(String(event.messageId));
      return isNew ? event : null;
    }
    if (entry.kind !== "message" || entry.after !== undefined || entry.message.role !== "tool") return null;
    const { id, role: _r, error, encryptedValue, ...rest } = entry.message;
    const isWhole = error === undefined && encryptedValue === undefined;
    if (!isWhole || this.messages.get(id)) return null;
    return { type: "TOOL_CALL_RESULT", messageId: id, ...rest } as unknown as AGUIEvent;
  }

  private caughtUp(): AGUIEvent[] {
    if (!this.textBehind) return [];
    this.textBehind = false;
    return [this.snapshot()];
  }

  private snapshot(): AGUIEvent {
    this.fitted.restated(this.timeline.list);
    return messagesSnapshot(this.timeline.list);
  }

  /** Takes the client from the messages it holds to those of now. It never reorders what it holds ([P3]). */
  private restated(from: readonly Message[]): AGUIEvent[] {
    const to = this.timeline.list;
    const had = new Set(from.map((message) => message.id));
    const stays = new Set(to.map((message) => message.id));
    const merged = [
      ...from.filter((message) => stays.has(message.id)),
      ...to.filter((message) => !had.has(message.id)),
    ];
    const misplaced = to.findIndex((message, i) => message.id !== merged[i]?.id);
    // What stands in the wrong order is taken away first and comes back at the end.
    const prefix = misplaced < 0 ? [] : [messagesSnapshot(to.slice(0, misplaced))];
    return [...prefix, this.snapshot()];
  }

  /** JSON Patch has no edit of a text: it is told as a whole. */
  private asText({ path }: EntryOf<"text">): AGUIEvent {
    const value = valueAt(this.timeline.state, parsePointer(path));
    return stateDelta([{ op: "replace", path, value }]);
  }

  /** A logged delta that the agent had sent as a snapshot, as the snapshot of what came of it. */
  private asSnapshot(event: AGUIEvent): AGUIEvent {
    const { delta: _d, ...rest } = event;
    return { ...rest, ...stateSnapshot(this.timeline.state) };
  }
}

function shown(timeline: Timeline, slot: Slot | undefined): Message | undefined {
  return slot && timeline.turns.visible(slot.turn) ? slot.message : undefined;
}

const stateSnapshot = (snapshot: unknown) => ({ type: "STATE_SNAPSHOT", snapshot }) as unknown as AGUIEvent;
const stateDelta = (delta: unknown) => ({ type: "STATE_DELTA", delta }) as unknown as AGUIEvent;
