import type { AGUIEvent, Message } from "../../shared/protocol/index.ts";
import { snapshotFields } from "./stream-messages.ts";
import { type Choice, type Fields, StreamPen } from "./stream-pen.ts";
import { StreamScope } from "./stream-scope.ts";

const ROLES = ["assistant", "user", "system", "developer"] as const;
const TYPES = ["PLAN", "SEARCH"];

/** Turns choices into a legal AG-UI stream; a choice that is not legal where it comes does something near. */
export class StreamWriter extends StreamPen {
  private runs = 0;
  private running = false;
  private finished = false;
  private resume = false;

  take(choice: Choice): void {
    this.choice = choice;
    const { op } = choice;
    if (op === "lateError") {
      if (this.finished) this.emit({ type: "RUN_ERROR", message: "late" });
      this.finished = false;
      return;
    }
    if (!this.running) this.start();
    this[op]();
  }

  /** Ends the run that is under way and gives the stream. */
  end(): AGUIEvent[] {
    if (this.running) this.finish();
    return this.events;
  }

  private start(): void {
    const { which, text } = this.choice;
    this.running = true;
    this.finished = false;
    this.scope = new StreamScope();
    this.runs += 1;
    const ids = { threadId: "t", runId: `${this.prefix}run${this.runs}` };
    const asked: Message = { id: `${this.prefix}u${which % 3}`, role: "user", content: text };
    const told: Message = { id: `${this.prefix}d${this.runs}`, role: "developer", content: text };
    const messages = which < 4 ? [] : which < 8 ? [asked] : [told, asked];
    const input = { ...ids, messages, tools: [], context: [], ...(this.resume && { resume: [] }) };
    this.scope.restated(messages);
    this.emit({ type: "RUN_STARTED", ...ids, ...(messages.length > 0 || this.resume ? { input } : {}) });
    this.resume = false;
  }

  private text(id = this.messageId()): void {
    if (this.scope.text.has(id)) return this.textMore();
    this.scope.text.add(id);
    const { other, tag } = this.choice;
    const role = ROLES[other % 8];
    const owner = this.scope.opening("message", id, tag);
    const name = other === 3 ? { name: "Bo" } : {};
    this.emit({ type: "TEXT_MESSAGE_START", messageId: id, ...(role && { role }), ...name, ...owner });
  }
  private textMore(): void {
    const id = this.pick(this.scope.text);
    if (id === undefined) return this.text();
    this.go("TEXT_MESSAGE_CONTENT", { messageId: id, delta: this.choice.text }, "message", id);
  }
  private textEnd(id = this.pick(this.scope.text)): void {
    if (id === undefined) return this.text();
    this.scope.text.delete(id);
    this.go("TEXT_MESSAGE_END", { messageId: id }, "message", id);
  }
  private textChunks(): void {
    const id = this.messageId();
    if (this.scope.text.has(id)) return this.textMore();
    const { text, metadata, tag, other } = this.choice;
    const owner = this.scope.opening("message", id, tag);
    const role = ROLES[other % 4];
    this.chunks(
      [
        { type: "TEXT_MESSAGE_CHUNK", messageId: id, role, delta: text, ...owner },
        { type: "TEXT_MESSAGE_CHUNK", delta: `${text}.`, ...owner, ...(metadata && { metadata }) },
      ],
      { type: "TEXT_MESSAGE_START", messageId: id, role, ...owner },
    );
  }

  private call(): void {
    const start = this.callStart();
    if (!start) return this.callMore();
    this.scope.calls.add(start.toolCallId);
    this.emit({ type: "TOOL_CALL_START", ...start });
  }
  private callMore(): void {
    const id = this.pick(this.scope.calls);
    if (id !== undefined) this.go("TOOL_CALL_ARGS", { toolCallId: id, delta: this.choice.text }, "call", id);
  }
  private callEnd(id = this.pick(this.scope.calls)): void {
    if (id === undefined) return;
    this.scope.calls.delete(id);
    this.go("TOOL_CALL_END", { toolCallId: id }, "call", id);
  }
  private callChunks(): void {
    const start = this.callStart();
    if (!start) return this.callMore();
    const delta = this.choice.text;
    const { subagentRunId } = start;
    const owner = subagentRunId === undefined ? {} : { subagentRunId };
    this.chunks(
      [
        { type: "TOOL_CALL_CHUNK", ...start, delta },
        { type: "TOOL_CALL_CHUNK", delta, ...owner },
      ],
      { type: "TOOL_CALL_START", ...start },
    );
  }
  private result(): void {
    const calls = this.log.timeline.list.flatMap((m) => (m.role === "assistant" ? (m.toolCalls ?? []) : []));
    this.tell(calls[this.choice.which % Math.max(1, calls.length)]?.id ?? this.callId());
  }
  private strayResult(): void {
    this.tell("nobody's");
  }
  private tell(toolCallId: string): void {
    const { tag, text, other } = this.choice;
    // Always a new id: with a known one an AG-UI client holds two messages of that id.
    const messageId = this.newId("t");
    this.scope.own("message", messageId, tag);
    const content = other % 4 ? text : [{ type: "text", text }];
    const owner = tag === undefined ? {} : { subagentRunId: tag };
    this.emit({ type: "TOOL_CALL_RESULT", messageId, toolCallId, content, ...owner });
  }

