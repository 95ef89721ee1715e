import { HttpAgent } from "@ag-ui/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { type Client, createClient, type SocketConstructor, type Thread } from "../client/index.ts";
import { demoAgent } from "../server/agents/demo.ts";
import { type CothreadServer, createServer } from "../server/index.ts";
import type { AGUIEvent, DownFrameOf, Entry, Message } from "../shared/protocol/index.ts";
import { fromSnapshot, prelude, StockTail } from "../shared/timeline/index.ts";
import { langgraphTraces } from "./kit/fixtures.ts";
import { RawClient } from "./kit/raw-client.ts";
import { type RecordedAgent, recordedAgent, rewritten } from "./kit/recorded-agent.ts";
import { muteStock, playStock } from "./kit/stock-client.ts";

muteStock();

/** Recordings by name; the project's own when the fixtures are not beside the checkout. */
const recordings: Record<string, AGUIEvent[]> = langgraphTraces() ?? {};

async function ownRecording(): Promise<AGUIEvent[]> {
  const question = { id: "q", role: "user" as const, content: "Plan the launch of our mobile app" };
  const input = { threadId: "t", runId: "r", state: {}, messages: [question], tools: [], context: [] };
  const events: AGUIEvent[] = [];
  for await (const event of demoAgent({ speed: 0 })(input, { signal: new AbortController().signal }))
    events.push({
      ...event,
      ...((event.type as string) === "RUN_STARTED" && { input }),
    } as unknown as AGUIEvent);
  return events;
}

function firstQuestion([started]: readonly AGUIEvent[]): Message {
  const input = started?.input as { messages: Message[] } | undefined;
  return input?.messages.find(({ role }) => role === "user") as Message;
}

/** Resolves when a thread shows something. */
function until(thread: Thread, shows: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = thread.subscribe(() => look());
    const look = () => {
      if (!shows()) return;
      stop();
      resolve();
    };
    look();
  });
}

const clients: Client[] = [];
function person(url: string, name: string): Client {
  const client = createClient({
    url,
    user: { id: name, name },
    WebSocket: WebSocket as unknown as SocketConstructor,
  });
  clients.push(client);
  return client;
}

describe.each([
  ["SSE", false],
  ["protobuf", true],
])("an agent's recorded streams over %s", (_wire, binary) => {
  let server: CothreadServer;
  let agent: RecordedAgent;
  const names = ["own", ...Object.keys(recordings)];

  async function start(stream: AGUIEvent[]) {
    agent = await recordedAgent(stream, { stepwise: true, binary });
    server = await createServer({
      port: 0,
      store: "memory:",
      app: false,
      logLevel: "silent",
      // A stock client is to see all of the state; what the defaults keep back has a test of its own.
      agents: { recorded: { agent: new HttpAgent({ url: agent.url }), privateState: [] } },
    });
  }
  afterAll(() => {
    for (const client of clients) client.close();
  });

  test.each(names)("%s: two people, one who comes later, and a stock client end alike", async (name) => {
    const stream = name === "own" ? await ownRecording() : (recordings[name] as AGUIEvent[]);
    await start(stream);
    const question = firstQuestion(stream);
    const [ana, ben] = ["Ana", "Ben"].map((who) => person(server.url, who).thread("t")) as [Thread, Thread];
    await Promise.all([ana.ready, ben.ready]);
    const raw = await RawClient.hello(server.url, "Raw");
    await ana.send({ id: question.id, role: "user", content: question.content as string });
    await agent.step(Math.floor(stream.length / 2));
    await until(ana, () => (ana.cursor?.seq ?? 0) > 5);

    // Somebody says something while the agent works, somebody comes, and a stock client does.
    await ben.note({ id: "meanwhile", role: "user", content: "I moved the date." });
    const late = person(server.url, "Late").thread("t");
    await late.ready;
    const { contents } = await raw.join("t");
    const snapshot = contents as DownFrameOf<"snapshot">;
    await agent.step(stream.length);
    await ben.note({ id: "end", role: "user", content: "Done?" });
    const ended = () => ana.runs.length === 0 && ana.inputs.length === 0 && agent.left === 0;
    await until(ana, () => ended() && ana.messages.some(({ id }) => id === "end"));
    const last = ana.cursor?.seq ?? 0;
    for (const thread of [ben, late]) await until(thread, () => (thread.cursor?.seq ?? 0) >= last);

    for (const thread of [ben, late]) {
      expect(thread.messages).toEqual(ana.messages);
      expect(thread.state).toEqual(ana.state);
    }
    // [R7] The agent's snapshots hold only what it knew; what a person wrote meanwhile stays, with its author.
    const meanwhile = ana.messages.find(({ id }) => id === "meanwhile");
    expect(meanwhile).toMatchObject({
      content: "I moved the date.",
      name: "Ben",
      metadata: { cothread: { user: { id: "guest:Ben", name: "Ben" } } },
    });
    expect(ana.about("meanwhile")?.by).toEqual({ kind: "user", id: "guest:Ben", name: "Ben" });

    await raw.entry(({ seq }) => seq >= last);
    const entries: Entry[] = raw.frames.flatMap((frame) => (frame.type === "entries" ? frame.items : []));
    const tail = new StockTail("t", fromSnapshot(snapshot));
    const played = await playStock([...prelude(snapshot), ...entries.flatMap((entry) => tail.push(entry))]);
    expect(played.error).toBeNull();
    // What came after the last run goes along with the next one.
    expect(played.messages).toEqual(
      ana.messages.filter(({ id }) => id !== "end" || played.messages.some((m) => m.id === "end")),
    );
    expect(played.state).toEqual(ana.state);

    // The agent's own stream, heard without us: we added nothing to it and lost nothing of it.
    const alone = await playStock(rewritten(stream, agent.inputs[0] as never), { messages: [question] });
    expect(ana.messages.filter(({ id }) => id !== "meanwhile" && id !== "end").map(({ id }) => id)).toEqual(
      alone.messages.map(({ id }) => id),
    );
    expect(ana.state).toEqual(alone.state);
    raw.close();
    await server.close({ drainMs: 0 });
    await agent.close();
  });
});

beforeAll(() => {
  if (Object.keys(recordings).length === 0)
    console.warn("the LangGraph recordings are not beside this checkout; only the project's own is played");
});
