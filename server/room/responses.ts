import { randomUUID } from "node:crypto";
import type { RunAgentInput } from "@ag-ui/core";
import type { Author, Message, RunErrorCode } from "../../shared/protocol/index.ts";
import type { RegisteredAgent } from "../agents/registry.ts";
import { offeredCalls } from "../run/claims.ts";
import { Driver } from "../run/driver.ts";
import { type DueRun, dueRun } from "../run/due-run.ts";
import { EventLimits } from "../run/event-limits.ts";
import { RunFailure } from "../run/failure.ts";
import { answersFor, openInterrupts } from "../run/interrupts.ts";
import { agentInput } from "./agent-input.ts";
import { setAside } from "./answers.ts";
import { AskedWith } from "./asked-with.ts";
import { branchOf } from "./branches.ts";
import { InputQueue } from "./input-queue.ts";
import { type InputRecord, type RunRecord, settleInput, toRow } from "./input-record.ts";
import { LiveThread } from "./live-thread.ts";
import { openIngest } from "./open-ingest.ts";
import type { Response, ResponseHost } from "./response.ts";
import { withOwn } from "./tool-desk.ts";
import { giveUpCalls, offerCalls } from "./tool-requests.ts";
import type { Turn } from "./turn.ts";

/** How long a response may go on behind its terminal event while another input waits ([R9]). */
const GRACE_MS = 1_000;
/** Runs a thread may have under way at once: each has a replica of the state ([H2]). */
const SLOTS = 15;

type Failure = Pick<RunFailure, "code" | "message"> & { thrown?: string | undefined };

/**
 * The queue of inputs and the responses under way in one room ([R1], [Q1]). A response belongs to the
 * thread: it goes on whoever is connected.
 */
