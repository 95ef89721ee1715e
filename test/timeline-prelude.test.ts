import { describe, expect, test } from "vitest";
import type { AGUIEvent, Entry, Message, NewEntry } from "../shared/protocol/index.ts";
import { prelude } from "../shared/timeline/index.ts";
import { entriesOf, PERSON, TestLog, TestResponse } from "./kit/entries.ts";
import { muteStock, playStock } from "./kit/stock-client.ts";
import { folded, joinedAt, sent } from "./kit/timeline-cuts.ts";
import { event, written } from "./kit/written.ts";

const { started, finished, failed, text, call, messages } = written;

muteStock();

const types = (events: readonly AGUIEvent[]) => events.map(({ type }) => type as string);
const user = (id: string): Message => ({ id, role: "user", content: id });
const note = (id: string): NewEntry => ({ kind: "message", turn: id, by: PERSON, message: user(id) });
const preludeOf = (entries: readonly Entry[]) => prelude(sent(folded(entries)));
const OWNED = { "@ag-ui/client": { authoritativeActivityTypes: null } };

describe("the prelude of a run under way", () => {
  test("[P1] [P2] [P3] is the run, state, messages, and what is open, without input and metadata", () => {
    const metadata = { k: "old" };
    const entries = entriesOf([
      started("r", {
        protocolVersion: "1.0",
        metadata,
        rawEvent: { big: 1 },
        input: { messages: [user("u")] },
      }),
      event("STATE_SNAPSHOT", { snapshot: { n: 1 } }),
      event("SUBAGENT_STARTED", { subagentRunId: "s", name: "Sub" }),
      event("STEP_STARTED", { stepName: "plan", metadata }),
      event("REASONING_START", { messageId: "x" }),
      ...text("m", "hel", { metadata, subagentRunId: "s" }).slice(0, 2),
      ...call("c", { parentMessageId: "m", metadata }).slice(0, 2),
    ]);
    expect(preludeOf(entries)).toEqual([
      { type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" },
      { type: "STATE_SNAPSHOT", snapshot: { n: 1 } },
      {
        type: "MESSAGES_SNAPSHOT",
        metadata: OWNED,
        messages: [
          user("u"),
          {
            id: "m",
            role: "assistant",
            content: "hel",
            subagentRunId: "s",
            metadata,
            toolCalls: [
              { id: "c", type: "function", function: { name: "search", arguments: "{}" }, metadata },
            ],
          },
        ],
      },
      { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "Sub" },
      { type: "STEP_STARTED", stepName: "plan" },
      { type: "REASONING_START", messageId: "x" },
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant", subagentRunId: "s" },
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "search", parentMessageId: "m" },
    ]);
  });

  test("[P1] follows the run that is asked for, else the oldest", () => {
    const log = new TestLog();
    new TestResponse(log).event(started("r1"));
    new TestResponse(log).event(started("r2"));
    const snapshot = sent(log.timeline);
    for (const [asked, followed] of [
      [undefined, "r1"],
      ["r2", "r2"],
      ["gone", "r1"],
    ] as const)
      expect(prelude(snapshot, asked)[0]).toMatchObject({ type: "RUN_STARTED", runId: followed });
  });
});

