import { expect, test } from "vitest";
import { demoAgent } from "../server/agents/demo.ts";
import type { AGUIEvent, Message } from "../shared/protocol/index.ts";
import { fromSnapshot, prelude, StockTail } from "../shared/timeline/index.ts";
import { describeWithFixtures } from "./kit/fixtures.ts";
import { Follower } from "./kit/follower.ts";
import { PairedServer } from "./kit/paired-server.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { rewritten } from "./kit/recorded-agent.ts";
import { expandStock, muteStock, playStock } from "./kit/stock-client.ts";

muteStock();

const THREAD = "recorded";

/** The first message a person wrote in a recording, for whoever submits it here. */
function question(stream: readonly AGUIEvent[]): Message {
  const messages = (stream[0]?.input as { messages?: Message[] } | undefined)?.messages ?? [];
  return messages.find(({ role }) => role === "user") ?? { id: "question", role: "user", content: "Go on." };
}

// The server stamps a person's messages, and an agent's snapshot does not take the stamp away again: a
// stock client that hears the agent alone knows neither.
const unstamped = (messages: readonly Message[]) =>
  messages.map((message) => {
    if (message.role !== "user") return message;
    const { name: _n, metadata: _m, ...rest } = message;
    return rest;
  });

/**
 * Plays a stream into a thread event by event. At every point a client is cut and comes back with its cursor,
 * others come in without one, or with a cursor of another epoch or mark; all must end alike. So must an SDK
 * client that loses its connection at every single point, one that does and asks for the newest message alone,
 * one that never does, and a stock AG-UI client.
 * @returns how many cut points there were
 */
async function playWithCuts(stream: readonly AGUIEvent[]): Promise<number> {
  const puppet = new PuppetAgent();
  const server = new PairedServer({ puppet: { agent: puppet, idleMs: 10 ** 9, privateState: [] } });
  const whole = new Follower(server, THREAD);
  whole.connect();
  const steady = server.client("Ann");
  const shaky = server.client("Ben");
  const [steadyThread, shakyThread] = [steady.thread(THREAD), shaky.thread(THREAD)];
  const narrow = server.client("Cid", { history: 1 });
  const narrowThread = narrow.thread(THREAD);
  await server.settle();
  const cutters = stream.map(() => new Follower(server, THREAD));
  for (const cutter of cutters) cutter.connect();
  await server.settle();

  const { id, content } = question(stream);
  void steadyThread.send({ id, role: "user", content: content as string });
  await server.settle();
  const run = await puppet.next();
  const events = rewritten(stream, run.input);
  const variants: { cut: number; back: Follower; comer: Follower }[] = [];
  for (const [cut, event] of events.entries()) {
    run.emit(event);
    await server.settle();
    const leaver = cutters[cut] as Follower;
    const cursor = leaver.cursor;
    leaver.cut();
    leaver.connect(cursor);
    const comer = new Follower(server, THREAD);
    comer.connect();
    variants.push({ cut, back: leaver, comer });
    const strangers = [
      { ...cursor, epoch: "another" },
      { ...cursor, mark: "AAAAAAAAAAAA" },
    ].map((given) => {
      const follower = new Follower(server, THREAD);
      follower.connect(given);
      return follower;
    });
    await server.settle();
    // A cursor that is no good brings the same snapshot as none; what comes behind it is one broadcast.
    for (const { joined, snapshot } of strangers) {
      expect(joined?.recovered).toBe(false);
      expect(snapshot).toEqual(comer.snapshot);
    }
    for (const stranger of strangers) stranger.cut();
    server.cut("Ben");
    server.cut("Cid");
    await server.settle();
    await server.pass(30_000);
  }
  run.end();
  await server.pass(2_000);
  void steadyThread.note("That was it.");
  await server.settle();
  // In steps: whoever dials in the middle of a long one has waited too long at its end.
  for (let i = 0; i < 30; i += 1) await server.pass(2_000);

  const messages = whole.timeline.list;
  const { state } = whole.timeline;
  expect(messages.at(-1)?.content).toBe("That was it.");
  for (const { cut, back, comer } of variants) {
    for (const [what, follower, recovered] of [
      ["with its cursor", back, true],
      ["without a cursor", comer, false],
    ] as const) {
      const where = `cut after event ${cut} (${events[cut]?.type}), back ${what}`;
      expect(follower.joined?.recovered, where).toBe(recovered);
      expect(follower.timeline.list, where).toEqual(messages);
      expect(follower.timeline.state, where).toEqual(state);
      expect(follower.timeline.runs.size, where).toBe(0);
    }
  }
  const recordedEnds = events
    .filter(({ type }) => /^RUN_(FINISHED|ERROR)$/.test(type))
    .map(({ type }) => type);
  const loggedEnds = whole.entries.flatMap((entry) =>
    entry.kind === "event" && /^RUN_(FINISHED|ERROR)$/.test(entry.event.type) ? [entry.event.type] : [],
  );
  // A recording that stops in the middle of a run is a truncated one: the server says so.
  const truncated = !/^RUN_(FINISHED|ERROR)$/.test(events.at(-1)?.type ?? "");
  expect(loggedEnds).toEqual([...recordedEnds, ...(truncated ? ["RUN_ERROR"] : [])]);
  for (const [name, thread] of [
    ["never cut", steadyThread],
    ["cut at every event", shakyThread],
  ] as const) {
    expect(thread.messages, `the SDK client ${name}`).toEqual(messages);
    expect(thread.state, `the SDK client ${name}`).toEqual(state);
  }
  // One that never had more than the newest messages shows those, and nothing else in between.
  const newest = narrowThread.messages.length;
  expect(newest).toBeGreaterThan(0);
  expect(narrowThread.messages, "the SDK client with a window").toEqual(messages.slice(-newest));

  // An unmodified AG-UI client: prelude from each snapshot, tail from the entries behind it.
  const uncut = await playStock(events, { messages: [{ id, role: "user", content } as Message] });
  expect(uncut.error).toBeNull();
  for (const { cut, comer } of variants) {
    const snapshot = comer.snapshot as NonNullable<typeof comer.snapshot>;
    const tail = new StockTail(THREAD, fromSnapshot(snapshot));
    const sent = [...prelude(snapshot), ...comer.entries.flatMap((entry) => tail.push(entry))];
    const played = await playStock(sent);
    const where = `stock client that comes in after event ${cut} (${events[cut]?.type})`;
    expect(played.error, where).toBeNull();
    expect(unstamped(played.messages), where).toEqual(unstamped(uncut.messages));
    expect(played.state, where).toEqual(uncut.state);
  }
  steady.close();
  shaky.close();
  narrow.close();
  return events.length;
}

