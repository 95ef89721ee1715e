import { contentToText, PROTOCOL_VERSION, type RunAgentInput } from "@ag-ui/core";
import { applyPatch } from "../../shared/json-crdt/patch.ts";
import type { Json } from "../../shared/protocol/index.ts";
import type { AgentEvent, AgentFunction } from "../agents/agent.ts";
import {
  type Checkpoint,
  emptyCheckpoint,
  langChainMessage,
  type Members,
  membersOf,
} from "./checkpoints.ts";
import type { ScriptStep } from "./script.ts";

/** What a script is given at the beginning of a run. */
export type ScriptRun = {
  /** Which run of the thread it is, from 1. */
  n: number;
  /** The state the run begins with, as the agent has it, without its messages. */
  state: Members;
  /** Whether it goes on behind an interrupt. */
  resumes: boolean;
  input: RunAgentInput;
};

/** Options of {@link langgraphLike}; each manner is one of LangGraph's AG-UI adapter (`ag_ui_langgraph`). */
export type LanggraphLikeOptions = {
  /** What a run does, step by step. */
  script: (run: ScriptRun) => Iterable<ScriptStep>;
  /**
   * The adapter drops `input.state` when it resumes behind an interrupt: the graph goes on from its checkpoint, and
   * knows nothing of what people did to the state while it waited. Default false.
   */
  ignoresStateOnResume?: boolean;
  /**
   * Top-level keys of a typed graph: the adapter filters all others out of `input.state`, and out of what it
   * emits. Default: the graph takes everything.
   */
  dropsUnknownKeys?: readonly string[];
  /**
   * The adapter emits the checkpoint's state once more before it has merged `input.state`, from the second run
   * of a thread on. Default false.
   */
  emitsBeforeMerging?: boolean;
  /**
   * The graph has a checkpointer, whose memory goes by thread id: messages and values of earlier runs stay, and a
   * key that `input.state` leaves out keeps its value. Default true; else each run has only what it is given.
   */
  remembers?: boolean;
  /**
   * The adapter's default for interrupts: CUSTOM `on_interrupt` with the value as a JSON string, and a
   * RUN_FINISHED without outcome. Answers come as `resume` in both modes, or as `forwardedProps.command.resume`.
   * Default false: an interrupt is the outcome of the run.
   */
  legacyInterrupts?: boolean;
};

/**
 * A scripted agent that treats the shared state as agents behind LangGraph's adapter do, for tests of applications:
 * it keeps a checkpoint per thread id and emits whole states that hold its messages in LangChain's shape.
 *
 * @returns a function that can be registered as an agent; its memory lives as long as the function
 */
export function langgraphLike(options: LanggraphLikeOptions): AgentFunction {
  const { remembers = true } = options;
  const checkpoints = new Map<string, Checkpoint>();

  return async function* langgraph(input, { signal }) {
    const kept = remembers ? checkpoints.get(input.threadId) : undefined;
    const run = new LanggraphRun(options, input, structuredClone(kept ?? emptyCheckpoint()));
    for await (const event of run.events(kept !== undefined)) {
      if (signal.aborted) return;
      // A checkpoint is written after each step, so that it outlives a run that is cancelled.
      checkpoints.set(input.threadId, structuredClone(run.checkpoint));
      yield event;
    }
  };
}

/** One run of a {@link langgraphLike} agent. */
class LanggraphRun {
  readonly checkpoint: Checkpoint;
  private readonly options: LanggraphLikeOptions;
  private readonly input: RunAgentInput;
  private said = 0;

  constructor(options: LanggraphLikeOptions, input: RunAgentInput, checkpoint: Checkpoint) {
    this.options = options;
    this.input = input;
    this.checkpoint = checkpoint;
  }

