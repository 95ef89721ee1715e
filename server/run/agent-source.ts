import { setImmediate as onNextTurn } from "node:timers";
import { setImmediate } from "node:timers/promises";
import { AbstractAgent, CompatibilityBoundary, HttpAgent, type Middleware } from "@ag-ui/client";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { catchError, defer, from, isObservable, map, type Observable, tap } from "rxjs";
import type { Clock } from "../../shared/clock.ts";
import type { Agent, AgentContext, EventSource } from "../agents/agent.ts";
import type { RegisteredAgent } from "../agents/registry.ts";
import { RunFailure } from "./failure.ts";
import { guardHttp, type HttpStage } from "./http-guard.ts";

/** One call of an agent: its raw events, how far the transport is, and how to stop it. */
export type AgentCall = {
  /** Cold; the agent is called on subscription. Already through the stock compatibility boundary. */
  events: Observable<BaseEvent>;
  /** Absent for agents in this process. */
  http?: HttpStage;
  /** Stops the agent's work; the HTTP request of a remote one is aborted. */
  abort(): void;
};

/**
 * Prepares one call of an agent, whatever its kind, so that all kinds look alike from here on.
 * @param registered the agent with its settings
 * @param input what it is given; it may keep and change this object
 * @param context second argument of agents in this process
 */
export function callAgent(
  registered: RegisteredAgent,
  input: RunAgentInput,
  context: Omit<AgentContext, "signal">,
  clock: Clock,
): AgentCall {
  const abort = new AbortController();
  const { agent, name } = registered;
  const plain = map((event: BaseEvent) => detached(event, name));
  if (!(agent instanceof AbstractAgent)) {
    const run = () => open(registered, agent, input, { ...context, signal: abort.signal }).pipe(plain);
    return { events: throughBoundary([], run, input), abort: () => abort.abort() };
  }
  // Stock agents keep messages, state and an abort controller for one conversation: each run gets its own.
  const own = agent.clone() as AbstractAgent;
  own.threadId = input.threadId;
  const http = own instanceof HttpAgent ? guardHttp(own, registered, clock) : undefined;
  if (own instanceof HttpAgent) own.abortController = new AbortController();
  const run = (i: RunAgentInput) => (http ? own.run(i) : unlessPrivate(agent, own, i).pipe(plain));
  const middlewares = middlewaresOf(own);
  const events = throughBoundary(middlewares, run, input);
  return {
    // Middlewares are code of this process too.
    events: middlewares.length > 0 ? events.pipe(plain) : events,
    ...(http && { http }),
    abort() {
      try {
        own.abortRun();
      } catch (error) {
        // To unsubscribe is all there is left for a copy that does not work.
        if (!isPrivateError(error)) throw error;
      }
    },
  };
}

/** Agents whose copies do not work. */
const uncopied = new WeakSet<AbstractAgent>();

// A class with #private fields cannot be copied from outside. `run` gets all that belongs to one conversation in
// its input, so the original serves as well, unless the class keeps something of a run in its fields; then it
// has its own `clone`.
function unlessPrivate(
  agent: AbstractAgent,
  copy: AbstractAgent,
  input: RunAgentInput,
): Observable<BaseEvent> {
  const original = () => from(agent.run(input));
  if (uncopied.has(agent)) return defer(original);
  let begun = false;
  return defer(() => from(copy.run(input))).pipe(
    tap(() => {
      begun = true;
    }),
    catchError((error: unknown) => {
      if (begun || !isPrivateError(error)) throw error;
      uncopied.add(agent);
      return original();
    }),
  );
}

function isPrivateError(error: unknown): boolean {
  return error instanceof TypeError && /private member|must be (?:an )?instance of/i.test(error.message);
}

function open(
  { name }: RegisteredAgent,
  agent: Exclude<Agent, AbstractAgent>,
  input: RunAgentInput,
  context: AgentContext,
): Observable<BaseEvent> {
  let source: EventSource = typeof agent === "function" ? agent(input, context) : agent.run(input, context);
  if (typeof source === "function" && !isObservable(source)) source = source();
  if (!isObservable(source) && isIterable(source)) return from(paced(source));
  if (typeof source === "object" && source !== null) return from(source as Observable<BaseEvent>);
  const sentence = `${name} gave no events: its function must return an Observable or an async iterable.`;
  throw new RunFailure("AGENT_FAILED", sentence);
}

function isIterable(source: unknown): source is AsyncIterable<BaseEvent> {
  return typeof source === "object" && source !== null && Symbol.asyncIterator in source;
}

/** How long a generator that never waits for anything may go on before others get their turn, ms. */
const SLICE_MS = 5;

// A generator that has all of its events at hand goes on without ever letting the event loop turn: nothing
// would be sent or stored before it is through, and nobody could stop it.
async function* paced(source: AsyncIterable<BaseEvent>): AsyncIterable<BaseEvent> {
  // A slice begins with the first event after the loop has turned: time spent waiting does not count.
  let since: number | null = null;
  for await (const event of source) {
    yield event;
    if (since === null) {
      since = performance.now();
      onNextTurn(() => {
        since = null;
      });
    } else if (performance.now() - since >= SLICE_MS) await setImmediate();
  }
}

// Agents in this process may go on changing an object they have sent. What is logged, sent and folded must
// be one and the same JSON value.
function detached(event: BaseEvent, agent: string): BaseEvent {
  let copy: unknown;
  try {
    copy = JSON.parse(JSON.stringify(event) ?? "null");
  } catch (error) {
    throw new RunFailure("AGENT_INVALID", `${agent} sent a value that JSON cannot hold.`, error);
  }
  if (typeof (copy as { type?: unknown } | null)?.type === "string") return copy as BaseEvent;
  throw new RunFailure(
    "AGENT_INVALID",
    `${agent} sent something that is not an AG-UI event: it has no type.`,
  );
}

/** The chain `AbstractAgent.runAgent` builds: the agent's middlewares, the compatibility boundary innermost. */
function throughBoundary(
  middlewares: Middleware[],
  run: (input: RunAgentInput) => Observable<BaseEvent>,
  input: RunAgentInput,
): Observable<BaseEvent> {
  return defer(() => {
    const innermost = { run } as AbstractAgent;
    const chain = [...middlewares, new CompatibilityBoundary()].reduceRight(
      (next, middleware) => ({ run: (i: RunAgentInput) => middleware.run(i, next) }) as AbstractAgent,
      innermost,
    );
    return chain.run(input);
  });
}

// `use()` keeps them in a field that the types call private; without them an agent would behave otherwise
// here than when its owner runs it.
function middlewaresOf(agent: AbstractAgent): Middleware[] {
  return (agent as unknown as { middlewares?: Middleware[] }).middlewares ?? [];
}
