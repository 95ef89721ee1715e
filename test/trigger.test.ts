import { expect, test } from "vitest";
import type { Message } from "../shared/protocol/index.ts";
import { mentionedAgent, startsRun, triggerOf } from "../shared/trigger.ts";
import { PairedServer } from "./kit/paired-server.ts";
import { PuppetAgent, type PuppetRun } from "./kit/puppet-agent.ts";
import { codeOf, snapshotOf, type TestReader, TestRooms } from "./kit/server.ts";

type Kind = "agent" | "user";

const mentioning = (id: string, ...mentions: [kind: Kind, id: string][]) => ({
  inputId: `i-${id}`,
  messages: [
    {
      id,
      role: "user",
      content: id,
      metadata: { cothread: { mentions: mentions.map(([kind, id]) => ({ kind, id })) } },
    },
  ],
});
const setTrigger = (reader: TestReader, trigger: string) =>
  reader.ask({ type: "update", key: `set ${trigger}`, settings: { trigger } });
const given = (run: PuppetRun) => run.input.messages.map(({ content }) => content);

function open() {
  const [planner, writer] = [new PuppetAgent(), new PuppetAgent()];
  return { planner, writer, rooms: new TestRooms({ agents: { planner, writer } }) };
}

test("[S6] until somebody sets it, two members make it a mention, and guests are none", () => {
  expect(triggerOf({ settings: {}, members: {} })).toBe("always");
  expect(triggerOf({ settings: {}, members: { ana: "owner" } })).toBe("always");
  expect(triggerOf({ settings: {}, members: { ana: "owner", ben: "viewer" } })).toBe("mention");
  expect(triggerOf({ settings: { trigger: "manual" }, members: { ana: "owner", ben: "owner" } })).toBe(
    "manual",
  );
  expect([
    startsRun("always", false),
    startsRun("mention", true),
    startsRun("mention", false),
    startsRun("manual", true),
  ]).toEqual([true, true, false, false]);
  const messages = [mentioning("a", ["user", "ben"]), mentioning("b", ["agent", "x"], ["agent", "y"])];
  expect(mentionedAgent(messages.flatMap(({ messages }) => messages) as Message[])).toBe("x");
  expect(mentionedAgent([{ id: "m", role: "user", content: "@x" }])).toBeUndefined();
});

test("[S6] with mention, what mentions no agent is only said, and goes along with the next run", async () => {
  const { planner, writer, rooms } = open();
  const ana = await rooms.join("t", "Ana");
  await setTrigger(ana, "mention");
  expect(await ana.submit("lunch?")).toEqual({
    inputId: expect.any(String),
    status: "done",
    seq: expect.any(Number),
  });
  expect(await ana.submit("", mentioning("for ben", ["user", "guest:ben"]))).toMatchObject({
    status: "done",
  });
  expect([planner.runs, writer.runs]).toEqual([[], []]);
  const shown = snapshotOf(await rooms.join("t", "Ben"));
  expect(shown.settings).toEqual({ trigger: "mention" });
  expect(shown.inputs).toEqual([]);
  const [lunch, ben] = shown.messages;
  expect(lunch?.metadata?.cothread).toEqual({ user: { id: "guest:ana", name: "Ana" } });
  expect(ben?.metadata?.cothread).toMatchObject({ mentions: [{ kind: "user", id: "guest:ben" }] });

  await ana.submit("", mentioning("write it", ["user", "guest:ben"], ["agent", "writer"]));
  const run = await writer.next();
  expect(given(run)).toEqual(["lunch?", "for ben", "write it"]);
  run.start().finish().end();
  await ana.terminal();
  // Who is named in the frame answers, whoever is mentioned.
  await ana.submit("", { ...mentioning("and plan", ["agent", "writer"]), agent: "planner" });
  expect(given(await planner.next()).at(-1)).toBe("and plan");
});

