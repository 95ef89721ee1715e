import { describe, expect, test } from "vitest";
import type { AGUIEvent, Message, NewEntry } from "../shared/protocol/index.ts";
import {
  addEarlier,
  fromSnapshot,
  reachBelow,
  type Timeline,
  takeEarlier,
  windowStart,
} from "../shared/timeline/index.ts";
import { PERSON, TestLog, TestResponse } from "./kit/entries.ts";
import { folded, inner, Room, StoredFold, sent, throughJson } from "./kit/timeline-cuts.ts";
import { event, written } from "./kit/written.ts";

const { started, finished, text, call, result, messages } = written;

const ids = (timeline: Timeline) => timeline.list.map(({ id }) => id);
const note = (id: string): NewEntry => ({
  kind: "message",
  turn: id,
  by: PERSON,
  message: { id, role: "user", content: id },
});
const head = (turn: string | null): NewEntry => ({ kind: "head", by: PERSON, turn, why: "switch" });

/** A thread that readers may join while it is written. */
function live() {
  const log = new TestLog();
  const room = new Room();
  const say = new TestResponse(log);
  const follow = () => {
    for (const entry of log.entries.slice(room.timeline.seq)) room.take(entry);
    for (const reader of room.readers) reader.catchUp();
  };
  return {
    room,
    entries: log.entries,
    notes(...of: string[]) {
      for (const id of of) log.write(note(id));
      follow();
    },
    write(entry: NewEntry) {
      log.write(entry);
      follow();
    },
    say(...events: AGUIEvent[]) {
      for (const next of events) say.event(next);
      follow();
    },
    join(history?: number) {
      const reader = room.join(history);
      reader.catchUp();
      return reader;
    },
  };
}

describe("a snapshot", () => {
  test("[J4] holds the newest messages, and more when an older one is being written", () => {
    const { notes, say, room } = live();
    notes("u1", "u2");
    say(started("r"), ...text("m1", "x"), event("TEXT_MESSAGE_START", { messageId: "m2" }));
    notes("u3", "u4");
    expect(sent(room.timeline, 2)).toMatchObject({
      messages: [{ id: "m2" }, { id: "u3" }, { id: "u4" }],
      before: 3,
    });
    say(event("TEXT_MESSAGE_END", { messageId: "m2" }), ...call("c").slice(0, 2));
    notes("u5", "u6");
    expect(sent(room.timeline, 1).messages.map(({ id }) => id)).toEqual(["c", "u5", "u6"]);
  });

  test("[J4] attributes each message to a turn of the path, in order, and to the time it came", () => {
    const { notes, say, room, write } = live();
    notes("u1");
    say(started("r"), ...text("m1", "x"), finished("r"));
    write(head("u1"));
    notes("u2");
    const { turns, meta, head: at, before } = sent(room.timeline);
    expect(turns.map(({ id }) => id)).toEqual(["u1", "u2"]);
    expect(meta.map(([turn]) => turn)).toEqual([0, 1]);
    expect(meta[1]![1] - meta[0]![1]).toBe(7_000);
    expect([at, before]).toEqual(["u2", 0]);
  });

  test("[J4] leaves out of the path a run that goes on on another branch", () => {
    const { notes, say, write, room } = live();
    notes("u1");
    say(started("r"), event("TEXT_MESSAGE_START", { messageId: "m" }));
    write(head("u1"));
    const client = fromSnapshot(sent(room.timeline));
    expect(client.runs.all()).toMatchObject([{ runId: "r" }]);
    expect(ids(client)).toEqual(["u1"]);
    const log = new TestLog();
    for (const next of text("m", "unseen").slice(1)) {
      log.write({ kind: "event", run: "r", event: next });
      client.apply({ ...log.entries.at(-1)!, seq: client.seq + 1 });
    }
    expect(ids(client)).toEqual(["u1"]);
  });

  test("[J4] of the whole thread has its turns without messages too: the head may move to one", () => {
    const { notes, say, join, write, room } = live();
    say(started("empty"), finished("empty"));
    notes("u1");
    const reader = join();
    write(head("empty"));
    expect(ids(reader.timeline)).toEqual([]);
    expect(reader.snapshots).toBe(1);
    expect(room.timeline.turns.head).toBe("empty");
  });

  test("[T5] carries inputs, interrupts, tools and usage of the server's fold", () => {
    const { write, say, room } = live();
    const asked: Message = { id: "u1", role: "user", content: "?" };
    write({
      kind: "input",
      by: PERSON,
      inputId: "i1",
      status: "queued",
      messages: [asked],
      place: 1,
      agent: "planner",
    });
    say(started("r"), ...call("c"));
    const interrupt = { id: "x", reason: "confirmation" };
    say(finished("r", { type: "success", pendingToolCallIds: ["c"] }));
    say(started("r2"), finished("r2", { type: "interrupt", interrupts: [interrupt] }));
    write({ kind: "tool", toolCallId: "c", runId: "r", status: "claimed", client: "tab", n: 1, until: 9 });
    write({ kind: "answer", by: PERSON, interruptId: "x", runId: "r2", status: "resolved", payload: 1 });
    expect(sent(room.timeline)).toMatchObject({
      inputs: [{ inputId: "i1", status: "queued", place: 1, messages: [asked] }],
      interrupts: [{ id: "x", runId: "r2", answered: { by: PERSON, status: "resolved" } }],
      tools: [
        { toolCallId: "c", runId: "r", name: "search", args: "{}", status: "claimed", client: "tab", n: 1 },
      ],
    });
    write({ kind: "input", inputId: "i1", status: "running", runId: "r3" });
    say(
      started("r3", { input: { threadId: "t", runId: "r3", messages: [], resume: [] } }),
      result("t1", "c"),
    );
    expect(sent(room.timeline)).toMatchObject({
      inputs: [{ status: "running", runId: "r3" }],
      interrupts: [],
      tools: [],
    });
    expect(sent(room.timeline).inputs[0]).not.toHaveProperty("place");
    write({ kind: "input", inputId: "i1", status: "done" });
    expect(sent(room.timeline).inputs).toEqual([]);
  });
});

