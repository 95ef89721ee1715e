import { enforceEvents, transformChunks, verifyEvents } from "@ag-ui/client";
import type { RunAgentInput } from "@ag-ui/core";
import { map, type Subscription, throwError } from "rxjs";
import type { Clock } from "../../shared/clock.ts";
import type { AGUIEvent } from "../../shared/protocol/index.ts";
import type { AgentContext } from "../agents/agent.ts";
import type { RegisteredAgent } from "../agents/registry.ts";
import { type AgentCall, callAgent } from "./agent-source.ts";
import { RunFailure, toFailure } from "./failure.ts";
import { seconds } from "./http-guard.ts";
import { unifyEncrypted } from "./unify-encrypted.ts";

/** What a driver tells; nothing comes any more after `onEnd`. */
export type DriverListener = {
  /** An event that passed enforcement, expansion and verification. */
  onEvent(event: AGUIEvent): void;
  /** The response is over: by itself, or because of `failure`. Called once, and not after `stop`. */
  onEnd(failure: RunFailure | null): void;
};

/**
 * Reads one response of an agent ([R1]): calls it, passes its events through the stock AG-UI stages and
 * watches that it is never silent for too long. It knows nothing of threads: what events mean is decided by
 * its listener.
 */
export class Driver {
  private readonly agent: RegisteredAgent;
  private readonly clock: Clock;
  private readonly listener: DriverListener;
  private readonly subscription: Subscription;
  private readonly abort: () => void;
  private cancelIdle = () => {};
  private over = false;

  /** Calls the agent at once. */
  constructor(
    agent: RegisteredAgent,
    input: RunAgentInput,
    context: Omit<AgentContext, "signal">,
    clock: Clock,
    listener: DriverListener,
  ) {
    this.agent = agent;
    this.clock = clock;
    this.listener = listener;
    const call = prepare(() => callAgent(agent, input, context, clock));
    this.abort = () => {
      try {
        call.abort();
      } catch {
        // An agent whose own stopping fails is let go all the same.
      }
    };
    this.watchIdle();
    const stages = call.events.pipe(map(unifyEncrypted), enforceEvents(), transformChunks(), verifyEvents());
    this.subscription = stages.subscribe({
      next: (event) => {
        if (this.over) return;
        this.watchIdle();
        this.listener.onEvent(event as AGUIEvent);
      },
      error: (error: unknown) => {
        const stage = call.http ?? { remote: false, reading: false, ended: false };
        this.end(toFailure(error, agent.name, stage));
      },
      complete: () => this.end(null),
    });
    // A source may end inside of subscribe(), before there is a subscription to end.
    if (this.over) this.subscription.unsubscribe();
  }

  /** Aborts the agent's work; the listener hears nothing more. */
  stop(): void {
    this.over = true;
    this.cancelIdle();
    this.abort();
    this.subscription.unsubscribe();
  }

  private end(failure: RunFailure | null): void {
    if (this.over) return;
    this.over = true;
    this.cancelIdle();
    if (failure) this.abort();
    this.subscription?.unsubscribe();
    this.listener.onEnd(failure);
  }

  // One timer per run, moved by looking at the time of the last event: setting a timer per event costs more
  // than the event.
  private lastEvent = 0;
  private watching = false;
  private watchIdle(): void {
    this.lastEvent = this.clock.now();
    if (this.watching) return;
    this.watching = true;
    const check = (ms: number) => {
      this.cancelIdle = this.clock.after(ms, () => {
        const left = this.lastEvent + this.agent.idleMs - this.clock.now();
        if (left > 0) return check(left);
        const { name, idleMs } = this.agent;
        this.end(
          new RunFailure(
            "AGENT_TIMEOUT",
            `${name} sent nothing for ${seconds(idleMs)}. Try again or choose another agent.`,
          ),
        );
      });
    };
    check(this.agent.idleMs);
  }
}

/** A call that cannot even be prepared is one that fails. */
function prepare(call: () => AgentCall): AgentCall {
  try {
    return call();
  } catch (error) {
    return { events: throwError(() => error), abort() {} };
  }
}