test("[S6] start says that it shall start, or shall not, whatever the trigger is", async () => {
  const { planner, rooms } = open();
  const ana = await rooms.join("t", "Ana");
  await setTrigger(ana, "manual");
  expect(await ana.submit("", mentioning("one", ["agent", "planner"]))).toMatchObject({ status: "done" });
  expect(planner.runs).toEqual([]);
  // What was said is answered without a further word.
  expect(await ana.submit("", { messages: [], start: true })).toMatchObject({ status: "running" });
  const run = await planner.next();
  expect(given(run)).toEqual(["one"]);
  run.start().finish().end();
  await ana.terminal();
  await setTrigger(ana, "always");
  expect(await ana.submit("note", { start: false })).toMatchObject({ status: "done" });
  expect(await ana.submit("go")).toMatchObject({ status: "running" });
  expect(given(await planner.next())).toEqual(["one", "note", "go"]);
});

test("[S6] with always, the agent that is mentioned answers", async () => {
  const { planner, writer, rooms } = open();
  const ana = await rooms.join("t", "Ana");
  await ana.submit("", mentioning("write it", ["agent", "writer"]));
  expect(given(await writer.next())).toEqual(["write it"]);
  expect(planner.runs).toEqual([]);
});

test("[S6] mentions that are none, and agents that are not there, are refused, and nothing is stored", async () => {
  const { rooms } = open();
  const ana = await rooms.join("t", "Ana");
  const before = (await rooms.store.load(ana.key))?.seq;
  const messages = (mentions: unknown) => [
    { id: "m", role: "user", content: "x", metadata: { cothread: { mentions } } },
  ];
  for (const mentions of [
    "planner",
    [{ kind: "robot", id: "x" }],
    [{ kind: "agent", id: "" }],
    Array(101).fill({ kind: "agent", id: "x" }),
  ])
    expect(await codeOf(ana.submit("", { messages: messages(mentions) }))).toBe("bad_message");
  expect(await codeOf(ana.submit("", mentioning("m", ["agent", "nobody"])))).toBe("no_agent");
  expect((await rooms.store.load(ana.key))?.seq).toBe(before);
});

test("[S6] who may only read sets nothing; who may write sets it for everybody at once", async () => {
  const { rooms } = open();
  const ana = await rooms.join("t", "Ana");
  const ben = await rooms.join("t", "Ben");
  ben.caller.role = "viewer";
  expect(await codeOf(setTrigger(ben, "manual"))).toBe("forbidden");
  await setTrigger(ana, "mention");
  expect(await ben.entry(({ kind }) => kind === "thread")).toMatchObject({
    settings: { trigger: "mention" },
  });
});

test("[S6] the SDK shows what starts nothing, keeps whom a note mentions, and starts without a word", async () => {
  const agent = new PuppetAgent();
  const server = new PairedServer({ planner: agent.run });
  const [ana, ben] = [server.client("Ana").thread("t"), server.client("Ben").thread("t")];
  await server.settle();
  const settled = <T>(asked: Promise<T>) => server.settle().then(() => asked);
  await settled(ana.update({ settings: { trigger: "mention" } }));
  expect(ben.settings).toEqual({ trigger: "mention" });
  expect(await settled(ana.send("lunch?"))).toMatchObject({ status: "done" });
  expect(ben.messages.map(({ content }) => content)).toEqual(["lunch?"]);
  expect(ana.about(ana.messageIds[0] as string)?.pending).toBeUndefined();
  const mentions = [{ kind: "user" as const, id: "guest:ben" }];
  await settled(ana.note({ content: "@Ben", metadata: { cothread: { mentions } } }));
  expect(ben.messages.at(-1)?.metadata?.cothread).toMatchObject({ mentions, note: true });
  const { runId } = await settled(ben.send([], { start: true }));
  expect(agent.runs[0]?.input).toMatchObject({
    runId,
    messages: [{ content: "lunch?" }, { content: "@Ben" }],
  });
});
