import type { AbstractAgent } from "@ag-ui/client";
import type { BaseEvent, EventType, RunAgentInput } from "@ag-ui/core";
import type { Observable } from "rxjs";
import type { Message } from "../../shared/protocol/index.ts";

/** What a run gets beside its AG-UI input when the agent lives in this process. */
export type AgentContext = {
  /** Aborted when the run is cancelled or given up; stop working and return. */
  signal: AbortSignal;
  /** Who asked for the run. */
  user: { id: string; name: string };
  /** The thread it runs in. */
  thread: AgentThread;
};

/** What an agent of this process can do in the thread beside its run. After the run nothing of it does anything. */
export type AgentThread = {
  readonly id: string;
  /** The people who are here now, each once. */
  people(): { id: string; name: string }[];
  /**
   * Takes messages of people into the run that is under way ([Q3]).
   * @param listener gets what somebody submits with `steer`; only when it returns `true` the run has taken it, else it
   *   waits its turn like any other input
   * @returns the way out
   */
  on(event: "steer", listener: (messages: readonly Message[]) => boolean): () => void;
  /**
   * Has another agent go on when this run is over, before all that waits, in the name of whoever asked: it gets the
   * same messages, state and context. The last one named counts.
   * @throws RangeError when the server has no such agent
   */
  handoff(agent: string): void;
};

/**
 * An AG-UI event as an agent writes it, its type as text: `{ type: "RUN_STARTED", threadId, runId }`. What else
 * belongs to which type is checked when it is sent.
 */
export type AgentEvent = BaseEvent | { type: `${EventType}`; [field: string]: unknown };

/** Events as an Observable, an async iterable, or a function that gives either when it is called. */
export type EventSource =
  | Observable<AgentEvent>
  | AsyncIterable<AgentEvent>
  | (() => Observable<AgentEvent> | AsyncIterable<AgentEvent>);

/** An agent that is a function. */
export type AgentFunction = (input: RunAgentInput, context: AgentContext) => EventSource;
/** An agent that is an object with a `run` method. */
export type AgentObject = { run: AgentFunction };
/** Anything that can be registered as an agent: an AG-UI `AbstractAgent`, a function, an object with `run`. */
export type Agent = AbstractAgent | AgentFunction | AgentObject;

/** Per-agent settings; times in ms. */
export type AgentOptions = {
  agent: Agent;
  /** What people see; default: the id. */
  name?: string;
  /** How long the agent may take to answer at all (HTTP: to the response head). Default 10,000. */
  connectMs?: number;
  /** How long it may be silent between two events. Default 300,000. */
  idleMs?: number;
  /** Largest single event as JSON, in bytes. Default 8 MiB. */
  eventBytes?: number;
  /**
   * Pointers to the parts of its state that are its own: kept for it, and shown to nobody. Default: what LangChain
   * and CopilotKit keep there (`/messages`, `/tools`, `/copilotkit`, `/ag-ui`), where it looks like theirs.
   */
  privateState?: readonly string[];
  /**
   * Which state its STATE_SNAPSHOTs build on: `input`, what it was given; `own`, what it emitted last, because it
   * leaves `input.state` out; `auto` (default) finds out.
   */
  stateBase?: StateBase;
  /**
   * Whether it remembers conversations by their thread id, as LangGraph does: then each branch has an id of its own for
   * it, so that what was left is not remembered ([T7]). Default: `own` for agents behind a URL, `none` for others.
   */
  memory?: "own" | "none";
  /**
   * Whether it is not told who takes part in a conversation of several people. Default: the server's option of that
   * name, which is no.
   */
  hidePeople?: boolean;
};

/** See {@link AgentOptions.stateBase}. */
export type StateBase = "auto" | "input" | "own";
