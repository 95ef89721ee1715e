import type { AGUIEvent, Json, JsonPatch, Message, Metadata } from "../../shared/protocol/index.ts";
import { TestLog, TestResponse } from "./entries.ts";

/** What a {@link StreamWriter} can be told to do next. */
export const OPS = [
  ...["text", "text", "text", "textMore", "textMore", "textEnd", "textChunks"],
  ...["call", "call", "callMore", "callEnd", "callEnd", "callChunks", "result", "result", "strayResult"],
  ...["span", "spanEnd", "thought", "thoughtMore", "thoughtEnd", "thoughtChunks"],
  ...["activity", "activity", "activityDelta", "encrypted", "encryptedCall"],
  ...["step", "stepEnd", "subagent", "subagentEnd", "custom", "raw"],
  ...["state", "stateDelta", "stateDelta", "messages", "finish", "fail", "cancel", "interrupt", "lateError"],
] as const;

/** One step of a stream: what to do, and the numbers and values to do it with. */
export type Choice = {
  op: (typeof OPS)[number];
  which: number;
  other: number;
  tag: string | undefined;
  text: string;
  json: Json;
  patch: JsonPatch;
  metadata: Metadata | undefined;
};

type Owner = { tag: string | undefined };
type Fields = { type: string; [name: string]: unknown };

const ROLES = ["assistant", "user", "system", "developer"] as const;
const TYPES = ["PLAN", "SEARCH"];
const AUTHORITIES: unknown[] = [
  undefined,
  { authoritativeActivityTypes: null },
  { authoritativeActivityTypes: ["PLAN"] },
  { authoritativeActivityTypes: 1 },
  "?",
];

