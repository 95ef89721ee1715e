import type {
  AGUIEvent,
  Author,
  Interrupt,
  Message,
  NewEntry,
  RunErrorCode,
  RunStart,
} from "../../shared/protocol/index.ts";
import { reconcileSnapshot, type Timeline } from "../../shared/timeline/index.ts";
import { closingEvents } from "./closing-events.ts";
import type { EventLimits } from "./event-limits.ts";
import { RunFailure } from "./failure.ts";
import { legacyInterrupt } from "./legacy-interrupts.ts";
import { MessageIds } from "./message-ids.ts";

/** Where entries go: they are applied to the timeline at once and committed with the room's turn. */
export type LogWriter = {
  readonly timeline: Timeline;
  /** @throws RunFailure AGENT_TOO_BIG when the entry is over `maxBytes` as JSON; nothing is logged then */
  log(entry: NewEntry, maxBytes?: number): void;
};

/** What one response of an agent is about. */
export type IngestSpec = {
  /** Our thread id, and the id the agent knows it by. */
  thread: string;
  agentThread: string;
  runId: string;
  agent: string;
  /** Name of the agent for sentences. */
  agentName: string;
  by: Author;
  inputId?: string;
  /** The interrupted run that this one continues. */
  resumes?: string;
  /** Ids of the messages the agent was given. */
  given: Iterable<string>;
  /** Logs a STATE_SNAPSHOT or STATE_DELTA of the run with this of our ids. @throws RunFailure */
  state: (to: LogWriter, run: string, event: AGUIEvent) => void;
  /** Whether a message of that id waits in the queue. */
  isQueued: (messageId: string) => boolean;
  eventBytes: number;
  /** Of the room. */
  limits: EventLimits;
};

/**
 * Makes log entries of the verified events of one response ([R2]–[R8]). A response may hold several runs:
 * the first has our id, later ones count as further runs of the same agent and author.
 */
export class Ingest {
  private readonly spec: IngestSpec;
  private readonly given: Set<string>;
  /** Runs of this response, by our ids. */
  private readonly runs = new Set<string>();
  private ids: MessageIds | null = null;
  /** What the run under way has asked in the way of before AG-UI had an outcome for it. */
  private asked: Interrupt[] = [];
  /** `waiting`: no RUN_STARTED yet. `running`: between start and terminal. `ended`: the last run is over. */
  phase: "waiting" | "running" | "ended" = "waiting";
  /** Our id of the run under way, or of the last one. */
  run: string;

  constructor(spec: IngestSpec) {
    this.spec = spec;
    this.given = new Set(spec.given);
    this.run = spec.runId;
  }

  /**
   * Logs what one event means.
   * @throws RunFailure when the event does not belong here; the caller then ends the run with it
   */
  event(to: LogWriter, event: AGUIEvent): void {
    this.spec.limits.check(to.timeline, event, this.spec.agentName);
    event = this.idsIn(to).inEvent(event, this.run);
    switch (event.type as string) {
      case "RUN_STARTED":
        return this.start(to, event);
      case "RUN_FINISHED":
        return this.finish(to, event);
      case "RUN_ERROR":
        return this.error(to, event);
      case "MESSAGES_SNAPSHOT":
        return this.snapshot(to, event);
      case "STATE_SNAPSHOT":
      case "STATE_DELTA":
        return this.spec.state(to, this.run, event);
      case "CUSTOM": {
        const { interrupts } = to.timeline;
        const isTaken = (id: string) => interrupts.has(id) || this.asked.some((each) => each.id === id);
        const asked = legacyInterrupt(event, this.run, this.asked.length, isTaken);
        if (asked) this.asked.push(asked);
        break;
      }
      case "TOOL_CALL_RESULT": {
        // A result under the id of some other message would be lost: it gets an id of its own.
        const known = to.timeline.messages.get(event.messageId as string);
        if (known && known.message.role !== "tool")
          return this.write(to, { ...event, messageId: `${this.run}:${event.messageId}` });
      }
    }
    this.write(to, event);
  }

  /** [R5] Ends the run under way, or the one that never began, with RUN_ERROR. No effect when all is over. */
  fail(to: LogWriter, code: RunErrorCode, message: string): void {
    if (this.phase === "ended") return;
    const alone = this.phase === "waiting";
    this.phase = "ended";
    to.log({
      kind: "event",
      run: this.run,
      by: { kind: "system" },
      event: { type: "RUN_ERROR", code, message } as unknown as AGUIEvent,
      ...(alone && { start: this.runStart() }),
    });
  }

