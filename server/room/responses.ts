import type { RunAgentInput } from "@ag-ui/core";
import type { Clock } from "../../shared/clock.ts";
import type { AGUIEvent, Author, Message, RunErrorCode } from "../../shared/protocol/index.ts";
import type { AgentRegistry, RegisteredAgent } from "../agents/registry.ts";
import { Driver } from "../run/driver.ts";
import { EventLimits } from "../run/event-limits.ts";
import { RunFailure } from "../run/failure.ts";
import { Ingest } from "../run/ingest.ts";
import type { ThreadKey } from "../store/store.ts";
import { agentInput } from "./agent-input.ts";
import { type InputRecord, toRow } from "./input-record.ts";
import type { SharedState } from "./shared-state.ts";
import type { Turn } from "./turn.ts";

/** How long a response may go on behind its terminal event while another input waits ([R9]). */
const GRACE_MS = 1_000;

/** One response of an agent, from the call to its end. */
type Response = {
  record: InputRecord;
  ingest: Ingest;
  /** Absent until the turn that starts the run is committed: the input is safe before the agent is called. */
  driver?: Driver;
  events: AGUIEvent[];
  /** Set when the response is over; `null` when it ended by itself. */
  end?: { failure: RunFailure | null };
  noted: boolean;
  /** When its last run ended, ms; absent while a run is under way. */
  endedAt?: number;
  cancelGrace: () => void;
};

type Failure = Pick<RunFailure, "code" | "message"> & { thrown?: string | undefined };

/** What responses need of their room. */
export type ResponseHost = {
  key: ThreadKey;
  agents: AgentRegistry;
  clock: Clock;
  /** The state people and agents share. */
  state(): SharedState;
  /** Runs `work` in the room's next turn. */
  next(work: (turn: Turn) => void): void;
  /** Says what went wrong, without content. */
  warn(what: string, details: object): void;
};

/**
 * The queue of inputs and the responses under way in one room ([R1], [Q1]). A response belongs to the
 * thread: it goes on whoever is connected.
 */
export class Responses {
  private readonly host: ResponseHost;
  private readonly limits = new EventLimits();
  private readonly active = new Map<string, Response>();
  /** Queued inputs, first to run first. */
  readonly queue: InputRecord[] = [];
  /** Set while the server stops: what is queued stays so, and starts at the next boot. */
  held = false;

  constructor(host: ResponseHost) {
    this.host = host;
  }

  /** Whether a run is under way: an input with policy `reject` is refused then. */
  get busy(): boolean {
    return [...this.active.values()].some((response) => response.ingest.phase !== "ended");
  }

  /** Whether anything keeps the room in memory. */
  get pending(): boolean {
    return this.active.size + this.queue.length > 0;
  }

  /** Starts an input now, or when what is before it has ended. */
  add(turn: Turn, record: InputRecord): void {
    const ahead = this.active.size + this.queue.length;
    this.queue.push(record);
    if (ahead === 0 && !this.held) {
      this.startNext(turn, record.messages);
      return;
    }
    turn.log({
      kind: "input",
      by: record.by,
      inputId: record.inputId,
      status: "queued",
      messages: record.messages,
      place: this.queue.length,
      agent: record.agent,
      policy: record.policy,
    });
    turn.input(toRow(record));
    this.giveWay(turn);
  }

  /** Takes an input out of the queue. @returns it, or `undefined` when it is not queued */
  withdraw(turn: Turn, inputId: string, by: Author): InputRecord | undefined {
    const index = this.queue.findIndex((record) => record.inputId === inputId);
    if (index < 0) return undefined;
    const [record] = this.queue.splice(index, 1) as [InputRecord];
    this.settleInput(turn, record, "withdrawn", by);
    return record;
  }

  /** [R6] Stops the run of that id and aborts its agent. @returns whether it was under way */
  cancel(turn: Turn, runId: string, by: Author): boolean {
    const response = [...this.active.values()].find(
      ({ ingest }) => ingest.run === runId && ingest.phase !== "ended",
    );
    if (!response) return false;
    // What the agent sent before the stop was pressed counts.
    this.take(turn, response);
    if (response.ingest.phase !== "ended") {
      response.driver?.stop();
      response.ingest.cancel(turn, by);
      response.end = { failure: null };
    }
    this.afterEvents(turn, response);
    return true;
  }

  /** Ends every run under way with RUN_ERROR, as before a shutdown. */
  failAll(turn: Turn, code: RunErrorCode, message: string): void {
    for (const response of [...this.active.values()]) {
      this.take(turn, response);
      response.driver?.stop();
      this.fail(turn, response, { code, message });
      response.end = { failure: null };
      this.finish(turn, response);
    }
  }

  /** Forgets everything without logging: the room's memory is about to be replaced by the store's. */
  drop(): void {
    for (const response of this.active.values()) {
      response.driver?.stop();
      response.cancelGrace();
    }
    this.active.clear();
    this.queue.length = 0;
  }

