import { AbstractAgent, type BaseEvent, type RunAgentInput } from "@ag-ui/client";
import { from, type Observable } from "rxjs";
import { expect, test } from "vitest";
import { settled } from "./kit/fake-clock.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { type TestReader, TestRooms } from "./kit/server.ts";

const saying = (messageId: string, delta: string) => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
  { type: "TEXT_MESSAGE_END", messageId },
];

function open() {
  const [a, b] = [new PuppetAgent(), new PuppetAgent()];
  return { a, b, rooms: new TestRooms({ agents: { a, b } }) };
}

const shown = async (rooms: TestRooms) => {
  const { catchUp } = (await rooms.join("t", "Late")).reply;
  if (catchUp.kind !== "snapshot") throw new Error("not a snapshot");
  return catchUp.snapshot.messages.map(({ id, role, content }) => [id, role, content]);
};

/** Ana's second message waits under the id `same`, which the agent then uses. */
async function taken(rooms: TestRooms, a: PuppetAgent): Promise<{ ana: TestReader; run: PuppetRun }> {
  const ana = await rooms.join("t", "Ana");
  await ana.submit("", { runId: "r1", messages: [{ id: "q", role: "user", content: "go" }] });
  const run = await a.next();
  run.start();
  const messages = [{ id: "same", role: "user", content: "Ana's" }];
  await ana.submit("", { runId: "r2", messages });
  return { ana, run };
}
type PuppetRun = Awaited<ReturnType<PuppetAgent["next"]>>;

test("[R12] an agent that uses the id of a message in the queue takes nothing from who wrote it", async () => {
  const { a, rooms } = open();
  const { run } = await taken(rooms, a);
  run.emit(...saying("same", "the agent's"));
  run.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "look", parentMessageId: "same" });
  run.emit({ type: "TOOL_CALL_END", toolCallId: "c" });
  run.finish().end();
  const next = await a.next();
  expect(next.input.messages).toMatchObject([
    { id: "q" },
    { id: "r1:same", role: "assistant", content: "the agent's", toolCalls: [{ id: "c" }] },
    { id: "same", role: "user", content: "Ana's" },
  ]);
});

test("[R12] the same for an agent that lists its messages, in a snapshot or as what it was given", async () => {
  const { a, rooms } = open();
  const { run } = await taken(rooms, a);
  run.emit({
    type: "MESSAGES_SNAPSHOT",
    messages: [
      { id: "q", role: "user", content: "go" },
      { id: "same", role: "assistant", content: "the agent's" },
    ],
  });
  run.emit({ type: "TEXT_MESSAGE_START", messageId: "same", role: "assistant" });
  run.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "same", delta: ", more" });
  run.emit({ type: "TEXT_MESSAGE_END", messageId: "same" });
  run.finish().end();
  await a.next();
  await settled();
  expect(await shown(rooms)).toEqual([
    ["q", "user", "go"],
    ["r1:same", "assistant", "the agent's, more"],
    ["same", "user", "Ana's"],
  ]);
});

test("[R12] ids that are nobody else's stay as they are, in the queue or not", async () => {
  const { a, rooms } = open();
  const { run } = await taken(rooms, a);
  run.emit(...saying("mine", "one"), ...saying("mine", ", two"));
  run.finish().end();
  await a.next();
  await settled();
  expect((await shown(rooms))[1]).toEqual(["mine", "assistant", "one, two"]);
});

test("[R11] what one agent has encrypted is given back to that agent alone", async () => {
  const { a, b, rooms } = open();
  const ana = await rooms.join("t");
  await ana.submit("go", { agent: "a", runId: "r1" });
  const run = await a.next();
  run.start(
    { type: "REASONING_START", messageId: "thought" },
    { type: "REASONING_MESSAGE_START", messageId: "thought", role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "thought", delta: "hm" },
    { type: "REASONING_MESSAGE_END", messageId: "thought" },
    { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "thought", encryptedValue: "of A" },
    { type: "REASONING_END", messageId: "thought" },
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "look", parentMessageId: "m" },
    { type: "TOOL_CALL_END", toolCallId: "c" },
    { type: "TOOL_CALL_RESULT", messageId: "res", toolCallId: "c", content: "found" },
    { type: "REASONING_ENCRYPTED_VALUE", subtype: "tool-call", entityId: "c", encryptedValue: "of A too" },
  );
  run.finish().end();
  await ana.terminal("r1");
  await ana.submit("and you?", { agent: "b", runId: "r2" });
  const other = await b.next();
  expect(other.input.messages.map(({ id }) => id)).toEqual(expect.arrayContaining(["thought", "m", "res"]));
  expect(JSON.stringify(other.input)).not.toContain("of A");
  other.start().finish().end();
  await ana.terminal("r2");
  await ana.submit("and again?", { agent: "a", runId: "r3" });
  const again = JSON.stringify((await a.next()).input.messages);
  expect(again).toContain('"of A"');
  expect(again).toContain('"of A too"');
});

test("[R10] what was asked is cancelled for something said to another agent, and whoever asked has that with its next run", async () => {
  const { a, b, rooms } = open();
  const ana = await rooms.join("t");
  await ana.submit("go", { agent: "a", runId: "r1" });
  const interrupts = [{ id: "i1", reason: "approval" }];
  (await a.next())
    .start()
    .finish({ outcome: { type: "interrupt", interrupts } })
    .end();
  await ana.terminal("r1");
  await ana.submit("and you?", { agent: "b", runId: "r2", interrupts: "cancel" });
  const other = await b.next();
  expect(other.input).not.toHaveProperty("resume");
  other.start().finish().end();
  await ana.terminal("r2");
  await ana.submit("never mind", { agent: "a", runId: "r3" });
  expect((await a.next()).input.resume).toEqual([{ interruptId: "i1", status: "cancelled" }]);
});

/** As classes are written today: what it keeps cannot be copied from outside. */
class PrivateAgent extends AbstractAgent {
  #says = "Hello";
  runs = 0;
  run(input: RunAgentInput): Observable<BaseEvent> {
    this.runs += 1;
    const { threadId, runId } = input;
    const said = saying(`m-${runId}`, this.#says);
    return from([
      { type: "RUN_STARTED", threadId, runId },
      ...said,
      { type: "RUN_FINISHED", threadId, runId },
    ] as BaseEvent[]);
  }
  override abortRun(): void {
    this.#says = "";
  }
}

test("[R2] a stock agent with #private fields runs like any other, in several threads", async () => {
  const agent = new PrivateAgent();
  const rooms = new TestRooms({ agents: { agent } });
  for (const thread of ["t", "u"]) {
    const ana = await rooms.join(thread);
    await ana.submit("go", { runId: `r-${thread}` });
    expect(await ana.terminal(`r-${thread}`)).toMatchObject({ event: { type: "RUN_FINISHED" } });
  }
  expect(await shown(rooms)).toContainEqual(["m-r-t", "assistant", "Hello"]);
});

test("[R2] an error of its own is not taken for that", async () => {
  class Broken extends AbstractAgent {
    run(): Observable<BaseEvent> {
      throw new TypeError("Cannot read properties of undefined");
    }
  }
  const rooms = new TestRooms({ agents: { broken: new Broken() } });
  const ana = await rooms.join("t");
  await ana.submit("go", { runId: "r1" });
  expect(await ana.terminal("r1")).toMatchObject({ event: { type: "RUN_ERROR", code: "AGENT_FAILED" } });
});