  async *events(isKnown: boolean): AsyncGenerator<AgentEvent> {
    const { checkpoint, input, options } = this;
    const { threadId, runId } = input;
    yield { type: "RUN_STARTED", threadId, runId, protocolVersion: PROTOCOL_VERSION };
    if (options.emitsBeforeMerging && isKnown) yield this.snapshot();
    const resumes = checkpoint.waiting !== null && isAnswered(input);
    checkpoint.waiting = null;
    checkpoint.runs += 1;
    if (!resumes || !options.ignoresStateOnResume) this.merge();
    const state = structuredClone(checkpoint.values);
    for (const step of options.script({ n: checkpoint.runs, state, resumes, input })) {
      if (step.do === "interrupt") {
        yield* this.interrupt(step);
        return;
      }
      yield* this.take(step);
    }
    yield this.messages();
    yield { type: "RUN_FINISHED", threadId, runId };
  }

  private async *take(step: Exclude<ScriptStep, { do: "interrupt" }>): AsyncGenerator<AgentEvent> {
    const { checkpoint } = this;
    switch (step.do) {
      case "wait":
        await step.until;
        return;
      case "set":
        Object.assign(checkpoint.values, this.known(structuredClone(step.values)));
        yield this.snapshot();
        return;
      case "patch":
        checkpoint.values = membersOf(applyPatch(checkpoint.values, step.patch));
        yield { type: "STATE_DELTA", delta: structuredClone(step.patch) };
        return;
      case "say": {
        this.said += 1;
        const messageId = `${this.input.runId}-m${this.said}`;
        checkpoint.messages.push(langChainMessage(messageId, "ai", step.text));
        yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
        if (step.text !== "") yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta: step.text };
        yield { type: "TEXT_MESSAGE_END", messageId };
      }
    }
  }

  /** The conversation as the graph knows it, which is no more than its checkpoint. */
  private messages(): AgentEvent {
    const messages = this.checkpoint.messages.map(({ id, type, content }) => ({
      id,
      role: type === "ai" ? "assistant" : "user",
      content,
    }));
    return { type: "MESSAGES_SNAPSHOT", messages };
  }

  private *interrupt({ reason, value }: ScriptStep & { do: "interrupt" }): Generator<AgentEvent> {
    const { threadId, runId } = this.input;
    const id = `${runId}-interrupt`;
    this.checkpoint.waiting = id;
    yield this.messages();
    if (this.options.legacyInterrupts) {
      yield { type: "CUSTOM", name: "on_interrupt", value: JSON.stringify(value) };
      yield { type: "RUN_FINISHED", threadId, runId };
      return;
    }
    const interrupts = [{ id, reason, metadata: { value } }];
    yield { type: "RUN_FINISHED", threadId, runId, outcome: { type: "interrupt", interrupts } };
  }

  private snapshot(): AgentEvent {
    const { values, messages } = this.checkpoint;
    return { type: "STATE_SNAPSHOT", snapshot: structuredClone({ ...this.known(values), messages }) };
  }

  private merge(): void {
    const { checkpoint, input } = this;
    // Messages are merged by id, not taken over.
    const { messages: _, ...given } = membersOf(input.state);
    Object.assign(checkpoint.values, this.known(structuredClone(given)));
    const ids = new Set(checkpoint.messages.map(({ id }) => id));
    for (const { id, role, content } of input.messages) {
      if (ids.has(id) || (role !== "user" && role !== "assistant")) continue;
      const text = contentToText(content ?? "");
      checkpoint.messages.push(langChainMessage(id, role === "user" ? "human" : "ai", text));
    }
  }

  private known(values: Members): Members {
    const { dropsUnknownKeys: keys } = this.options;
    if (!keys) return values;
    const kept = Object.entries(values).filter(([key]) => keys.includes(key));
    return Object.fromEntries(kept) as { [key: string]: Json };
  }
}

function isAnswered({ resume, forwardedProps }: RunAgentInput): boolean {
  const { command } = (forwardedProps ?? {}) as { command?: { resume?: unknown } };
  return (resume?.length ?? 0) > 0 || command?.resume !== undefined;
}
