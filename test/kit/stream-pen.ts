import type { AGUIEvent, Json, JsonPatch, Metadata } from "../../shared/protocol/index.ts";
import { TestLog, TestResponse } from "./entries.ts";
import { type Owned, StreamScope } from "./stream-scope.ts";

/** What a stream writer can be told to do next. */
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

/** An event as it is being written. */
export type Fields = { type: string; [name: string]: unknown };

/** What every event of a stream is written with: the choice at hand, ids, and what is open in the run. */
export class StreamPen {
  protected readonly events: AGUIEvent[] = [];
  protected readonly log = new TestLog();
  private readonly response = new TestResponse(this.log);
  protected readonly prefix: string;
  protected choice!: Choice;
  protected scope = new StreamScope();
  private made = 0;

  /** @param prefix what all ids begin with, so that two streams may be in one log */
  constructor(prefix = "") {
    this.prefix = prefix;
  }

  /** Ids of all kinds of messages, mostly of those meant for text. */
  protected messageId(): string {
    const ids = ["m0", "m1", "m2", "m3", "m4", "c0", "c1", "r0", "a0", "u0", "t1", "n1"];
    const id = ids[this.choice.which] as string;
    // Ids of results and of what a snapshot adds are made up as they come, and must not be there before.
    const isFree = (id === "t1" || id === "n1") && !this.log.timeline.messages.get(this.prefix + id);
    return this.prefix + (isFree ? "m0" : id);
  }
  protected thoughtId(): string {
    const { which } = this.choice;
    return `${this.prefix}${which < 9 ? "r" : "m"}${which % 3}`;
  }
  protected callId(): string {
    return `${this.prefix}c${this.choice.which % 4}`;
  }
  protected newId(letter: string): string {
    this.made += 1;
    return `${this.prefix}${letter}${this.made}`;
  }
  protected pick<T>(from: Iterable<T>): T | undefined {
    const all = [...from];
    return all[this.choice.which % Math.max(1, all.length)];
  }

  /** An event that goes on with something; it may carry the owner's attribution or none. */
  protected go(type: string, fields: object, kind: Owned, id: string): void {
    this.emit({ type, ...fields, ...(this.choice.other % 2 ? this.scope.continuing(kind, id) : {}) });
  }

  /** Two chunks, and an event that ends their stream; `start` is what they expand to at first. */
  protected chunks(chunks: [Fields, Fields], start: Fields): void {
    const { subagentRunId: tag, messageId, toolCallId } = start;
    const end = { type: "CUSTOM", name: "end", value: 0, ...(tag !== undefined && { subagentRunId: tag }) };
    this.events.push(...([...chunks, end] as unknown as AGUIEvent[]));
    const stem = start.type.slice(0, -"_START".length);
    const id = toolCallId === undefined ? { messageId } : { toolCallId };
    const goesOn = toolCallId === undefined ? "CONTENT" : "ARGS";
    const texts = chunks.map(({ delta }) => ({ type: `${stem}_${goesOn}`, ...id, delta }));
    this.note(start, ...texts, { type: `${stem}_END`, ...id });
  }

  protected emit(fields: Fields): void {
    const { metadata } = this.choice;
    const event = { ...(metadata && { metadata }), ...fields };
    this.events.push(event as unknown as AGUIEvent);
    this.note(event);
  }

  /** Keeps the messages that the stream makes at hand, to choose from. */
  private note(...events: Fields[]): void {
    for (const event of events) this.response.event(event as unknown as AGUIEvent);
  }
}
