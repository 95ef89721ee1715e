import { describe, expect, test } from "vitest";
import { demoAgent } from "../server/agents/demo.ts";
import type { AGUIEvent, Message } from "../shared/protocol/index.ts";
import { fromSnapshot, Timeline } from "../shared/timeline/index.ts";
import { entriesOf } from "./kit/entries.ts";
import { describeWithFixtures } from "./kit/fixtures.ts";
import { expandStock, muteStock, playStock } from "./kit/stock-client.ts";
import { folded, inner, joinedAt, StoredFold, sent, throughJson } from "./kit/timeline-cuts.ts";

muteStock();

/** A recorded stream, what the thread had before it, and what the stock pipeline makes of it. */
type Recorded = { name: string; raw: AGUIEvent[]; messages: Message[]; events: AGUIEvent[]; thread: string };

const isTerminal = ({ type }: AGUIEvent) => ["RUN_FINISHED", "RUN_ERROR"].includes(type as string);

/** What people submit is brought into the shapes of AG-UI 1.0 first, as an agent's events are. */
function translated(messages: Message[], threadId: string): Message[] {
  const input = { threadId, runId: "r", messages, tools: [], context: [] };
  const { events } = expandStock([
    { type: "RUN_STARTED", threadId, runId: "r", input } as unknown as AGUIEvent,
  ]);
  return (events[0]!.input as typeof input).messages;
}

/** Takes a stream and what the agent was given. */
function record(name: string, stream: AGUIEvent[], given: Message[] = []): Recorded {
  const thread = String(stream.find((event) => event.threadId !== undefined)?.threadId ?? "t");
  const { events } = expandStock(stream);
  // The translation of THINKING events makes up ids, others each time.
  const raw = stream.some(({ type }) => (type as string).startsWith("THINKING")) ? events : stream;
  return { name, raw, messages: translated(given, thread), events, thread };
}

describeWithFixtures("recorded streams", ({ traces, streams }) => {
  const complete = streams.filter((stream) => stream.expect.outcome === "completed");
  prove([
    ...Object.entries(traces).map(([name, raw]) => record(name, raw)),
    ...complete.map(({ name, stream, input }) => record(name, stream, input?.messages)),
  ]);
});

describe("streams of the demo agent", async () => {
  const demo = demoAgent({ speed: 0 });
  const asked: Message[] = ["Plan a launch for the bakery", "Show me some code"].map((content, i) => ({
    id: `u${i}`,
    role: "user",
    content,
  }));
  const stream: AGUIEvent[] = [];
  for (const [i, message] of asked.entries()) {
    const input = { threadId: "t", runId: `r${i}`, messages: [message], tools: [], context: [] };
    for await (const event of demo(input, { signal: new AbortController().signal }))
      stream.push(event as AGUIEvent);
  }
  prove([record("two runs", stream, asked)], 7);
});

/** @param every of how many cuts a stock client joins at one */
function prove(recorded: Recorded[], every = 1): void {
  test.each(recorded)("[T2] [T5] $name folds as a stock client folds it", async (stream) => {
    const { raw, messages, events } = stream;
    const stock = await playStock(raw, { messages });
    expect(stock.error).toBeNull();
    const timeline = folded(entriesOf(events, { messages }));
    expect(timeline.list).toEqual(stock.messages);
    expect(timeline.state).toEqual(stock.state);
  });

  test.each(recorded)(
    "[J4] [L6] $name cut anywhere goes on from a snapshot and from a stored fold",
    (stream) => {
      const entries = throughJson(entriesOf(stream.events, stream));
      const uncut = folded(entries);
      const [end, whole] = [sent(uncut), inner(uncut)];
      const timeline = new Timeline();
      const store = new StoredFold();
      for (let cut = 0; cut <= entries.length; cut += 1) {
        if (cut > 0) timeline.apply(entries[cut - 1]!);
        const rest = entries.slice(cut);
        expect(sent(folded(rest, fromSnapshot(sent(timeline)))), `cut at ${cut}`).toEqual(end);
        if (cut % 3) continue;
        store.take(timeline);
        expect(inner(folded(rest, store.load())), `cut at ${cut}`).toEqual(whole);
      }
    },
  );

  test.each(recorded)("[P1] [P2] [P3] [P4] a stock client may join $name anywhere", async (stream) => {
    const { messages, events, thread } = stream;
    const entries = entriesOf(events, { messages });
    const ends = entries.flatMap((entry, i) =>
      entry.kind === "event" && isTerminal(entry.event) ? [i + 1] : [],
    );
    const uncut = await Promise.all(
      events.flatMap((event, i) =>
        isTerminal(event) ? [playStock(events.slice(0, i + 1), { messages })] : [],
      ),
    );
    expect(uncut.length).toBe(ends.length);
    for (let cut = 0; cut <= entries.length; cut += every) {
      // Playing each cut of a long stream to its end takes minutes, and every run begins anew: most are played
      // to the end of their run only.
      const next = ends.findIndex((end) => end >= cut);
      const last = cut % 40 === 0 || next < 0 ? ends.length - 1 : next;
      const joined = await playStock(joinedAt(entries.slice(0, Math.max(cut, ends[last]!)), cut, thread));
      expect(joined.error, `cut at ${cut}`).toBeNull();
      expect(joined.state, `cut at ${cut}`).toEqual(uncut[last]?.state);
      expect(joined.messages, `cut at ${cut}`).toEqual(uncut[last]?.messages);
    }
  });
}
