import { describe, expect, test } from "vitest";
import type { AGUIEvent, AssistantMessage, Message, NewEntry } from "../shared/protocol/index.ts";
import { Timeline } from "../shared/timeline/index.ts";
import { entriesOf, PERSON, TestLog, TestResponse } from "./kit/entries.ts";
import { muteStock, playStock } from "./kit/stock-client.ts";
import { folded } from "./kit/timeline-cuts.ts";
import { event, written } from "./kit/written.ts";

const { started, finished, failed, text, call, result, messages } = written;

muteStock();

const ids = (timeline: Timeline) => timeline.list.map(({ id }) => id);
const user = (id: string, content = "hi"): Message => ({ id, role: "user", content });
const said = (turn: string, message: Message): NewEntry => ({ kind: "message", turn, by: PERSON, message });
const head = (turn: string | null): NewEntry => ({ kind: "head", by: PERSON, turn, why: "switch" });

/** A log with an agent that writes to it. */
function thread(given: string[] = []) {
  const log = new TestLog();
  const agent = (more = given) => {
    const response = new TestResponse(log, more);
    return (...events: AGUIEvent[]) => {
      for (const next of events) response.event(next);
    };
  };
  return { log, timeline: log.timeline, agent, write: log.write.bind(log) };
}

describe("turns", () => {
  test("[T1] a turn stands below the head of its time, and the head moves to it", () => {
    const { timeline, agent, write } = thread();
    write(said("i1", user("u1")));
    agent()(started("r1"), ...text("m1", "one"), finished("r1"));
    expect([...timeline.turns.all()].map(({ id, parent }) => [id, parent])).toEqual([
      ["i1", null],
      ["r1", "i1"],
    ]);
    expect(timeline.turns.head).toBe("r1");
    expect(timeline.turns.get("r1")?.end?.outcome).toBe("success");
  });

  test("[T1] a head that moves hides one branch and shows the other, and deletes nothing", () => {
    const { timeline, agent, write } = thread();
    write(said("i1", user("u1")));
    agent()(started("r1"), ...text("m1", "one"), finished("r1"));
    write(head("i1"));
    expect(ids(timeline)).toEqual(["u1"]);
    agent()(started("r2"), ...text("m2", "two"), finished("r2"));
    expect(ids(timeline)).toEqual(["u1", "m2"]);
    expect(timeline.turns.get("r2")?.parent).toBe("i1");
    write(head("r1"));
    expect(ids(timeline)).toEqual(["u1", "m1"]);
    write(head("nowhere"));
    expect(timeline.turns.head).toBe("r1");
    write(head(null));
    expect(ids(timeline)).toEqual([]);
    expect(timeline.messages.slots).toHaveLength(3);
  });

  test("[T1] parallel runs interleave in the order in which their messages began", () => {
    const { timeline, agent } = thread();
    const [one, other] = [agent(), agent()];
    const [a, b, c] = [text("a", "a"), text("b", "b"), text("c", "c")];
    one(started("r1"), a[0]!);
    other(started("r2"), b[0]!, b[1]!);
    one(a[1]!, a[2]!, c[0]!, c[1]!, c[2]!, finished("r1"));
    expect([...timeline.runs.all()].map(({ runId }) => runId)).toEqual(["r2"]);
    other(b[2]!, finished("r2"));
    expect(ids(timeline)).toEqual(["a", "b", "c"]);
    expect(timeline.slots.map(({ turn }) => turn)).toEqual(["r1", "r2", "r1"]);
  });

  test("[T4] equal ids of parallel runs and of different kinds do not close each other", () => {
    const { timeline, agent } = thread();
    const [one, other] = [agent(), agent()];
    const step = { stepName: "plan" };
    one(started("r1"), event("STEP_STARTED", step), event("REASONING_START", { messageId: "x" }));
    one(event("REASONING_MESSAGE_START", { messageId: "x", role: "reasoning" }));
    other(started("r2"), event("STEP_STARTED", step), event("STEP_FINISHED", step));
    one(event("REASONING_MESSAGE_END", { messageId: "x" }));
    expect([...timeline.runs.get("r1")!.open.keys()]).toEqual(["step::plan", "reasoning:x"]);
    expect(timeline.runs.get("r2")!.open.size).toBe(0);
  });
});