describe("a reader of the newest messages", () => {
  test.each<[string, AGUIEvent[]]>([
    ["an older message is opened again", [event("TEXT_MESSAGE_START", { messageId: "m1" })]],
    ["a result comes for an older call", [result("t", "c1")]],
    ["an older call is opened again", [event("TOOL_CALL_START", { toolCallId: "c1", toolCallName: "f" })]],
    [
      "an older message gets a call",
      [event("TOOL_CALL_START", { toolCallId: "x", toolCallName: "f", parentMessageId: "m1" })],
    ],
    [
      "a call names an older message that is no assistant's",
      [event("TOOL_CALL_START", { toolCallId: "x", toolCallName: "f", parentMessageId: "u1" })],
    ],
    [
      "an older activity is replaced",
      [event("ACTIVITY_SNAPSHOT", { messageId: "a1", activityType: "PLAN", content: { n: 2 } })],
    ],
    [
      "all it holds is dropped and something comes behind older messages",
      [
        messages(
          { id: "m1", role: "assistant", content: "x" },
          { id: "new", role: "assistant", content: "new" },
        ),
      ],
    ],
  ])("[J5] gets a snapshot when %s", (_what, events) => {
    const { room, notes, say, join } = live();
    notes("u1");
    say(started("r"), ...text("m1", "x"), ...call("c1"));
    say(event("ACTIVITY_SNAPSHOT", { messageId: "a1", activityType: "PLAN", content: { n: 1 } }));
    say(...text("m2", "y"));
    const [reader, all] = [join(1), join()];
    say(...events);
    expect([reader.snapshots, all.snapshots]).toEqual([2, 1]);
    expect(reader.timeline.list).toEqual(room.timeline.list.slice(-reader.timeline.list.length));
    expect(all.timeline.list).toEqual(room.timeline.list);
  });

  test.each<[string, AGUIEvent[]]>([
    ["something is appended", text("m3", "z")],
    [
      "an older message is rewritten where it stands",
      [
        messages(
          { id: "m1", role: "assistant", content: "rewritten" },
          { id: "m2", role: "assistant", content: "y" },
        ),
      ],
    ],
    [
      "an older activity is patched",
      [event("ACTIVITY_DELTA", { messageId: "a1", activityType: "PLAN", patch: [] })],
    ],
  ])("[J5] gets none when %s", (_what, events) => {
    const { room, notes, say, join } = live();
    notes("u1");
    say(started("r"), ...text("m1", "x"), ...text("m2", "y"));
    const reader = join(1);
    say(...events);
    expect(reader.snapshots).toBe(1);
    expect(reader.timeline.list).toEqual(room.timeline.list.slice(-reader.timeline.list.length));
  });

  test("[J5] that asked for none holds what comes from then on", () => {
    const { room, notes, join, say } = live();
    notes("u1", "u2");
    const reader = join(0);
    expect(windowStart(room.timeline, sent(room.timeline, 0))).toBe(2);
    say(started("r"), ...text("m", "x"));
    expect(ids(reader.timeline)).toEqual(["m"]);
    say(messages());
    expect([reader.snapshots, ids(reader.timeline)]).toEqual([1, []]);
    say(...text("m3", "after all was dropped"));
    expect([reader.snapshots, ids(reader.timeline)]).toEqual([1, ["m3"]]);
  });

  test("[J5] places of dropped messages are not given again, so that a new message is not taken for an old one", () => {
    const { notes, join, say } = live();
    notes("u1");
    say(started("r"), ...text("m1", "x"), ...text("m2", "y"));
    const reader = join(1);
    say(messages());
    say(...text("m3", "z"), event("TEXT_MESSAGE_START", { messageId: "m3" }));
    expect([reader.snapshots, ids(reader.timeline)]).toEqual([1, ["m3"]]);
  });

  test("[J5] a head that moves back out of its window brings it a snapshot", () => {
    const { notes, join, write } = live();
    notes("u1", "u2", "u3", "u4");
    const reader = join(2);
    write(head("u3"));
    expect([reader.snapshots, ids(reader.timeline)]).toEqual([1, ["u3"]]);
    write(head("u2"));
    expect([reader.snapshots, ids(reader.timeline)]).toEqual([2, ["u1", "u2"]]);
  });

  test("[J3] entries behind a cursor are judged by what they themselves made", () => {
    const { room, notes, say, entries } = live();
    notes("u1", "u2");
    const cursor = room.timeline.seq;
    say(started("r"), ...text("m1", "x"), ...call("c"), result("t", "c"), finished("r"));
    notes("u3", "u4", "u5");
    const { timeline } = room;
    const below = reachBelow(timeline, timeline.messages.get("u4")!.place, cursor);
    expect(entries.slice(cursor).some(below)).toBe(false);
    say(started("r2"), event("TEXT_MESSAGE_START", { messageId: "u1" }));
    expect(entries.slice(cursor).filter(below)).toMatchObject([
      { event: { type: "TEXT_MESSAGE_START", messageId: "u1" } },
    ]);
    expect(entries.some(reachBelow(timeline, Number.NEGATIVE_INFINITY))).toBe(false);
  });
});