/** Turns choices into a legal AG-UI stream; a choice that is not legal where it comes does something near. */
export class StreamWriter {
  private readonly events: AGUIEvent[] = [];
  private readonly log = new TestLog();
  private readonly response = new TestResponse(this.log);
  private runs = 0;
  private running = false;
  private finished = false;
  private resume = false;
  private fresh = 0;
  private choice!: Choice;
  private open = { text: new Set<string>(), call: new Set<string>(), span: new Set<string>() };
  private thoughts = new Set<string>();
  private steps = new Map<string, { stepName: string; subagentRunId?: string }>();
  private subagents = new Map<string, boolean>();
  private owners = {
    message: new Map(),
    call: new Map(),
    activity: new Map(),
    reasoning: new Map(),
  } as Record<"message" | "call" | "activity" | "reasoning", Map<string, Owner>>;

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
    if (!this.running) return this.events;
    this.finish();
    return this.events;
  }

  private start(): void {
    const { which, text } = this.choice;
    this.running = true;
    this.finished = false;
    this.open = { text: new Set(), call: new Set(), span: new Set() };
    this.thoughts = new Set();
    this.steps = new Map();
    this.subagents = new Map();
    for (const owners of Object.values(this.owners)) owners.clear();
    this.runs += 1;
    const ids = { threadId: "t", runId: `run${this.runs}` };
    const asked: Message = { id: `u${which % 3}`, role: "user", content: text };
    const told: Message = { id: `d${this.runs}`, role: "developer", content: text };
    const messages = which < 4 ? [] : which < 8 ? [asked] : [told, asked];
    const input = { ...ids, messages, tools: [], context: [], ...(this.resume && { resume: [] }) };
    for (const { id } of messages) this.owners.message.set(id, { tag: undefined });
    this.emit({ type: "RUN_STARTED", ...ids, ...(messages.length > 0 || this.resume ? { input } : {}) });
    this.resume = false;
  }

  private text(id = this.messageId()): void {
    if (this.open.text.has(id)) return this.textMore();
    this.open.text.add(id);
    const role = ROLES[this.choice.other % 8];
    const name = this.choice.other === 3 ? { name: "Bo" } : {};
    this.emit({
      type: "TEXT_MESSAGE_START",
      messageId: id,
      ...(role && { role }),
      ...name,
      ...this.owned("message", id),
    });
  }
  private textMore(): void {
    const id = this.pick(this.open.text);
    if (id === undefined) return this.text();
    this.go("TEXT_MESSAGE_CONTENT", { messageId: id, delta: this.choice.text }, "message", id);
  }
  private textEnd(id = this.pick(this.open.text)): void {
    if (id === undefined) return this.text();
    this.open.text.delete(id);
    this.go("TEXT_MESSAGE_END", { messageId: id }, "message", id);
  }
  private textChunks(): void {
    const id = this.messageId();
    if (this.open.text.has(id)) return this.textMore();
    const { text, metadata } = this.choice;
    const tag = this.owned("message", id);
    const role = ROLES[this.choice.other % 4];
    this.chunks(
      { type: "TEXT_MESSAGE_CHUNK", messageId: id, role, delta: text, ...tag },
      { type: "TEXT_MESSAGE_CHUNK", delta: `${text}.`, ...tag, ...(metadata && { metadata }) },
      [
        { type: "TEXT_MESSAGE_START", messageId: id, role, ...tag },
        { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: `${text}${text}.` },
        { type: "TEXT_MESSAGE_END", messageId: id },
      ],
      tag,
    );
  }

  private call(): void {
    const start = this.callStart();
    if (!start) return this.callMore();
    this.open.call.add(start.toolCallId as string);
    this.emit({ type: "TOOL_CALL_START", ...start });
  }
  private callMore(): void {
    const id = this.pick(this.open.call);
    if (id !== undefined) this.go("TOOL_CALL_ARGS", { toolCallId: id, delta: this.choice.text }, "call", id);
  }
  private callEnd(id = this.pick(this.open.call)): void {
    if (id === undefined) return;
    this.open.call.delete(id);
    this.go("TOOL_CALL_END", { toolCallId: id }, "call", id);
  }
  private callChunks(): void {
    const start = this.callStart();
    if (!start) return this.callMore();
    const tag = start.subagentRunId === undefined ? {} : { subagentRunId: start.subagentRunId as string };
    const { toolCallId } = start;
    const delta = this.choice.text;
    this.chunks(
      { type: "TOOL_CALL_CHUNK", ...start, delta },
      { type: "TOOL_CALL_CHUNK", delta, ...tag },
      [
        { type: "TOOL_CALL_START", ...start },
        { type: "TOOL_CALL_ARGS", toolCallId, delta: delta + delta },
        { type: "TOOL_CALL_END", toolCallId },
      ],
      tag,
    );
  }
  private result(): void {
    const calls = this.log.timeline.list.flatMap((m) => (m.role === "assistant" ? (m.toolCalls ?? []) : []));
    const call = calls[this.choice.which % Math.max(1, calls.length)];
    this.tell(call?.id ?? "c0");
  }
  private strayResult(): void {
    this.tell("nobody's");
  }

  private span(): void {
    const id = `r${this.choice.which % 3}`;
    if (this.open.span.has(id)) return this.spanEnd();
    this.open.span.add(id);
    this.emit({ type: "REASONING_START", messageId: id, ...this.owned("reasoning", id) });
  }
  private spanEnd(id = this.pick(this.open.span)): void {
    if (id === undefined) return;
    this.open.span.delete(id);
    this.go("REASONING_END", { messageId: id }, "reasoning", id);
  }
  private thought(): void {
    const id = this.thoughtId();
    if (this.thoughts.has(id)) return this.thoughtMore();
    this.thoughts.add(id);
    const tag = this.owned("reasoning", id);
    this.emit({ type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning", ...tag });
  }
  private thoughtMore(): void {
    const id = this.pick(this.thoughts);
    if (id === undefined) return this.thought();
    this.go("REASONING_MESSAGE_CONTENT", { messageId: id, delta: this.choice.text }, "reasoning", id);
  }
  private thoughtEnd(id = this.pick(this.thoughts)): void {
    if (id === undefined) return;
    this.thoughts.delete(id);
    this.go("REASONING_MESSAGE_END", { messageId: id }, "reasoning", id);
  }
  private thoughtChunks(): void {
    const id = this.thoughtId();
    if (this.thoughts.has(id)) return this.thoughtMore();
    const delta = this.choice.text;
    const tag = this.owned("reasoning", id);
    this.chunks(
      { type: "REASONING_MESSAGE_CHUNK", messageId: id, delta, ...tag },
      { type: "REASONING_MESSAGE_CHUNK", delta, ...tag },
      [
        { type: "REASONING_MESSAGE_START", messageId: id, ...tag },
        { type: "REASONING_MESSAGE_CONTENT", messageId: id, delta: delta + delta },
        { type: "REASONING_MESSAGE_END", messageId: id },
      ],
      tag,
    );
  }

  private activity(): void {
    const { which, other, tag, patch } = this.choice;
    const messageId = which < 9 ? `a${which % 2}` : this.messageId();
    const replace = [undefined, true, false][other % 3];
    if (!this.owners.activity.has(messageId) || replace !== false)
      this.owners.activity.set(messageId, { tag });
    this.emit({
      type: "ACTIVITY_SNAPSHOT",
      messageId,
      activityType: TYPES[other % 2],
      content: { a: this.choice.json, b: patch.length },
      ...(replace !== undefined && { replace }),
      ...(tag !== undefined && { subagentRunId: tag }),
    });
  }
  private activityDelta(): void {
    const messageId = `a${this.choice.which % 3}`;
    const activityType = TYPES[this.choice.other % 2];
    // A patch of the whole content could leave one that AG-UI's own schema refuses.
    const patch = this.choice.patch.filter(({ path, from }) => path !== "" && from !== "");
    this.go("ACTIVITY_DELTA", { messageId, activityType, patch }, "activity", messageId);
  }

  private encrypted(): void {
    const entityId = this.choice.which % 2 ? this.messageId() : this.thoughtId();
    const kind = this.owners.message.has(entityId) ? "message" : "reasoning";
    const fields = { subtype: "message", entityId, encryptedValue: this.choice.text };
    this.go("REASONING_ENCRYPTED_VALUE", fields, kind, entityId);
  }
  private encryptedCall(): void {
    const entityId = `c${this.choice.which % 4}`;
    const fields = { subtype: "tool-call", entityId, encryptedValue: this.choice.text };
    this.go("REASONING_ENCRYPTED_VALUE", fields, "call", entityId);
  }

  private step(): void {
    const { which, tag } = this.choice;
    const step = { stepName: `step${which % 2}`, ...(tag !== undefined && { subagentRunId: tag }) };
    const key = `${tag} ${step.stepName}`;
    if (this.steps.has(key)) return this.stepEnd(key);
    this.steps.set(key, step);
    this.emit({ type: "STEP_STARTED", ...step });
  }
  private stepEnd(key = this.pick(this.steps.keys())): void {
    const step = key === undefined ? undefined : this.steps.get(key);
    if (key === undefined || !step) return;
    this.steps.delete(key);
    this.emit({ type: "STEP_FINISHED", ...step });
  }
  private subagent(): void {
    const id = `s${1 + (this.choice.which % 3)}`;
    if (this.subagents.has(id)) return this.subagentEnd();
    const parent = this.choice.other < 6 ? this.pick(this.subagents.keys()) : undefined;
    this.subagents.set(id, true);
    const from = parent === undefined ? {} : { parentSubagentRunId: parent };
    this.emit({ type: "SUBAGENT_STARTED", subagentRunId: id, name: "Helper", ...from });
  }
  private subagentEnd(id?: string): void {
    const active = [...this.subagents].filter(([, on]) => on).map(([name]) => name);
    const ended = id ?? this.pick(active);
    if (ended === undefined) return;
    this.subagents.set(ended, false);
    if (this.choice.other % 3 === 0)
      this.emit({ type: "SUBAGENT_ERROR", subagentRunId: ended, message: "no" });
    else this.emit({ type: "SUBAGENT_FINISHED", subagentRunId: ended });
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

  /** Keeps, rewrites and leaves out what is there, and adds something. */
  private messages(): void {
    const { which, other, text, json, tag } = this.choice;
    const held = this.log.timeline.list;
    const kept = held.flatMap((message, i): Message[] => {
      const fate = (i * 7 + which * 5 + other * i) % 5;
      if (fate === 0) return [];
      return [fate > 1 ? message : this.rewritten(message)];
    });
    const id = () => this.newId("n");
    const owner = tag === undefined ? {} : { subagentRunId: tag };
    const call = { id: `c${which % 4}`, type: "function" as const, function: { name: "f", arguments: text } };
    const added: Message[][] = [
      [],
      [],
      [{ id: id(), role: "assistant", content: text, ...owner }],
      [{ id: id(), role: "assistant", toolCalls: [call], ...owner }],
      [{ id: id(), role: "reasoning", content: text }],
      [{ id: id(), role: "activity", activityType: "PLAN", content: { a: json }, ...owner }],
      [{ id: id(), role: "tool", toolCallId: "c1", content: text, error: "no" }],
      [{ id: id(), role: "user", content: [{ type: "text", text }] }],
    ];
    const messages = [...kept, ...(added[other % added.length] ?? [])];
    if (which % 3 === 0) messages.reverse();
    const note = AUTHORITIES[which % AUTHORITIES.length];
    const metadata = note === undefined ? {} : { metadata: { "@ag-ui/client": note } };
    for (const message of messages) {
      const kind = message.role === "reasoning" || message.role === "activity" ? message.role : "message";
      this.owners[kind].set(message.id, { tag: message.subagentRunId });
      for (const { id: of } of message.role === "assistant" ? (message.toolCalls ?? []) : [])
        this.owners.call.set(of, { tag: message.subagentRunId });
    }
    this.emit({ type: "MESSAGES_SNAPSHOT", messages, ...metadata });
  }

  private finish(outcome?: Fields): void {
    for (const id of this.open.text) this.textEnd(id);
    for (const id of this.open.call) this.callEnd(id);
    for (const id of this.thoughts) this.thoughtEnd(id);
    for (const id of this.open.span) this.spanEnd(id);
    for (const key of [...this.steps.keys()]) this.stepEnd(key);
    for (const [id, on] of this.subagents) if (on) this.subagentEnd(id);
    const ids = { threadId: "t", runId: `run${this.runs}` };
    const pending = this.choice.which === 11 && [
      ...(this.log.timeline.runs.get(ids.runId)?.calls.keys() ?? []),
    ];
    const success = pending && { outcome: { type: "success", pendingToolCallIds: pending } };
    this.running = false;
    this.finished = true;
    this.emit({ type: "RUN_FINISHED", ...ids, ...(outcome ? { outcome } : success) });
  }
  private cancel(): void {
    this.finish({ type: "cancelled" });
  }
  private interrupt(): void {
    this.resume = true;
    const interrupt = { id: `i${this.runs}`, reason: "confirmation", message: this.choice.text };
    this.finish({ type: "interrupt", interrupts: [interrupt] });
  }
  private fail(): void {
    this.running = false;
    this.finished = false;
    this.emit({ type: "RUN_ERROR", message: "broke", code: "X" });
  }
  private tell(toolCallId: string): void {
    const { tag, text } = this.choice;
    // Always a new id: with a known one an AG-UI client holds two messages of that id.
    const messageId = this.newId("t");
    this.owners.message.set(messageId, { tag });
    const content = this.choice.other % 4 ? text : [{ type: "text", text }];
    const owner = tag === undefined ? {} : { subagentRunId: tag };
    this.emit({ type: "TOOL_CALL_RESULT", messageId, toolCallId, content, ...owner });
  }

  /** Fields of a TOOL_CALL_START, or none when that call is open or would double a message id. */
  private callStart(): { [name: string]: unknown } | null {
    const { which, other, tag } = this.choice;
    const toolCallId = `c${which % 4}`;
    if (this.open.call.has(toolCallId)) return null;
    const { messages } = this.log.timeline;
    const parent = other < 4 ? undefined : other < 10 ? this.messageId() : "";
    const held = parent ? messages.get(parent) : undefined;
    const mints = !parent || (held && held.message.role !== "assistant");
    if (mints && messages.get(toolCallId) && !messages.call(toolCallId)) return null;
    const from = parent ? this.owners.message.get(parent) : undefined;
    const known = this.owners.call.get(toolCallId);
    let owner = from && from.tag !== tag ? undefined : tag;
    if (known && owner !== undefined && known.tag !== owner) owner = undefined;
    if (known && owner === undefined && from && from.tag !== known.tag) return null;
    if (!known)
      this.owners.call.set(toolCallId, owner !== undefined ? { tag: owner } : (from ?? { tag: owner }));
    return {
      toolCallId,
      toolCallName: other % 2 ? "search" : "book",
      ...(parent !== undefined && { parentMessageId: parent }),
      ...(owner !== undefined && { subagentRunId: owner }),
    };
  }

  private rewritten(message: Message): Message {
    const { text } = this.choice;
    if (message.role === "activity") return { ...message, content: { a: text } };
    if (message.role === "assistant" && this.choice.other % 2)
      return { id: message.id, role: "assistant", content: text };
    return { ...message, content: text } as Message;
  }

  /** Ids of all kinds of messages, mostly of those meant for text. */
  private messageId(): string {
    const { which } = this.choice;
    const id = ["m0", "m1", "m2", "m3", "m4", "c0", "c1", "r0", "a0", "u0", "t1", "n1"][which] as string;
    // Ids of results and of what a snapshot adds are made up as they come, and must not be there before.
    return id !== "t1" && id !== "n1" ? id : this.log.timeline.messages.get(id) ? id : "m0";
  }
  private thoughtId(): string {
    const { which } = this.choice;
    return which < 9 ? `r${which % 3}` : `m${which % 3}`;
  }
  private newId(letter: string): string {
    this.fresh += 1;
    return `${letter}${this.fresh}`;
  }
  private pick<T>(from: Iterable<T>): T | undefined {
    const all = [...from];
    return all[this.choice.which % Math.max(1, all.length)];
  }

  /** The attribution of an opening event: the first one owns for the run; without one is always legal. */
  private owned(kind: "message" | "reasoning", id: string): { subagentRunId?: string } {
    const { tag } = this.choice;
    const owner = this.owners[kind].get(id);
    if (!owner) this.owners[kind].set(id, { tag });
    return tag === undefined || (owner && owner.tag !== tag) ? {} : { subagentRunId: tag };
  }

  /** An event that goes on with something; it may carry the owner's attribution or none. */
  private go(type: string, fields: object, kind: keyof StreamWriter["owners"], id: string): void {
    const tag = this.owners[kind].get(id)?.tag;
    const owner = tag !== undefined && this.choice.other % 2 ? { subagentRunId: tag } : {};
    this.emit({ type, ...fields, ...owner });
  }

  /** Two chunks, and an event that ends their stream. */
  private chunks(first: Fields, second: Fields, expanded: Fields[], tag: { subagentRunId?: string }): void {
    this.events.push(first as unknown as AGUIEvent, second as unknown as AGUIEvent);
    for (const event of expanded) this.response.event(event as unknown as AGUIEvent);
    this.events.push({ type: "CUSTOM", name: "end", value: 0, ...tag } as unknown as AGUIEvent);
  }

  private emit(fields: Fields): void {
    const { metadata } = this.choice;
    const event = { ...(metadata && { metadata }), ...fields } as unknown as AGUIEvent;
    this.events.push(event);
    this.response.event(event);
  }
}