  private span(): void {
    const id = `${this.prefix}r${this.choice.which % 3}`;
    if (this.scope.spans.has(id)) return this.spanEnd();
    this.scope.spans.add(id);
    const owner = this.scope.opening("reasoning", id, this.choice.tag);
    this.emit({ type: "REASONING_START", messageId: id, ...owner });
  }
  private spanEnd(id = this.pick(this.scope.spans)): void {
    if (id === undefined) return;
    this.scope.spans.delete(id);
    this.go("REASONING_END", { messageId: id }, "reasoning", id);
  }
  private thought(): void {
    const id = this.thoughtId();
    if (this.scope.thoughts.has(id)) return this.thoughtMore();
    this.scope.thoughts.add(id);
    const owner = this.scope.opening("reasoning", id, this.choice.tag);
    this.emit({ type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning", ...owner });
  }
  private thoughtMore(): void {
    const id = this.pick(this.scope.thoughts);
    if (id === undefined) return this.thought();
    this.go("REASONING_MESSAGE_CONTENT", { messageId: id, delta: this.choice.text }, "reasoning", id);
  }
  private thoughtEnd(id = this.pick(this.scope.thoughts)): void {
    if (id === undefined) return;
    this.scope.thoughts.delete(id);
    this.go("REASONING_MESSAGE_END", { messageId: id }, "reasoning", id);
  }
  private thoughtChunks(): void {
    const id = this.thoughtId();
    if (this.scope.thoughts.has(id)) return this.thoughtMore();
    const delta = this.choice.text;
    const owner = this.scope.opening("reasoning", id, this.choice.tag);
    this.chunks(
      [
        { type: "REASONING_MESSAGE_CHUNK", messageId: id, delta, ...owner },
        { type: "REASONING_MESSAGE_CHUNK", delta, ...owner },
      ],
      { type: "REASONING_MESSAGE_START", messageId: id, ...owner },
    );
  }

  private activity(): void {
    const { which, other, tag, patch, json } = this.choice;
    const messageId = which < 9 ? `${this.prefix}a${which % 2}` : this.messageId();
    const replace = [undefined, true, false][other % 3];
    if (!this.scope.owner("activity", messageId) || replace !== false)
      this.scope.own("activity", messageId, tag);
    this.emit({
      type: "ACTIVITY_SNAPSHOT",
      messageId,
      activityType: TYPES[other % 2],
      content: { a: json, b: patch.length },
      ...(replace !== undefined && { replace }),
      ...(tag !== undefined && { subagentRunId: tag }),
    });
  }
  private activityDelta(): void {
    const messageId = `${this.prefix}a${this.choice.which % 3}`;
    const activityType = TYPES[this.choice.other % 2];
    // A patch of the whole content could leave one that AG-UI's own schema refuses.
    const patch = this.choice.patch.filter(({ path, from }) => path !== "" && from !== "");
    this.go("ACTIVITY_DELTA", { messageId, activityType, patch }, "activity", messageId);
  }
  private encrypted(): void {
    const entityId = this.choice.which % 2 ? this.messageId() : this.thoughtId();
    const kind = this.scope.owner("message", entityId) ? "message" : "reasoning";
    const fields = { subtype: "message", entityId, encryptedValue: this.choice.text };
    this.go("REASONING_ENCRYPTED_VALUE", fields, kind, entityId);
  }
  private encryptedCall(): void {
    const entityId = this.callId();
    const fields = { subtype: "tool-call", entityId, encryptedValue: this.choice.text };
    this.go("REASONING_ENCRYPTED_VALUE", fields, "call", entityId);
  }

  private step(): void {
    const { which, tag } = this.choice;
    const step = { stepName: `step${which % 2}`, ...(tag !== undefined && { subagentRunId: tag }) };
    const key = `${tag} ${step.stepName}`;
    if (this.scope.steps.has(key)) return this.stepEnd(key);
    this.scope.steps.set(key, step);
    this.emit({ type: "STEP_STARTED", ...step });
  }
  private stepEnd(key = this.pick(this.scope.steps.keys())): void {
    const step = key === undefined ? undefined : this.scope.steps.get(key);
    if (key === undefined || !step) return;
    this.scope.steps.delete(key);
    this.emit({ type: "STEP_FINISHED", ...step });
  }
  private subagent(): void {
    const id = `s${1 + (this.choice.which % 3)}`;
    const { subagents } = this.scope;
    if (subagents.has(id)) return this.subagentEnd();
    const parent = this.choice.other < 6 ? this.pick(subagents.keys()) : undefined;
    subagents.set(id, true);
    const from = parent === undefined ? {} : { parentSubagentRunId: parent };
    this.emit({ type: "SUBAGENT_STARTED", subagentRunId: id, name: "Helper", ...from });
  }
  private subagentEnd(id = this.pick(active(this.scope.subagents))): void {
    if (id === undefined) return;
    this.scope.subagents.set(id, false);
    if (this.choice.other % 3 === 0) this.emit({ type: "SUBAGENT_ERROR", subagentRunId: id, message: "no" });
    else this.emit({ type: "SUBAGENT_FINISHED", subagentRunId: id });
  }
  private custom(): void {
    this.emit({ type: "CUSTOM", name: "note", value: this.choice.json });
  }
  private raw(): void {
    this.emit({ type: "RAW", event: this.choice.json });
  }
  private state(): void {
    this.emit({ type: "STATE_SNAPSHOT", snapshot: this.choice.json });
  }
  private stateDelta(): void {
    this.emit({ type: "STATE_DELTA", delta: this.choice.patch });
  }
  private messages(): void {
    const fields = snapshotFields(this.choice, this.log.timeline.list, this.callId(), () => this.newId("n"));
    this.scope.restated(fields.messages);
    this.emit({ type: "MESSAGES_SNAPSHOT", ...fields });
  }

  private finish(outcome?: Fields): void {
    const { text, calls, thoughts, spans, steps, subagents } = this.scope;
    for (const id of text) this.textEnd(id);
    for (const id of calls) this.callEnd(id);
    for (const id of thoughts) this.thoughtEnd(id);
    for (const id of spans) this.spanEnd(id);
    for (const key of [...steps.keys()]) this.stepEnd(key);
    for (const id of active(subagents)) this.subagentEnd(id);
    const ids = { threadId: "t", runId: `${this.prefix}run${this.runs}` };
    const started = this.log.timeline.runs.get(ids.runId)?.calls.keys() ?? [];
    const pending = this.choice.which > 8 && {
      outcome: { type: "success", pendingToolCallIds: [...started] },
    };
    this.running = false;
    this.finished = true;
    this.emit({ type: "RUN_FINISHED", ...ids, ...(outcome ? { outcome } : pending) });
  }
  private cancel(): void {
    this.finish({ type: "cancelled" });
  }
  private interrupt(): void {
    this.resume = true;
    const id = `${this.prefix}i${this.runs}`;
    this.finish({
      type: "interrupt",
      interrupts: [{ id, reason: "confirmation", message: this.choice.text }],
    });
  }
  private fail(): void {
    this.running = false;
    this.finished = false;
    this.emit({ type: "RUN_ERROR", message: "broke", code: "X" });
  }

  /** Fields of a TOOL_CALL_START; none when that call is open or would double a message id. */
  private callStart(): { toolCallId: string; subagentRunId?: string; [name: string]: unknown } | null {
    const { other, tag } = this.choice;
    const toolCallId = this.callId();
    if (this.scope.calls.has(toolCallId)) return null;
    const { messages } = this.log.timeline;
    const parent = other < 4 ? undefined : other < 10 ? this.messageId() : "";
    const held = parent ? messages.get(parent) : undefined;
    const mints = !parent || (held && held.message.role !== "assistant");
    if (mints && messages.get(toolCallId) && !messages.call(toolCallId)) return null;
    const from = parent ? this.scope.owner("message", parent) : undefined;
    const known = this.scope.owner("call", toolCallId);
    let owner = from && from.tag !== tag ? undefined : tag;
    if (known && known.tag !== owner) owner = undefined;
    if (known && owner === undefined && from && from.tag !== known.tag) return null;
    if (!known) this.scope.own("call", toolCallId, owner ?? from?.tag);
    return {
      toolCallId,
      toolCallName: other % 2 ? "search" : "book",
      ...(parent !== undefined && { parentMessageId: parent }),
      ...(owner !== undefined && { subagentRunId: owner }),
    };
  }
}

function active(subagents: ReadonlyMap<string, boolean>): string[] {
  return [...subagents].filter(([, on]) => on).map(([id]) => id);
}
