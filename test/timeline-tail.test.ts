import { describe, expect, test } from "vitest";
import type { AGUIEvent, Message, NewEntry } from "../shared/protocol/index.ts";
import { StockTail } from "../shared/timeline/index.ts";
import { PERSON, TestLog, TestResponse } from "./kit/entries.ts";
import { muteStock, playStock } from "./kit/stock-client.ts";
import { folded } from "./kit/timeline-cuts.ts";
import { event, written } from "./kit/written.ts";

const { started, finished, failed, text, call, result, messages } = written;

muteStock();

const types = (events: readonly AGUIEvent[]) => events.map(({ type }) => type as string);
const user = (id: string): Message => ({ id, role: "user", content: id });
const note = (id: string): NewEntry => ({ kind: "message", turn: id, by: PERSON, message: user(id) });
const head = (turn: string | null): NewEntry => ({ kind: "head", by: PERSON, turn, why: "switch" });
const OWNED = { "@ag-ui/client": { authoritativeActivityTypes: null } };

describe("the tail", () => {
  /** A thread, and a stock client that joined when it was empty. */
  function follow() {
    const log = new TestLog();
    const tail = new StockTail("t", folded([]));
    const events: AGUIEvent[] = [];
    let seen = 0;
    const news = () => {
      const from = events.length;
      for (; seen < log.entries.length; seen += 1) events.push(...tail.push(log.entries[seen]!));
      return events.slice(from);
    };
    const agent = () => {
      const response = new TestResponse(log);
      return (...of: AGUIEvent[]) => {
        for (const next of of) response.event(next);
        return news();
      };
    };
    const write = (entry: NewEntry) => {
      log.write(entry);
      return news();
    };
    const agrees = async () => {
      const played = await playStock(events);
      expect(played.error).toBeNull();
      expect(played.messages).toEqual(log.timeline.list);
      expect(played.state).toEqual(log.timeline.state);
      return played;
    };
    return { log, write, agent, agrees };
  }

  test("[P4] the followed run's events go as they are", () => {
    const { agent } = follow();
    const stream = [
      started("r"),
      ...text("m", "x", { metadata: { k: 1 } }),
      event("RAW", { event: 1 }),
      finished("r"),
    ];
    expect(agent()(...stream)).toEqual(stream);
  });

  test("[P4] what came between runs is in the input of the next, and what came during one in a snapshot", async () => {
    const { agent, write, agrees } = follow();
    expect(write(note("u1"))).toEqual([]);
    const say = agent();
    expect(say(started("r1"))).toEqual([
      {
        ...started("r1"),
        input: { threadId: "t", runId: "r1", messages: [user("u1")], tools: [], context: [] },
      },
    ]);
    expect(write(note("u2"))).toEqual([
      { type: "MESSAGES_SNAPSHOT", messages: [user("u1"), user("u2")], metadata: OWNED },
    ]);
    say(finished("r1"));
    expect(write({ kind: "thread", by: PERSON, title: "T" })).toEqual([]);
    expect(say(started("r2"))).toEqual([started("r2")]);
    await agrees();
  });

  test("[P4] another run's text is shown when it is complete, its results and state at once", async () => {
    const { agent, agrees } = follow();
    const [one, other] = [agent(), agent()];
    one(started("r1"), ...call("c"), ...text("m1", "x"));
    expect(other(started("r2"))).toEqual([]);
    const [start, content, end] = text("m2", "other") as [AGUIEvent, AGUIEvent, AGUIEvent];
    expect(types(other(start))).toEqual(["MESSAGES_SNAPSHOT"]);
    expect(other(content, content)).toEqual([]);
    expect(other(end)).toEqual([]);
    expect(
      types(other(event("STEP_STARTED", { stepName: "s" }), event("STEP_FINISHED", { stepName: "s" }))),
    ).toEqual([]);
    expect(other(result("t", "c"))).toEqual([result("t", "c")]);
    const delta = [{ op: "add", path: "/n", value: 1 }];
    expect(other(event("STATE_DELTA", { delta }))).toEqual([event("STATE_DELTA", { delta })]);
    expect(types(one(finished("r1")))).toEqual(["MESSAGES_SNAPSHOT", "RUN_FINISHED", "RUN_STARTED"]);
    await agrees();
    expect(types(other(...text("m3", "followed now"), finished("r2")))).toEqual([
      ...types(text("", "")),
      "RUN_FINISHED",
    ]);
    await agrees();
  });

  test("[P4] a run that is followed later is opened where it stands", async () => {
    const { agent, agrees } = follow();
    const [one, other] = [agent(), agent()];
    one(started("r1"));
    other(started("r2"), ...text("m", "half").slice(0, 2), ...call("c").slice(0, 1), text("gone", "x")[0]!);
    other(
      messages(
        { id: "m", role: "assistant", content: "half" },
        {
          id: "c",
          role: "assistant",
          toolCalls: [{ id: "c", type: "function", function: { name: "f", arguments: "" } }],
        },
      ),
    );
    expect(types(one(failed()))).toEqual([
      "RUN_ERROR",
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TOOL_CALL_START",
    ]);
    other(
      ...text("m", " and half").slice(1),
      ...call("c").slice(1),
      ...text("gone", "x").slice(1),
      finished("r2"),
    );
    await agrees();
  });

  test("[P4] a person's tool result stands behind its call, with its error", async () => {
    const { agent, write, agrees, log } = follow();
    const say = agent();
    say(started("r1"), ...call("c1"), ...call("c2"), ...text("m", "later"));
    const answer = (id: string, toolCallId: string, more = {}): NewEntry => ({
      kind: "message",
      turn: id,
      by: PERSON,
      message: { id, role: "tool", toolCallId, content: "done", ...more },
    });
    expect(write(answer("t1", "c1"))).toEqual([
      { type: "TOOL_CALL_RESULT", messageId: "t1", toolCallId: "c1", content: "done" },
    ]);
    expect(types(write(answer("t2", "c2", { error: "no" })))).toEqual([
      "MESSAGES_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
    ]);
    say(finished("r1"));
    write(answer("t3", "c1"));
    say(started("r2"), finished("r2"));
    expect((await agrees()).messages.map(({ id }) => id)).toEqual(["c1", "t1", "t3", "c2", "t2", "m"]);
    expect(log.timeline.list).toHaveLength(6);
  });

  test("[P4] state that people change reaches the client, at once or with the next run", async () => {
    const { agent, write, agrees } = follow();
    const patch = [{ op: "add" as const, path: "/n", value: 1 }];
    const edit: NewEntry = { kind: "state", run: null, by: PERSON, patch, via: "patch" };
    expect(write(edit)).toEqual([]);
    const say = agent();
    expect(types(say(started("r1")))).toEqual(["RUN_STARTED", "STATE_SNAPSHOT"]);
    expect(write({ ...edit, patch: [{ op: "remove", path: "/n" }] })).toMatchObject([
      { type: "STATE_DELTA" },
    ]);
    expect(write({ ...edit, patch: [{ op: "remove", path: "/n" }] })).toEqual([]);
    await agrees();
  });

  test("[P4] a logged delta that was a snapshot is one again, of the merged state", () => {
    const { agent, write } = follow();
    agent()(started("r"), event("STATE_SNAPSHOT", { snapshot: { a: 1 } }));
    const delta = [{ op: "add", path: "/b", value: 2 }];
    const entry = { kind: "event", run: "r", event: event("STATE_DELTA", { delta, timestamp: 5 }) } as const;
    expect(write({ ...entry, was: "STATE_SNAPSHOT" })).toEqual([
      { type: "STATE_SNAPSHOT", snapshot: { a: 1, b: 2 }, timestamp: 5 },
    ]);
  });

  test("[P4] a head that moves takes messages away and shows others, in the thread's order", async () => {
    const { agent, write, agrees, log } = follow();
    write(note("u1"));
    agent()(started("r1"), ...text("m1", "one"), finished("r1"));
    write(head("u1"));
    agent()(started("r2"), ...text("m2", "two"), finished("r2"));
    await agrees();
    const say = agent();
    say(started("r3"), text("m3", "on the branch")[0]!);
    write(head("r1"));
    await agrees();
    // The run goes on where it began, out of sight.
    say(...text("m3", "hidden").slice(1), ...text("m4", "hidden too"), ...call("c"));
    await agrees();
    write(head("r3"));
    say(finished("r3"));
    await agrees();
    expect(log.timeline.list.map(({ id }) => id)).toEqual(["u1", "m2", "m3", "m4", "c"]);
  });

  test("[P4] a run that never started begins and fails, however the last one ended", async () => {
    const { agent, write, agrees } = follow();
    const alone = (run: string): NewEntry => ({
      kind: "event",
      run,
      event: failed("no agent"),
      start: { agent: "planner", by: PERSON },
    });
    expect(types(write(alone("r1")))).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    write(note("u1"));
    expect(write(alone("r2"))).toMatchObject([
      { runId: "r2", input: { messages: [user("u1")] } },
      { type: "RUN_ERROR" },
    ]);
    agent()(started("r3"), finished("r3"));
    write(alone("r4"));
    expect((await agrees()).failures).toHaveLength(3);
  });

  test("[P4] only the run that finished last may still fail, once", async () => {
    const { agent, write, agrees } = follow();
    const [one, two] = [agent(), agent()];
    one(started("r1"), finished("r1"));
    two(started("r2"), finished("r2"));
    expect(one(failed("too late"))).toEqual([]);
    const late = { kind: "event", run: "r2", event: failed("late"), late: true } as const;
    agent()(started("r3"), finished("r3"));
    expect(write(late)).toEqual([]);
    expect(write({ ...late, run: "r3" })).toEqual([late.event]);
    expect(write({ ...late, run: "r3" })).toEqual([]);
    expect((await agrees()).failures).toHaveLength(1);
  });
});
