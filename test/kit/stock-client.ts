import {
  AbstractAgent,
  CompatibilityBoundary,
  enforceEvents,
  type Middleware,
  transformChunks,
  verifyEvents,
} from "@ag-ui/client";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { from, type Observable } from "rxjs";
import { afterAll, beforeAll, vi } from "vitest";
import type { AGUIEvent, Message } from "../../shared/protocol/index.ts";

/** What a stock client starts from. */
export type StockStart = { messages?: readonly Message[]; state?: unknown };

/** Where a stock client ended. */
export type Played = {
  messages: Message[];
  state: unknown;
  /** Why the client rejected the stream; a RUN_ERROR in it is no rejection. */
  error: Error | null;
  /** RUN_ERROR events that reached the application. */
  failures: AGUIEvent[];
  /** Interrupts the client waits to have answered. */
  pending: string[];
};

class Player extends AbstractAgent {
  readonly events: readonly AGUIEvent[];
  constructor(events: readonly AGUIEvent[], { messages = [], state = {} }: StockStart) {
    const threadId = events.find((event) => event.threadId !== undefined)?.threadId as string | undefined;
    super({
      threadId: threadId ?? "t",
      initialMessages: messages as Message[],
      initialState: state,
    });
    this.events = events;
  }
  run(): Observable<BaseEvent> {
    // The client may keep and change what it is given.
    return from(structuredClone(this.events) as BaseEvent[]);
  }
}

/**
 * Plays events through an unmodified `@ag-ui/client`: compatibility boundary, enforcement, expansion of
 * chunks, verification, application.
 */
export async function playStock(events: readonly AGUIEvent[], start: StockStart = {}): Promise<Played> {
  const player = new Player(events, start);
  const failures: AGUIEvent[] = [];
  let error: Error | null = null;
  if (events.length > 0) {
    try {
      await player.runAgent({}, { onRunErrorEvent: ({ event }) => void failures.push(event as AGUIEvent) });
    } catch (cause) {
      error = cause as Error;
    }
  }
  const { messages, state, pendingInterrupts } = player;
  return { messages, state, error, failures, pending: pendingInterrupts.map(({ id }) => id) };
}

/**
 * The events as they come out of the stock pipeline before they are applied: translated, enforced, expanded
 * and verified.
 */
export function expandStock(raw: readonly AGUIEvent[]): { events: AGUIEvent[]; error: Error | null } {
  const events: AGUIEvent[] = [];
  let error: Error | null = null;
  const source = { run: () => from(structuredClone(raw) as BaseEvent[]) };
  const next = source as unknown as Parameters<Middleware["run"]>[1];
  new CompatibilityBoundary()
    .run({ threadId: "t", runId: "r", messages: [] } as unknown as RunAgentInput, next)
    .pipe(enforceEvents(), transformChunks(), verifyEvents())
    .subscribe({
      next: (event) => events.push(event as AGUIEvent),
      error: (cause) => {
        error = cause as Error;
      },
    });
  return { events, error };
}

/** Keeps the stock client's warnings out of the output of the tests of a file. */
export function muteStock(): void {
  beforeAll(() => {
    for (const method of ["warn", "error"] as const) vi.spyOn(console, method).mockImplementation(() => {});
  });
  afterAll(() => vi.restoreAllMocks());
}
