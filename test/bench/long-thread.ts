import type { AGUIEvent, Author, Message, NewEntry } from "../../shared/protocol/index.ts";
import { words } from "./sample-events.ts";

const MESSAGES_PER_RUN = 20;
/** 400 entries a run: 5 around its 19 assistant messages, 395 that make them. */
const ENTRIES_PER_RUN = 400;
const PERSON: Author = { kind: "user", id: "guest:ana", name: "Ana" };

/** How long a thread of that many messages is: 20 entries a message. */
export function entriesOf(messages: number): number {
  return (messages / MESSAGES_PER_RUN) * ENTRIES_PER_RUN;
}

/**
 * The log of a thread as people and a streaming agent leave it: runs of one question and 19 streamed
 * messages, 20 entries a message on average.
 * @param messages a multiple of 20
 * @param bytes of text in each message
 */
export function* longThread(messages: number, bytes: number): Generator<NewEntry[]> {
  for (let run = 0; run < messages / MESSAGES_PER_RUN; run += 1) yield oneRun(run, bytes);
}

/** The same as an AG-UI agent's stream: what a stock client is given to replay. */
export function* longStream(messages: number, bytes: number, threadId: string): Generator<AGUIEvent> {
  for (const entries of longThread(messages, bytes)) {
    const asked = entries.flatMap((entry) => (entry.kind === "message" ? [entry.message] : []));
    for (const entry of entries) {
      if (entry.kind !== "event") continue;
      const { event, run: runId } = entry;
      const input = { threadId, runId, messages: asked, tools: [], context: [] };
      yield (event.type as string) === "RUN_STARTED" ? { ...event, threadId, input } : { ...event };
    }
  }
}

function oneRun(n: number, bytes: number): NewEntry[] {
  const run = `run-${String(n).padStart(6, "0")}`;
  const inputId = `input-${String(n).padStart(6, "0")}`;
  const ids = { threadId: "long", runId: run };
  const message: Message = { id: `${inputId}-m`, role: "user", content: words(bytes), name: "Ana" };
  const event = (fields: object, start?: object) =>
    ({ kind: "event", run, event: fields, ...start }) as unknown as NewEntry;
  const entries: NewEntry[] = [
    {
      kind: "input",
      by: PERSON,
      inputId,
      status: "running",
      runId: run,
      agent: "planner",
      messages: [message],
    },
    { kind: "message", by: PERSON, turn: inputId, message },
    event({ type: "RUN_STARTED", ...ids }, { start: { agent: "planner", by: PERSON, inputId } }),
  ];
  const streamed = MESSAGES_PER_RUN - 1;
  const left = ENTRIES_PER_RUN - 5;
  for (let i = 0; i < streamed; i += 1) {
    const pieces = Math.floor(left / streamed) + (i < left % streamed ? 1 : 0) - 2;
    entries.push(...oneMessage(`${run}-m${String(i).padStart(2, "0")}`, pieces, bytes).map((e) => event(e)));
  }
  entries.push(event({ type: "RUN_FINISHED", ...ids, outcome: { type: "success" } }), {
    kind: "input",
    by: { kind: "system" },
    inputId,
    status: "done",
    runId: run,
  });
  return entries;
}

function oneMessage(messageId: string, pieces: number, bytes: number): object[] {
  const text = words(bytes);
  const cut = (i: number) => Math.round((bytes * i) / pieces);
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    ...Array.from({ length: pieces }, (_, i) => ({
      type: "TEXT_MESSAGE_CONTENT",
      messageId,
      delta: text.slice(cut(i), cut(i + 1)),
    })),
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}