  /** [R6] Closes what is open and ends the run as cancelled; a run that has not begun begins and ends. */
  cancel(to: LogWriter, by: Author): void {
    if (this.phase === "ended") return;
    const ids = { threadId: this.spec.thread, runId: this.run };
    const write = (fields: object, start?: RunStart) =>
      to.log({
        kind: "event",
        run: this.run,
        by,
        event: fields as AGUIEvent,
        ...(start && { start }),
      });
    if (this.phase === "waiting") write({ type: "RUN_STARTED", ...ids }, this.runStart());
    for (const event of closingEvents(to.timeline.runs.get(this.run)?.open.values() ?? [])) write(event);
    write({ type: "RUN_FINISHED", ...ids, outcome: { type: "cancelled" } });
    this.phase = "ended";
  }

  private start(to: LogWriter, event: AGUIEvent): void {
    const { agentName, agentThread } = this.spec;
    const agentRun = event.runId as string;
    if (event.threadId !== agentThread)
      throw invalid(`${agentName} answered for another thread ("${event.threadId}").`);
    if (this.phase === "waiting") {
      if (agentRun !== this.spec.runId)
        throw invalid(`${agentName} answered for another run ("${agentRun}").`);
    } else {
      this.run = to.timeline.turns.get(agentRun) ? `${this.spec.runId}:${agentRun}` : agentRun;
      if (to.timeline.turns.get(this.run)) throw invalid(`${agentName} used the run id "${agentRun}" twice.`);
    }
    this.phase = "running";
    this.asked = [];
    this.runs.add(this.run);
    const { input, ...rest } = event;
    this.write(to, { ...rest, threadId: this.spec.thread, runId: this.run } as AGUIEvent, {
      start: this.runStart(),
    });
    // The in-protocol way to show others what the run was asked: unknown messages join the conversation.
    const { messages = [] } = (input ?? {}) as { messages?: Message[] };
    for (const message of this.idsIn(to).inList(messages, this.run)) {
      if (!to.timeline.messages.get(message.id))
        to.log({ kind: "message", turn: this.run, message }, this.spec.eventBytes);
    }
  }

  private finish(to: LogWriter, event: AGUIEvent): void {
    const { agentName, agentThread, thread } = this.spec;
    // One run is under way in a response, so a RUN_FINISHED is its own whatever its runId: LangGraph's adapter
    // puts an id of LangGraph's there. Another thread's is a mix-up that nobody may guess about.
    if (event.threadId !== agentThread)
      throw invalid(`${agentName} finished a run of another thread ("${event.threadId}").`);
    const outcome = event.outcome as { type: string; pendingToolCallIds?: string[] } | undefined;
    const pending = [...(to.timeline.runs.get(this.run)?.calls ?? [])].flatMap(([id, done]) =>
      done ? [] : [id],
    );
    // [R8] Clients that joined in the middle have not seen every call and could not work the list out.
    const asks = !outcome && this.asked.length > 0;
    const fill = !asks && (outcome?.type ?? "success") === "success" && !outcome?.pendingToolCallIds?.length;
    this.write(to, {
      ...event,
      threadId: thread,
      runId: this.run,
      ...(asks && { outcome: { type: "interrupt", interrupts: this.asked } }),
      ...(fill && pending.length > 0 && { outcome: { type: "success", pendingToolCallIds: pending } }),
    });
    this.phase = "ended";
  }

  private error(to: LogWriter, event: AGUIEvent): void {
    if (this.phase === "waiting") this.write(to, event, { start: this.runStart() });
    else if (this.phase === "ended") this.write(to, event, { late: true });
    else this.write(to, event);
    this.phase = "ended";
  }

  private snapshot(to: LogWriter, event: AGUIEvent): void {
    const { timeline } = to;
    const own = (id: string) => this.given.has(id) || this.runs.has(timeline.messages.get(id)?.turn ?? "");
    const { messages: given, ...rest } = event;
    const messages = this.idsIn(to).inList(given as Message[], this.run);
    const { put, drop } = reconcileSnapshot(timeline, { ...event, messages }, own);
    to.log({ kind: "messages", run: this.run, put, drop, event: rest }, this.spec.eventBytes);
  }

  private idsIn({ timeline }: LogWriter): MessageIds {
    this.ids ??= new MessageIds((id) => {
      const slot = timeline.messages.get(id);
      return slot ? !timeline.turns.visible(slot.turn) : this.spec.isQueued(id);
    });
    return this.ids;
  }

  private write(to: LogWriter, event: AGUIEvent, more?: { start?: RunStart; late?: true }): void {
    to.log({ kind: "event", run: this.run, event, ...more }, this.spec.eventBytes);
  }

  private runStart(): RunStart {
    const { agent, by, inputId, resumes, runId } = this.spec;
    const first = this.run === runId;
    return {
      agent,
      by,
      ...(first && inputId !== undefined && { inputId }),
      ...(first && resumes !== undefined && { resumes }),
    };
  }
}

function invalid(sentence: string): RunFailure {
  return new RunFailure("AGENT_INVALID", sentence);
}