// Streams the stock client itself refuses are the agent's fault and end in RUN_ERROR; others are for here.
const legal = (stream: readonly AGUIEvent[]) => stream.length > 1 && expandStock(stream).error === null;

describeWithFixtures("recorded streams", ({ traces, streams }) => {
  for (const [name, stream] of Object.entries(traces)) {
    test(`[J2] [C2] [C3] [P4] every cut point of the LangGraph recording ${name}`, async () => {
      const cuts = await playWithCuts(stream);
      console.log(`${name}: ${cuts} cut points, each with 4 ways back, an SDK client and a stock client`);
    }, 120_000);
  }
  test("[J2] [C2] [C3] [P4] every cut point of the conformance streams that are legal", async () => {
    let cuts = 0;
    const played = streams.filter(({ stream, client, input }) => !client && !input && legal(stream));
    for (const { stream } of played) cuts += await playWithCuts(stream);
    console.log(`conformance: ${played.length} streams, ${cuts} cut points`);
    expect(played.length).toBeGreaterThan(30);
  }, 120_000);
});

const SEEDS = process.env.COTHREAD_SOAK ? [1, 2, 3, 4, 5] : [1];

test.each(SEEDS)(
  "[J2] [C2] [C3] [P4] every cut point of a run of the demo agent, seed %i",
  async (seed) => {
    const stream: AGUIEvent[] = [];
    const question = { id: "q", role: "user" as const, content: "Plan the launch of our mobile app" };
    const input = { threadId: "t", runId: "r", state: {}, messages: [question], tools: [], context: [] };
    const { signal } = new AbortController();
    for await (const event of demoAgent({ seed, speed: 0 })(input, { signal })) {
      const first = (event.type as string) === "RUN_STARTED";
      stream.push({ ...event, ...(first && { input }) } as unknown as AGUIEvent);
    }
    await playWithCuts(stream);
  },
  120_000,
);
