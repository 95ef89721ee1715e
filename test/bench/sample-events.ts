import { type BaseEvent, EventType } from "@ag-ui/core";

const PER_MESSAGE = 50;

/**
 * Events of a streaming agent without end: text messages of 50 pieces each, every piece an event of
 * `bytes` bytes as JSON.
 */
export function* sampleEvents(bytes: number): Generator<BaseEvent, never> {
  for (let n = 1; ; n += 1) {
    const messageId = `message-${String(n).padStart(6, "0")}`;
    const bare = { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: "" };
    const delta = words(bytes - JSON.stringify(bare).length);
    yield { type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" } as BaseEvent;
    for (let i = 0; i < PER_MESSAGE; i += 1) yield { ...bare, delta } as BaseEvent;
    yield { type: EventType.TEXT_MESSAGE_END, messageId } as BaseEvent;
  }
}

/** Text of exactly that many ASCII characters. */
export function words(length: number): string {
  const sentence = "The quick brown fox jumps over the lazy dog, and the dog does not mind. ";
  return sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length);
}