describe("earlier pages", () => {
  test("[J4] give the whole thread, whatever came between question and answer", () => {
    const { notes, say, entries } = live();
    notes("u1");
    say(started("r"), ...text("m1", "x"), ...text("m2", "dropped"));
    notes("u2");
    const asked = entries.length;
    const more = { messageId: "m1", delta: "y", metadata: { k: 1 } };
    say(event("TEXT_MESSAGE_START", { messageId: "m1" }), event("TEXT_MESSAGE_CONTENT", more));
    say(messages({ id: "m1", role: "assistant", content: "final" }), event("TEXT_MESSAGE_CONTENT", more));
    const server = folded(entries);
    const client = fromSnapshot(sent(folded(entries.slice(0, asked)), 1));
    addEarlier(client, throughJson(takeEarlier(server, "u2", 10)!), server.seq);
    // What the page knew already is not done to its messages a second time.
    folded(entries.slice(asked), client);
    expect(client.list).toEqual(server.list);
    expect(server.list[1]).toEqual({ id: "m1", role: "assistant", content: "finaly", metadata: { k: 1 } });
    expect(client.before).toBe(0);
  });

  test("[J4] pages chain until nothing is before them, with turns the head may move to", () => {
    const { room, notes, say, join, write } = live();
    notes("u1");
    say(started("empty"), finished("empty"));
    notes("u2", "u3", "u4", "u5");
    const reader = join(1);
    for (const [before, shown] of [
      [2, ["u3", "u4", "u5"]],
      [0, ["u1", "u2", "u3", "u4", "u5"]],
    ] as const) {
      reader.page(2);
      expect([reader.timeline.before, ids(reader.timeline)]).toEqual([before, shown]);
    }
    expect(takeEarlier(room.timeline, "nobody", 2)).toBeNull();
    expect(takeEarlier(room.timeline, "u1", 2)).toMatchObject({ messages: [], before: 0 });
    reader.timeline.apply({ kind: "head", seq: 99, at: 0, turn: "empty", why: "switch" });
    expect(ids(reader.timeline)).toEqual(["u1"]);
    write(head(null));
  });
});

describe("the stored fold", () => {
  test("[L6] writes rows of what changed, and nothing twice", () => {
    const { room, notes, say } = live();
    const store = new StoredFold();
    notes("u1", "u2");
    expect(store.take(room.timeline)).toMatchObject({ messages: [{ id: "u1" }, { id: "u2" }], dropped: [] });
    expect(store.take(room.timeline)).toMatchObject({ messages: [], turns: [], dropped: [] });
    say(started("r"), ...text("m1", "x"), ...text("m2", "y"));
    store.take(room.timeline);
    say(messages({ id: "m2", role: "assistant", content: "z" }), finished("r"));
    const rows = store.take(room.timeline);
    expect(rows).toMatchObject({ messages: [{ id: "m2" }], turns: [{ id: "r" }], dropped: ["m1"] });
    expect(inner(store.load())).toEqual(inner(room.timeline));
  });

  test("[L6] keeps order, and tells readers, when a place between two is used up", () => {
    const { room, say, join } = live();
    const store = new StoredFold();
    say(started("r"), ...call("c"), ...text("m", "after"));
    const reader = join(1);
    const results = Array.from({ length: 70 }, (_, i) => `t${i}`);
    for (const id of results) {
      // Each one goes between the call and the message behind it.
      say(result(id, "c"));
      store.take(room.timeline);
    }
    expect(ids(room.timeline)).toEqual(["c", ...results, "m"]);
    const places = room.timeline.messages.slots.map(({ place }) => place);
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
    expect(inner(store.load())).toEqual(inner(room.timeline));
    expect(ids(reader.timeline)).toEqual(["m"]);
  });

  test("[L6] a row that is not JSON is an error, not an empty thread", () => {
    const { room, notes } = live();
    const store = new StoredFold();
    notes("u1");
    store.take(room.timeline);
    store.spoil("u1");
    expect(() => store.load()).toThrow(SyntaxError);
  });
});