describe("where the fold differs from stock clients", () => {
  const fold = (...events: AGUIEvent[]) => folded(entriesOf([started("r"), ...events, finished("r")]));
  const stock = async (...events: AGUIEvent[]) =>
    (await playStock([started("r"), ...events, finished("r")])).messages.map(({ id }) => id);

  test("[T2] a result under the id of another result replaces it", async () => {
    const events = [...call("c"), result("t", "c", "first"), result("t", "c", "second")];
    expect(await stock(...events)).toEqual(["c", "t", "t"]);
    expect(fold(...events).list).toMatchObject([{ id: "c" }, { id: "t", content: "second" }]);
  });

  test("[T2] a result under the id of some other message is left out", async () => {
    const events = [...text("m", "hello"), ...call("c"), result("m", "c")];
    expect(await stock(...events)).toEqual(["m", "c", "m"]);
    expect(fold(...events).list).toMatchObject([{ id: "m", content: "hello" }, { id: "c" }]);
  });

  test("[T2] a call without parent joins the assistant message whose id it has", async () => {
    const events = [...text("c", "hello"), ...call("c")];
    expect(await stock(...events)).toEqual(["c", "c"]);
    expect(fold(...events).list).toMatchObject([{ id: "c", content: "hello", toolCalls: [{ id: "c" }] }]);
    expect(fold(...text("c", "hello", { role: "user" }), ...call("c")).list).toMatchObject([
      { content: "hello" },
    ]);
  });

  test("[T2] of two messages with one id in a MESSAGES_SNAPSHOT the last one counts, once", async () => {
    const twice = messages(
      { id: "m", role: "assistant", content: "1" },
      { id: "m", role: "assistant", content: "2" },
    );
    expect(await stock(twice)).toEqual(["m", "m"]);
    expect(fold(twice).list).toEqual([{ id: "m", role: "assistant", content: "2" }]);
  });

  test("[T2] a patch that leaves an activity without an object does not apply", async () => {
    const activity = { messageId: "a", activityType: "PLAN" };
    const patch = [{ op: "replace", path: "", value: 1 }];
    const events = [
      event("ACTIVITY_SNAPSHOT", { ...activity, content: { n: 1 } }),
      event("ACTIVITY_DELTA", { ...activity, patch, metadata: { k: 1 } }),
    ];
    const { messages: held } = await playStock([started("r"), ...events, finished("r")]);
    expect(held).toMatchObject([{ content: 1 }]);
    // AG-UI's own schema would refuse it in the next snapshot, and with it the whole thread.
    expect((await playStock([started("r"), messages(...held), finished("r")])).error).not.toBeNull();
    expect(fold(...events).list).toMatchObject([{ content: { n: 1 }, metadata: { k: 1 } }]);
  });

  test("[T1] a tool result that comes with a run's input stands behind its call", async () => {
    const again = { id: "t", role: "tool", toolCallId: "c", content: "found" };
    const events = [
      started("r1"),
      ...call("c"),
      ...text("m", "later"),
      finished("r1"),
      started("r2", { input: { threadId: "t", runId: "r2", messages: [again], tools: [], context: [] } }),
      finished("r2"),
    ];
    expect((await playStock(events)).messages.map(({ id }) => id)).toEqual(["c", "m", "t"]);
    expect(ids(folded(entriesOf(events)))).toEqual(["c", "t", "m"]);
  });
});

describe("an agent's MESSAGES_SNAPSHOT", () => {
  test("[R7] drops, rewrites and appends what the agent was given or made, and nothing else", () => {
    const { timeline, agent, write, log } = thread();
    write(said("i1", user("u1", "given")));
    const say = agent(["u1"]);
    say(started("r1"), ...text("m1", "draft"), ...text("m2", "gone"));
    write(said("n1", user("u2", "a note meanwhile")));
    say(
      messages(
        { id: "new", role: "assistant", content: "new" },
        user("u2", "rewritten"),
        user("u1", "rewritten"),
        { id: "m1", role: "assistant", content: "final" },
      ),
    );
    expect(log.entries.at(-1)).toMatchObject({ kind: "messages", drop: ["m2"] });
    expect(timeline.list).toEqual([
      user("u1", "given"),
      { id: "m1", role: "assistant", content: "final" },
      user("u2", "a note meanwhile"),
      { id: "new", role: "assistant", content: "new" },
    ]);
  });

  test("[R7] brings nothing back from another branch, and says nothing when nothing changed", () => {
    const { timeline, agent, write, log } = thread();
    agent()(started("r1"), ...text("m1", "one"), finished("r1"));
    write(head(null));
    const say = agent(["m1"]);
    say(started("r2"), ...text("m2", "two"));
    say(
      messages(
        { id: "m1", role: "assistant", content: "one" },
        { id: "m2", role: "assistant", content: "two" },
      ),
    );
    expect(log.entries.at(-1)).toMatchObject({ kind: "messages", put: [], drop: [] });
    expect(ids(timeline)).toEqual(["m2"]);
  });
});

