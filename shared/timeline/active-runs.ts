import type { AGUIEvent, Author, RunStart, TokenUsage } from "../protocol/index.ts";

/** A run that has begun and not ended. */
export type ActiveRunState = {
  runId: string;
  agent: string;
  by: Author;
  turn: string;
  inputId?: string;
  /** RUN_STARTED without `input`. */
  started: AGUIEvent;
  /** Open constructs by kind and id → the event that opened them, in order of opening ([T4]). */
  open: Map<string, AGUIEvent>;
  /** Tool calls this run has started → whether they have a result. */
  calls: Map<string, boolean>;
};

/** Constructs by the first part of their events' types: what they are called, and the field with their id. */
const CONSTRUCTS: Record<string, [kind: string, id: string]> = {
  TEXT_MESSAGE: ["text", "messageId"],
  TOOL_CALL: ["tool", "toolCallId"],
  REASONING: ["reasoning", "messageId"],
  REASONING_MESSAGE: ["thought", "messageId"],
  STEP: ["step", "stepName"],
  SUBAGENT: ["subagent", "subagentRunId"],
};

/** What a construct is called while it is open: its kind and id, unique within a run. */
export function constructKey(event: AGUIEvent): { key: string; opens: boolean } | null {
  const [, family = "", opens] = /^(.+)_(?:(START|STARTED)|END|FINISHED|ERROR)$/.exec(event.type) ?? [];
  const [kind, id] = CONSTRUCTS[family] ?? [];
  if (kind === undefined || id === undefined) return null;
  // A step is one of its subagent's.
  const owner = kind === "step" ? `${event.subagentRunId ?? ""}:` : "";
  return { key: `${kind}:${owner}${event[id]}`, opens: opens !== undefined };
}

/** Runs that are under way, by run id. */
export class ActiveRuns {
  private readonly byId = new Map<string, ActiveRunState>();
  /** Grows with every change. */
  version = 0;

  get size(): number {
    return this.byId.size;
  }

  get(runId: string): ActiveRunState | undefined {
    return this.byId.get(runId);
  }

  /** Oldest first. */
  all(): ActiveRunState[] {
    return [...this.byId.values()];
  }

  begin(event: AGUIEvent, runId: string, start: RunStart): void {
    this.byId.set(runId, {
      runId,
      agent: start.agent,
      by: start.by,
      turn: runId,
      ...(start.inputId !== undefined && { inputId: start.inputId }),
      started: withoutBulk(event),
      open: new Map(),
      calls: new Map(),
    });
    this.version += 1;
  }

  restore(run: ActiveRunState): void {
    this.byId.set(run.runId, run);
  }

  /** Follows what opens, closes, is called and answered. */
  follow(runId: string, event: AGUIEvent): void {
    const run = this.byId.get(runId);
    if (!run) return;
    if ((event.type as string) === "TOOL_CALL_RESULT") run.calls.set(String(event.toolCallId), true);
    const construct = constructKey(event);
    if (!construct) return;
    const { key, opens } = construct;
    if (opens) run.open.set(key, withoutBulk(event));
    else run.open.delete(key);
    if ((event.type as string) === "TOOL_CALL_START" && !run.calls.has(String(event.toolCallId)))
      run.calls.set(String(event.toolCallId), false);
    this.version += 1;
  }

  end(runId: string): void {
    this.byId.delete(runId);
    this.version += 1;
  }
}

// Open events are kept to reopen a construct for somebody who joins later: `metadata` is in the message by
// then and would overwrite newer values ([P2]); `input` and `rawEvent` can be large and say nothing here.
function withoutBulk(event: AGUIEvent): AGUIEvent {
  const { metadata: _m, input: _i, rawEvent: _r, ...rest } = event;
  return rest as AGUIEvent;
}

/** Adds token counts to totals kept per provider and model. */
export function addUsage(totals: TokenUsage[], usage: TokenUsage[] | undefined): TokenUsage[] {
  if (!usage?.length) return totals;
  const sums = [...totals];
  for (const item of usage) {
    const at = sums.findIndex((sum) => sum.provider === item.provider && sum.model === item.model);
    const sum: Record<string, unknown> = { ...(at < 0 ? {} : sums[at]) };
    for (const [name, value] of Object.entries(item)) {
      sum[name] = typeof value === "number" ? ((sum[name] as number | undefined) ?? 0) + value : value;
    }
    if (at < 0) sums.push(sum as TokenUsage);
    else sums[at] = sum as TokenUsage;
  }
  return sums;
}
