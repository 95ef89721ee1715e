import { type AGUIEvent, EventType, type TokenUsage } from "@ag-ui/core";
import type { Random } from "./random.ts";

/** One event and how long a person would have waited for it, in ms at normal speed. */
export type Beat = { wait: number; event: AGUIEvent };

/** A tool call as it is told: arguments and result are written as JSON text. */
export type Call = { name: string; args: object; result: object; parentMessageId: string };

/** Words with the white space behind them; list, heading and table marks go with the word they introduce. */
const WORDS = /\s*(?:[|#>*-]+\s+)*\S+\s*|\s+/g;

/** Four characters a token is the usual rule of thumb; there is no tokenizer behind a script. */
const tokens = (characters: number) => Math.ceil(characters / 4);

/**
 * Turns what Planner thinks, says and does into AG-UI events at the pace of somebody at work. Each method
 * gives beats in order and closes what it opens; ids derive from the run's.
 */
export class Narrator {
  private readonly runId: string;
  private readonly pace: Random;
  private readonly counts: Record<string, number> = {};
  private thought = 0;
  private spoken = 0;

  constructor(runId: string, pace: Random) {
    this.runId = runId;
    this.pace = pace;
  }

  /** A new id of this run: `m` message, `r` reasoning, `t` tool call, `a` activity. */
  id(kind: "m" | "r" | "t" | "a"): string {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    return `${this.runId}-${kind}${this.counts[kind]}`;
  }

  /** One event after a wait of `low` to `high` ms. */
  after(low: number, high: number, event: AGUIEvent): Beat {
    return { wait: this.pace.between(low, high), event };
  }

  /** A named step of the run around `body`. */
  *step(stepName: string, body: Iterable<Beat>): Generator<Beat> {
    yield this.after(60, 140, { type: EventType.STEP_STARTED, stepName });
    yield* body;
    yield this.after(10, 40, { type: EventType.STEP_FINISHED, stepName });
  }

  /** A span of reasoning with one message in it. */
  *think(text: string): Generator<Beat> {
    const messageId = this.id("r");
    yield this.after(150, 300, { type: EventType.REASONING_START, messageId });
    yield this.after(0, 20, { type: EventType.REASONING_MESSAGE_START, messageId, role: "reasoning" });
    for (const delta of text.match(WORDS) ?? []) {
      this.thought += delta.length;
      yield this.after(8, 30, { type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta });
    }
    yield this.after(0, 20, { type: EventType.REASONING_MESSAGE_END, messageId });
    yield this.after(0, 20, { type: EventType.REASONING_END, messageId });
  }

  /** A text message around `body`, which {@link words} fills. */
  *message(messageId: string, body: Iterable<Beat>): Generator<Beat> {
    yield this.after(150, 350, { type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" });
    yield* body;
    yield this.after(10, 40, { type: EventType.TEXT_MESSAGE_END, messageId });
  }

  /** More text for an open message, word by word. */
  *words(messageId: string, text: string): Generator<Beat> {
    let pausing = 0;
    for (const delta of text.match(WORDS) ?? []) {
      this.spoken += delta.length;
      const event: AGUIEvent = { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta };
      yield { wait: pausing + this.pace.between(20, 60), event };
      if (/[.!?:]["”*)]*\s+$/.test(delta)) pausing = this.pace.between(60, 140);
      else pausing = /[,;–]\s+$|\n$/.test(delta) ? this.pace.between(20, 50) : 0;
    }
  }

  /** A tool call whose arguments arrive in pieces, what happens meanwhile, then its result. */
  *call(call: Call, meanwhile: Iterable<Beat>): Generator<Beat> {
    const toolCallId = this.id("t");
    yield* this.ask(toolCallId, call);
    yield* meanwhile;
    yield this.result(toolCallId, call.result);
  }

  /** A tool call without its result: somebody else has to give it, or to allow it first. */
  *ask(toolCallId: string, call: Omit<Call, "result">): Generator<Beat> {
    const { name: toolCallName, parentMessageId } = call;
    yield this.after(120, 250, {
      type: EventType.TOOL_CALL_START,
      toolCallId,
      toolCallName,
      parentMessageId,
    });
    const args = JSON.stringify(call.args);
    // JSON text is cut between its tokens, as models stream it
    for (const delta of args.match(/[^\s,:]+[\s,:]*/g) ?? []) {
      this.spoken += delta.length;
      yield this.after(30, 80, { type: EventType.TOOL_CALL_ARGS, toolCallId, delta });
    }
    yield this.after(10, 40, { type: EventType.TOOL_CALL_END, toolCallId });
  }

  /** What came of a tool call. */
  result(toolCallId: string, result: object): Beat {
    const content = JSON.stringify(result);
    const fields = { messageId: this.id("m"), toolCallId, content, role: "tool" as const };
    return this.after(350, 700, { type: EventType.TOOL_CALL_RESULT, ...fields });
  }

  /** A progress activity: `begin` shows it with nothing done, each `tick` checks off the next item. */
  progress(title: string, items: readonly string[]): { begin(): Beat; tick(): Beat } {
    const messageId = this.id("a");
    const activityType = "progress";
    let done = 0;
    return {
      begin: () => {
        const list = items.map((item) => ({ title: item, done: false }));
        const content = { title, done: 0, total: items.length, items: list };
        return this.after(80, 200, { type: EventType.ACTIVITY_SNAPSHOT, messageId, activityType, content });
      },
      tick: () => {
        const patch = [
          { op: "replace" as const, path: `/items/${done}/done`, value: true },
          { op: "replace" as const, path: "/done", value: ++done },
        ];
        return this.after(300, 600, { type: EventType.ACTIVITY_DELTA, messageId, activityType, patch });
      },
    };
  }

  /** What the run would have cost with a model behind it; `read` is the characters of its input. */
  usage(read: number): TokenUsage {
    const inputTokens = tokens(read);
    const reasoningTokens = tokens(this.thought);
    const outputTokens = reasoningTokens + tokens(this.spoken);
    const totalTokens = inputTokens + outputTokens;
    return { provider: "demo", model: "planner", inputTokens, outputTokens, reasoningTokens, totalTokens };
  }
}