describe("calls and their results", () => {
  const toolCalls = (...of: string[]) =>
    of.map((id) => ({ id, type: "function" as const, function: { name: "f", arguments: "" } }));
  const caller = (id: string, ...of: string[]) => ({ id, role: "assistant", toolCalls: toolCalls(...of) });

  test("[T2] a call that two messages have belongs to the first, and to the other when that one goes", () => {
    const { timeline, agent } = thread();
    const say = agent();
    say(started("r"), messages(caller("m1", "c"), caller("m2", "c")), result("t1", "c"));
    expect(ids(timeline)).toEqual(["m1", "t1", "m2"]);
    say(messages({ id: "t1", role: "tool", toolCallId: "c", content: "found" }, caller("m2", "c")));
    say(result("t2", "c"));
    expect(ids(timeline)).toEqual(["t1", "m2", "t2"]);
  });

  test("[T2] an earlier message that is given a call takes it over from a later one", () => {
    const { timeline, agent } = thread();
    const say = agent();
    say(started("r"), messages({ id: "m1", role: "assistant", content: "" }, caller("m2", "c")));
    say(messages(caller("m1", "c"), caller("m2", "c")), result("t", "c"));
    expect(ids(timeline)).toEqual(["m1", "t", "m2"]);
  });

  test("[T2] a message that a snapshot leaves without its call owns it no more", () => {
    const { timeline, agent } = thread();
    const say = agent();
    say(started("r"), messages(caller("m1", "c"), user("u")));
    say(messages({ id: "m1", role: "assistant", content: "no call" }, user("u")), result("t", "c"));
    expect(ids(timeline)).toEqual(["m1", "u", "t"]);
    expect((timeline.list[0] as AssistantMessage).toolCalls).toBeUndefined();
  });

  test("[T1] a late result goes over hidden messages to the end of the results that show", () => {
    const { timeline, agent, write } = thread();
    agent()(started("r1"), ...call("c"), finished("r1"));
    agent()(started("r2"), ...text("hidden", "x"), finished("r2"));
    write(head("r1"));
    const say = agent();
    say(started("r3"), result("stray", "unknown"), result("t", "c"));
    expect(ids(timeline)).toEqual(["c", "stray", "t"]);
  });

  test("[T1] a message entry that names its neighbour stands behind it", () => {
    const { timeline, write } = thread();
    for (const id of ["u1", "u2"]) write(said(id, user(id)));
    write({ kind: "message", turn: "u2", by: PERSON, message: user("u3"), after: "u1" });
    expect(ids(timeline)).toEqual(["u1", "u3", "u2"]);
  });
});

