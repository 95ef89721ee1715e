import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import type { AgentContext, AgentFunction } from "../../server/agents/agent.ts";

/** One run of a puppet: what it was given, and what it says. */
export class PuppetRun {
  readonly input: RunAgentInput;
  readonly context: AgentContext;
  private readonly queue: (() => IteratorResult<BaseEvent>)[] = [];
  private wake: (() => void) | null = null;

  constructor(input: RunAgentInput, context: AgentContext) {
    this.input = input;
    this.context = context;
  }

  /** Sends events; `threadId` and `runId` of boundaries are filled in. */
  emit(...events: object[]): this {
    const { threadId, runId } = this.input;
    for (const event of events) {
      const boundary = /^RUN_(STARTED|FINISHED)$/.test((event as { type?: string }).type ?? "");
      const value = (boundary ? { threadId, runId, ...event } : event) as BaseEvent;
      this.push(() => ({ done: false, value }));
    }
    return this;
  }

  start(...events: object[]): this {
    return this.emit({ type: "RUN_STARTED" }, ...events);
  }

  /** Ends the run; the response goes on. */
  finish(more: object = {}): this {
    return this.emit({ type: "RUN_FINISHED", ...more });
  }

  /** Ends the response. */
  end(): this {
    return this.push(() => ({ done: true, value: undefined }));
  }

  fail(error: unknown): this {
    return this.push(() => {
      throw error;
    });
  }

  /** Resolves when the run is aborted. */
  get aborted(): Promise<void> {
    const { signal } = this.context;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  async next(): Promise<IteratorResult<BaseEvent>> {
    while (this.queue.length === 0) await new Promise<void>((wake) => (this.wake = wake));
    return (this.queue.shift() as () => IteratorResult<BaseEvent>)();
  }

  private push(step: () => IteratorResult<BaseEvent>): this {
    this.queue.push(step);
    this.wake?.();
    return this;
  }
}

/** An agent that does what the test tells it, run by run. */
export class PuppetAgent {
  /** All runs so far, oldest first. */
  readonly runs: PuppetRun[] = [];
  private taken = 0;
  private waiting: ((run: PuppetRun) => void)[] = [];

  readonly run: AgentFunction = (input, context) => {
    const run = new PuppetRun(input, context);
    this.runs.push(run);
    const found = this.waiting.shift();
    if (found) {
      this.taken += 1;
      found(run);
    }
    return { [Symbol.asyncIterator]: () => run };
  };

  /** The next run that nobody has asked for yet. */
  next(): Promise<PuppetRun> {
    const run = this.runs[this.taken];
    if (!run) return new Promise((found) => this.waiting.push(found));
    this.taken += 1;
    return Promise.resolve(run);
  }
}