describe("the prelude of an idle thread", () => {
  const minted = { runId: expect.stringMatching(/^cothread:e:\d+$/) };
  const interrupt = { id: "i", reason: "confirmation" };
  const open = finished("r", { type: "interrupt", interrupts: [interrupt] });
  const pending = finished("r", { type: "success", pendingToolCallIds: ["c"] });
  const answer: NewEntry = { kind: "answer", by: PERSON, interruptId: "i", runId: "r", status: "resolved" };

  test.each<[string, AGUIEvent[], object]>([
    ["finished", [finished("r")], { runId: "r" }],
    ["was cancelled", [finished("r", { type: "cancelled" })], { runId: "r", outcome: { type: "cancelled" } }],
    ["waits for an answer", [open], { runId: "r", outcome: { type: "interrupt", interrupts: [interrupt] } }],
    [
      "left calls to answer",
      [...call("c"), pending],
      { runId: "r", outcome: { type: "success", pendingToolCallIds: ["c"] } },
    ],
    ["failed", [failed()], minted],
    ["failed after it had finished", [finished("r"), failed()], minted],
  ])("[P1] ends as the last run did when it %s, and never with its error", async (_what, events, end) => {
    const of = preludeOf(entriesOf([started("r"), ...text("m", "x"), ...events]));
    expect(types(of)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    expect(of.at(-1)).toEqual({ type: "RUN_FINISHED", threadId: "t", ...end });
    expect(of[0]).toEqual({ type: "RUN_STARTED", threadId: "t", runId: of.at(-1)?.runId });
    expect(await playStock(of)).toMatchObject({ error: null, failures: [] });
  });

  test("[P1] has an interrupt only while it is open", async () => {
    const log = new TestLog();
    const response = new TestResponse(log);
    for (const next of [started("r"), open]) response.event(next);
    expect((await playStock(preludeOf(log.entries))).pending).toEqual(["i"]);
    log.write(answer);
    expect(preludeOf(log.entries).at(-1)).toEqual({ type: "RUN_FINISHED", threadId: "t", ...minted });
  });

  test("[P1] is empty for an empty thread, and carries a note where no run has been", () => {
    expect(preludeOf([])).toEqual([]);
    const log = new TestLog();
    log.write(note("u"));
    expect(preludeOf(log.entries)).toMatchObject([minted, {}, { messages: [user("u")] }, minted]);
  });
});

// Each of these ended in an error, or in other messages, in a client that joined at some point of the stream.
describe("[P4] a client that joins anywhere ends like one that was there when", () => {
  const s = (subagentRunId: string) => ({ subagentRunId });
  const thought = (type: string, messageId: string, more = {}) =>
    event(`REASONING_MESSAGE_${type}`, {
      messageId,
      ...(type === "START" && { role: "reasoning" }),
      ...more,
    });
  const caller = (id: string, name: string) => ({
    id,
    role: "assistant",
    toolCalls: [{ id: "c", type: "function", function: { name, arguments: "" } }],
  });
  const reasoning = { id: "x", role: "reasoning", content: "" };

  test.each<[string, AGUIEvent[]]>([
    [
      "a snapshot renames an open call",
      [call("c")[0]!, messages(caller("n", "other")), ...call("c").slice(1)],
    ],
    ["a snapshot drops an open message", [text("m", "x")[0]!, messages(), ...text("m", "x").slice(1)]],
    ["a snapshot drops an open call", [call("c")[0]!, messages(), ...call("c").slice(1)]],
    [
      "a snapshot drops open reasoning under a text's id",
      [...text("m", "x"), thought("START", "m"), messages(), thought("END", "m")],
    ],
    [
      "what a snapshot dropped while it was open comes back",
      [
        text("m", "x")[0]!,
        messages(),
        messages({ id: "m", role: "assistant", content: "back " }),
        ...text("m", "x").slice(1),
      ],
    ],
    [
      "a dropped call comes back renamed while it is open",
      [call("c")[0]!, messages(), messages(caller("n", "other")), ...call("c").slice(1)],
    ],
    [
      "a subagent's parent has finished",
      [
        event("SUBAGENT_STARTED", { ...s("s1"), name: "One" }),
        event("SUBAGENT_STARTED", { ...s("s2"), name: "Two", parentSubagentRunId: "s1" }),
        event("SUBAGENT_FINISHED", s("s1")),
        event("SUBAGENT_STARTED", { ...s("s3"), name: "Three", parentSubagentRunId: "s1" }),
        event("SUBAGENT_FINISHED", s("s2")),
        event("SUBAGENT_FINISHED", s("s3")),
      ],
    ],
    [
      "a later run gives a message to a subagent",
      [
        ...text("m", "x"),
        finished("r"),
        started("r2"),
        ...text("m", "y", s("s1")).map((e) => ({ ...e, ...s("s1") })),
        finished("r2"),
        started("r"),
      ],
    ],
    [
      "a later run gives a subagent's call to another",
      [
        ...call("c", s("s1")),
        finished("r"),
        started("r2"),
        ...call("c", s("s2")).map((e) => ({ ...e, ...s("s2") })),
        finished("r2"),
        started("r"),
      ],
    ],
    [
      "a subagent's call hangs on a message of a person",
      [
        event("TEXT_MESSAGE_START", { messageId: "u", role: "user" }),
        event("TEXT_MESSAGE_END", { messageId: "u" }),
        finished("r"),
        started("r2"),
        ...call("c", { parentMessageId: "u", ...s("s1") }),
        finished("r2"),
        started("r"),
      ],
    ],
    [
      "a span is opened again without its subagent",
      [
        event("REASONING_START", { messageId: "x", ...s("s1") }),
        event("REASONING_END", { messageId: "x" }),
        event("REASONING_START", { messageId: "x" }),
        event("REASONING_END", { messageId: "x", ...s("s1") }),
      ],
    ],
    [
      "reasoning is not attributed and its span is",
      [
        event("REASONING_START", { messageId: "x", ...s("s1") }),
        thought("START", "x"),
        thought("CONTENT", "x", { delta: "hm", ...s("s1") }),
        thought("END", "x", s("s1")),
        event("REASONING_END", { messageId: "x", ...s("s1") }),
      ],
    ],
    [
      "metadata changes while a message is open",
      [
        event("TEXT_MESSAGE_START", { messageId: "m", metadata: { k: "old" } }),
        event("TEXT_MESSAGE_CONTENT", { messageId: "m", delta: "x", metadata: { k: "new" } }),
        event("TEXT_MESSAGE_END", { messageId: "m" }),
      ],
    ],
    [
      "activities and reasoning are dropped",
      [
        messages(reasoning, { id: "a", role: "activity", activityType: "PLAN", content: {} }),
        messages({ ...reasoning, id: "y" }, { id: "b", role: "activity", activityType: "PLAN", content: {} }),
      ],
    ],
  ])("%s", async (_what, events) => {
    const stream = [started("r"), ...events, finished("r")];
    const uncut = await playStock(stream);
    expect(uncut.error).toBeNull();
    const entries = entriesOf(stream);
    expect(folded(entries).list).toEqual(uncut.messages);
    for (let cut = 0; cut <= entries.length; cut += 1) {
      const joined = await playStock(joinedAt(entries, cut, "t"));
      expect(joined.error, `cut at ${cut}`).toBeNull();
      expect(joined.messages, `cut at ${cut}`).toEqual(uncut.messages);
    }
  });
});