describe("what the fold hands out", () => {
  test("[T3] unchanged messages and an unchanged list stay the same objects", () => {
    const { timeline, agent, write } = thread();
    const say = agent();
    say(started("r1"), ...text("m1", "one"), ...text("m2", "two"), finished("r1"));
    const { list } = timeline;
    say(started("r2"), event("STEP_STARTED", { stepName: "s" }), event("STEP_FINISHED", { stepName: "s" }));
    say(event("TEXT_MESSAGE_START", { messageId: "m2" }), event("TEXT_MESSAGE_END", { messageId: "m2" }));
    say(event("STATE_SNAPSHOT", { snapshot: { a: 1 } }), event("CUSTOM", { name: "n", value: 1 }));
    write({ kind: "thread", by: PERSON, title: "New" });
    expect(timeline.list).toBe(list);
    expect(timeline.slots).toBe(timeline.slots);
    say(event("TEXT_MESSAGE_START", { messageId: "m2" }));
    say(event("TEXT_MESSAGE_CONTENT", { messageId: "m2", delta: "!" }));
    expect(timeline.list).not.toBe(list);
    expect(timeline.list[0]).toBe(list[0]);
    expect(timeline.list[1]).not.toBe(list[1]);
    expect(list[1]).toMatchObject({ content: "two" });
  });

  test("[T3] turns that ended are new objects, and parts of the state that stayed are the same", () => {
    const { timeline, agent } = thread();
    const say = agent();
    say(started("r1"), event("STATE_SNAPSHOT", { snapshot: { a: { deep: [1] }, b: {} } }));
    const [turn, state] = [timeline.turns.get("r1"), timeline.state as { a: object; b: object }];
    say(event("STATE_DELTA", { delta: [{ op: "add", path: "/b/c", value: 1 }] }), finished("r1"));
    expect(turn?.end).toBeUndefined();
    expect(timeline.turns.get("r1")).not.toBe(turn);
    expect((timeline.state as { a: object }).a).toBe(state.a);
    expect(state.b).toEqual({});
  });

  test("[T5] a delta applies as a whole or not at all, and a snapshot may be any value", () => {
    const { timeline, agent } = thread();
    const say = agent();
    say(started("r1"));
    for (const snapshot of [null, 0, "", false, [1], { a: 1 }]) {
      say(event("STATE_SNAPSHOT", { snapshot }));
      expect(timeline.state).toEqual(snapshot);
    }
    const { state } = timeline;
    const bad = [
      { op: "add", path: "/b", value: 2 },
      { op: "replace", path: "/nowhere", value: 3 },
    ];
    say(event("STATE_DELTA", { delta: bad }));
    expect(timeline.state).toBe(state);
  });
});

describe("the cost of a streamed token does not grow with the thread", () => {
  /** What `tokens` take behind so many messages, ms. */
  const time = (tokens: number, before: number, read: (timeline: Timeline) => unknown) => {
    const timeline = new Timeline();
    const apply = (entry: object) => timeline.apply({ seq: timeline.seq + 1, at: 0, ...entry } as never);
    for (let i = 0; i < before; i += 1) apply({ kind: "message", turn: "i", message: user(`u${i}`) });
    for (const next of [started("r"), text("m", "")[0]!]) apply({ kind: "event", run: "r", event: next });
    read(timeline);
    const token = event("TEXT_MESSAGE_CONTENT", { messageId: "m", delta: "x" });
    const begin = performance.now();
    for (let i = 0; i < tokens; i += 1) {
      apply({ kind: "event", run: "r", event: token });
      read(timeline);
    }
    return performance.now() - begin;
  };
  /** How much longer one takes than the other: in turn, and the best of each, since other work only adds. */
  const ratio = (one: () => number, other: () => number) => {
    one();
    const pairs = Array.from({ length: 7 }, () => [one(), other()] as const);
    const [a, b] = ([0, 1] as const).map((i) => Math.min(...pairs.map((pair) => pair[i])));
    return a! / b!;
  };

  test("to apply", () => {
    const behind = (before: number) => () => time(20_000, before, () => {});
    expect(ratio(behind(20_000), behind(0))).toBeLessThan(4);
  });

  test("to apply and read, but for a copy of references", () => {
    const copies = () => {
      let list = Array.from({ length: 10_000 }, (_, i) => user(`u${i}`));
      const begin = performance.now();
      for (let i = 0; i < 500; i += 1) {
        list = list.slice();
        list[9_999] = user("m");
      }
      return performance.now() - begin;
    };
    const tokens = () => time(500, 10_000, (timeline) => timeline.list);
    expect(ratio(tokens, copies)).toBeLessThan(6);
  });
});

test("[L8] a run that failed, alone or late, is history like any other", () => {
  const alone = folded(entriesOf([failed("no agent", "AGENT_UNREACHABLE")]));
  expect([...alone.turns.all()]).toMatchObject([
    { agent: "planner", end: { outcome: "error", message: "no agent" } },
  ]);
  const late = folded(entriesOf([started("r"), ...text("m", "x"), finished("r"), failed("too late")]));
  expect(late.turns.get("r")?.end).toMatchObject({ outcome: "error", message: "too late" });
  expect(ids(late)).toEqual(["m"]);
});