  /**
   * Starts the first queued input when nothing is under way.
   * @param messages given when the input entry has not been logged before
   */
  startNext(turn: Turn, messages?: Message[]): void {
    if (this.held || this.active.size > 0) return;
    const record = this.queue.shift();
    if (!record) return;
    const { inputId, runId, by, policy } = record;
    const agent = this.host.agents.get(record.agent);
    const resumed = this.cancelInterrupts(turn, record);
    record.status = "running";
    turn.log({
      kind: "input",
      by,
      inputId,
      status: "running",
      runId,
      agent: record.agent,
      policy,
      ...(messages && { messages }),
    });
    for (const message of record.messages) turn.log({ kind: "message", by, turn: inputId, message });
    turn.input(toRow(record));
    turn.setInfo({ agent: record.agent });
    const state = this.host.state().begin(runId, record.agent, agent ?? {}, resumed.length > 0);
    const input = agentInput(this.host.key, turn.timeline, record, resumed, state);
    const ingest = new Ingest({
      thread: this.host.key.thread,
      agentThread: input.threadId,
      runId,
      agent: record.agent,
      agentName: agent?.name ?? record.agent,
      by,
      inputId,
      ...(resumed[0] && { resumes: resumed[0].runId }),
      given: input.messages.map((message) => message.id),
      isQueued: (id) => this.queue.some(({ messages }) => messages.some((message) => message.id === id)),
      state: (to, run, event) => this.host.state().event(to, runId, run, event, agent?.eventBytes),
      eventBytes: agent?.eventBytes ?? 0,
      limits: this.limits,
    });
    const response: Response = { record, ingest, events: [], noted: false, cancelGrace: () => {} };
    this.active.set(runId, response);
    if (agent) turn.onCommitted(() => this.launch(response, agent, input));
    else {
      // Configured when the input was queued, and no longer now.
      const message = `There is no agent "${record.agent}" on this server any more.`;
      this.fail(turn, response, { code: "AGENT_UNREACHABLE", message });
      response.end = { failure: null };
      this.afterEvents(turn, response);
    }
  }

  private launch(response: Response, agent: RegisteredAgent, input: RunAgentInput): void {
    if (this.active.get(response.record.runId) !== response || response.end) return;
    const { id, name = "" } = response.record.by;
    const note = () => {
      if (response.noted) return;
      response.noted = true;
      this.host.next((turn) => {
        response.noted = false;
        if (this.active.get(response.record.runId) !== response) return;
        this.take(turn, response);
        this.afterEvents(turn, response);
      });
    };
    response.driver = new Driver(agent, input, { user: { id, name } }, this.host.clock, {
      onEvent(event) {
        response.events.push(event);
        note();
      },
      onEnd(failure) {
        response.end = { failure };
        note();
      },
    });
  }

  /** Logs the events that have come since the last turn. */
  private take(turn: Turn, response: Response): void {
    const { ingest } = response;
    const events = response.events;
    response.events = [];
    for (const event of events) {
      try {
        ingest.event(turn, event);
      } catch (error) {
        if (!(error instanceof RunFailure)) throw error;
        response.driver?.stop();
        this.fail(turn, response, error);
        response.end = { failure: null };
        return;
      }
    }
  }

  private afterEvents(turn: Turn, response: Response): void {
    const { record, ingest, end } = response;
    if (end?.failure) this.fail(turn, response, end.failure);
    else if (end && ingest.phase !== "ended") {
      const what = ingest.phase === "waiting" ? "without starting the run" : "in the middle of the run";
      const message = `The agent's answer ended ${what}.`;
      this.fail(turn, response, { code: "AGENT_TRUNCATED", message });
    }
    response.cancelGrace();
    if (ingest.phase === "ended") {
      turn.foldDue = true;
      if (record.status === "running") this.settleRun(turn, response);
      if (!end) {
        response.endedAt ??= this.host.clock.now();
        response.cancelGrace = this.host.clock.after(GRACE_MS, () =>
          this.host.next((late) => this.giveWay(late)),
        );
      }
    } else delete response.endedAt;
    if (end) this.finish(turn, response);
  }

  /** [R5] Ends the run under way with RUN_ERROR, and tells whoever runs the server. */
  private fail(turn: Turn, { record, ingest }: Response, failure: Failure): void {
    const { code, message, thrown } = failure;
    const what = ingest.phase === "ended" ? "the agent failed after its run had ended" : "a run failed";
    const details = { run: ingest.run, code, agent: record.agent, ...(thrown && { error: thrown }) };
    ingest.fail(turn, code, message);
    turn.onCommitted(() => this.host.warn(what, details));
  }

  /** Ends responses that go on behind their terminal for too long, when somebody waits for them. */
  private giveWay(turn: Turn): void {
    for (const response of [...this.active.values()]) {
      const { endedAt, driver } = response;
      if (this.queue.length === 0 || endedAt === undefined) continue;
      if (this.host.clock.now() - endedAt < GRACE_MS) continue;
      driver?.stop();
      this.finish(turn, response);
    }
  }

  private finish(turn: Turn, response: Response): void {
    response.cancelGrace();
    this.host.state().end(response.record.runId);
    if (response.record.status === "running") this.settleRun(turn, response);
    this.active.delete(response.record.runId);
    this.startNext(turn);
  }

  private settleRun(turn: Turn, { record }: Response): void {
    const end = turn.timeline.turns.get(record.runId)?.end;
    const failed = end?.outcome === "error";
    this.settleInput(
      turn,
      record,
      failed ? "failed" : "done",
      { kind: "system" },
      failed ? end.code : undefined,
    );
  }

  private settleInput(
    turn: Turn,
    record: InputRecord,
    status: "done" | "failed" | "withdrawn",
    by: Author,
    reason?: string,
  ): void {
    record.status = status;
    turn.log({
      kind: "input",
      by,
      inputId: record.inputId,
      status,
      ...(status !== "withdrawn" && { runId: record.runId }),
      ...(reason !== undefined && { reason }),
    });
    turn.input(toRow(record));
  }

  /** [R10] A new input answers every open interrupt of the agent it goes to with "cancelled". */
  private cancelInterrupts(turn: Turn, { agent, by }: InputRecord): { id: string; runId: string }[] {
    const { interrupts, turns } = turn.timeline;
    const open = [...interrupts.values()].filter(
      ({ answered, runId }) => !answered && turns.get(runId)?.agent === agent,
    );
    for (const { id, runId } of open)
      turn.log({ kind: "answer", by, interruptId: id, runId, status: "cancelled" });
    return open;
  }
}
