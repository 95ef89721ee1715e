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

/** What a construct is called while it is open: its kind and id, unique within a run. */
export function constructKey(event: AGUIEvent): { key: string; opens: boolean } | null {
  const id = (field: string) => String(event[field]);
  switch (event.type as string) {
    case "TEXT_MESSAGE_START":
      return { key: `text:${id("messageId")}`, opens: true };
    case "TEXT_MESSAGE_END":
      return { key: `text:${id("messageId")}`, opens: false };
    case "TOOL_CALL_START":
      return { key: `tool:${id("toolCallId")}`, opens: true };
    case "TOOL_CALL_END":
      return { key: `tool:${id("toolCallId")}`, opens: false };
    case "REASONING_START":
      return { key: `reasoning:${id("messageId")}`, opens: true };
    case "REASONING_END":
      return { key: `reasoning:${id("messageId")}`, opens: false };
    case "REASONING_MESSAGE_START":
      return { key: `thought:${id("messageId")}`, opens: true };
    case "REASONING_MESSAGE_END":
      return { key: `thought:${id("messageId")}`, opens: false };
    case "STEP_STARTED":
      return { key: `step:${event.subagentRunId ?? ""}:${id("stepName")}`, opens: true };
    case "STEP_FINISHED":
      return { key: `step:${event.subagentRunId ?? ""}:${id("stepName")}`, opens: false };
    case "SUBAGENT_STARTED":
      return { key: `subagent:${id("subagentRunId")}`, opens: true };
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return { key: `subagent:${id("subagentRunId")}`, opens: false };
    default:
      return null;
  }
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
    if (construct.opens) run.open.set(construct.key, withoutBulk(event));
    else run.open.delete(construct.key);
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