export class Responses {
  private readonly host: ResponseHost;
  private readonly limits = new EventLimits();
  private readonly active = new Map<string, Response>();
  readonly queue = new InputQueue();
  readonly asked = new AskedWith();
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
    return this.active.size + this.queue.size > 0;
  }

  /** Starts an input now, or, as its policy says, when what is before it has ended. */
  add(turn: Turn, record: InputRecord): void {
    const { policy } = record;
    const { timeline } = turn;
    const waits = this.queue.size + offeredCalls(timeline).length > 0 || dueRun(timeline) !== null;
    const isFree = this.active.size === 0 && !waits;
    if (!this.held && (isFree || policy === "parallel"))
      return this.beginInput(turn, record, record.messages);
    if (policy !== "interrupt" && policy !== "rollback") {
      this.queue.add(turn, record);
      return this.giveWay(turn);
    }
    this.queue.add(turn, record, 1);
    this.stopAll(turn, record.by);
    this.startNext(turn);
  }

  /** The input of the run that has been under way for longest; `undefined` when none is. */
  get askedFirst(): string | undefined {
    return this.active.values().next().value?.record.input?.inputId;
  }

  /** Stops all that runs, gives up the calls that wait for clients, and lets go of responses that go on. */
  stopAll(turn: Turn, by: Author): void {
    const { held } = this;
    // What waits is not for this branch, and what comes next is for whoever stops this to say.
    this.held = true;
    for (const { ingest } of [...this.active.values()]) this.cancel(turn, ingest.run, by);
    for (const { runId } of offeredCalls(turn.timeline)) giveUpCalls(turn, runId, by);
    for (const response of [...this.active.values()]) {
      response.driver?.stop();
      this.finish(turn, response);
    }
    this.held = held;
  }

  /** Whether one more run can be under way at once. */
  get hasSlot(): boolean {
    return this.active.size < SLOTS;
  }

  /**
   * Goes on with what the answers of people were waited for.
   * @returns the run that has begun; `undefined` when none is due, or another one is under way
   */
  resume(turn: Turn): string | undefined {
    const before = new Set(this.active.keys());
    this.startNext(turn);
    return [...this.active.values()].find(({ record }) => !before.has(record.runId) && !record.input)?.record
      .runId;
  }

  /** [Q3] Offers messages to the runs under way of an agent. @returns the run that has taken them */
  steer(agent: string, messages: readonly Message[]): string | undefined {
    for (const { record, ingest, live } of this.active.values())
      if (record.agent === agent && ingest.phase === "running" && live.steer(messages)) return ingest.run;
    return undefined;
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
      response.live.takeBack(turn);
      response.end = { failure: null };
    }
    this.afterEvents(turn, response);
    return true;
  }

  /** [R6] Gives up the calls that a run has left for clients. @returns whether there were any */
  giveUp(turn: Turn, runId: string, by: Author): boolean {
    if (!giveUpCalls(turn, runId, by)) return false;
    this.startNext(turn);
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
    this.queue.clear();
  }

  /** Starts what comes next when nothing is under way: the run that goes on by itself, else the first input. */
  startNext(turn: Turn): void {
    if (this.held || this.active.size > 0) return;
    const due = dueRun(turn.timeline);
    if (due) {
      const { agent, by, runId } = due;
      const asked = this.asked.get(runId);
      return this.begin(turn, { ...asked, runId: randomUUID(), agent, by }, due);
    }
    // [K4] Calls that clients execute keep a thread busy like a run.
    if (offeredCalls(turn.timeline).length > 0) return;
    // [R10] What was said before the agent asked waits until it is answered.
    if (openInterrupts(turn.timeline).length > 0 && !this.queue.first?.interrupts) return;
    const record = this.queue.shift();
    if (record) this.beginInput(turn, record);
  }

  /** @param messages given when the input entry has not been logged before */
  private beginInput(turn: Turn, record: InputRecord, messages?: Message[]): void {
    const { inputId, runId, by, policy, agent } = record;
    if (record.interrupts) setAside(turn, record);
    record.status = "running";
    turn.log({
      kind: "input",
      by,
      inputId,
      status: "running",
      runId,
      agent,
      policy,
      ...(messages && { messages }),
    });
    for (const message of record.messages) turn.log({ kind: "message", by, turn: inputId, message });
    turn.input(toRow(record));
    turn.setInfo({ agent });
    this.begin(turn, { ...record, input: record }, answersFor(turn.timeline, agent));
  }

  private begin(turn: Turn, record: RunRecord, resume: DueRun | null): void {
    const { runId } = record;
    const agent = this.host.agents.get(record.agent);
    this.asked.keep(runId, record);
    const state = this.host.state().begin(runId, record.agent, agent ?? {}, resume !== null);
    const tools = withOwn(this.host.tools(), record.tools);
    const input = agentInput(
      this.host.key,
      turn.timeline,
      { ...record, tools },
      resume?.entries ?? [],
      state,
      agent?.hidePeople ? null : this.host.people(),
      agent?.memory === "own" ? branchOf(turn.timeline, runId) : undefined,
    );
    const ingest = openIngest(record, input, agent, resume?.runId, {
      thread: this.host.key.thread,
      queue: this.queue,
      limits: this.limits,
      state: this.host.state,
    });
    const live = new LiveThread(this.host.key.thread, record, {
      queue: this.queue,
      people: this.host.people,
      hasAgent: (id) => this.host.agents.get(id) !== undefined,
      next: (work) => this.host.next(work),
    });
    const response: Response = {
      ...{ record, tools, live, ingest },
      events: [],
      noted: false,
      cancelGrace: () => {},
    };
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
    const { by } = response.record;
    const { id, name = "" } = by.kind === "user" || by.kind === "service" ? by : { id: "system" };
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
    response.driver = new Driver(
      agent,
      input,
      { user: { id, name }, thread: response.live },
      this.host.clock,
      {
        onEvent(event) {
          response.events.push(event);
          note();
        },
        onEnd(failure) {
          response.end = { failure };
          note();
        },
      },
    );
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
    const { ingest, end } = response;
    if (end?.failure) this.fail(turn, response, end.failure);
    else if (end && ingest.phase !== "ended") {
      const what = ingest.phase === "waiting" ? "without starting the run" : "in the middle of the run";
      const message = `The agent's answer ended ${what}.`;
      this.fail(turn, response, { code: "AGENT_TRUNCATED", message });
    }
    response.cancelGrace();
    if (ingest.phase === "ended") {
      turn.foldDue = true;
      response.live.end();
      settleInput(turn, response.record);
      offerCalls(turn, ingest.run, response);
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
    const isWaited = this.queue.size > 0 || dueRun(turn.timeline) !== null;
    for (const response of [...this.active.values()]) {
      const { endedAt, driver } = response;
      if (!isWaited || endedAt === undefined) continue;
      if (this.host.clock.now() - endedAt < GRACE_MS) continue;
      driver?.stop();
      this.finish(turn, response);
    }
  }

  private finish(turn: Turn, response: Response): void {
    response.cancelGrace();
    this.host.state().end(response.record.runId);
    settleInput(turn, response.record);
    this.active.delete(response.record.runId);
    const asking = [...turn.timeline.interrupts.values(), ...turn.timeline.tools.values()];
    this.asked.forget((id) => this.active.has(id) || asking.some(({ runId }) => runId === id));
    this.startNext(turn);
  }
}
