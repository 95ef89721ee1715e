import { expect, test } from "vitest";
import { groupMessages } from "../client/app/conversation.ts";
import { createSeenEnds } from "../client/app/seen-ends.ts";
import type { EntryOf, Message, MessageView, Thread } from "../client/react/index.ts";

const MINUTE = 60_000;
const NOON = new Date(2026, 4, 4, 12).getTime();

function said(id: string, who: string, at = NOON): MessageView {
  return {
    message: { id, role: "user", content: id } as Message,
    about: { by: { kind: "user", id: who, name: who }, at, streaming: false },
  };
}

function done(id: string, run: string, message: object = {}, at = NOON): MessageView {
  return {
    message: { id, role: "assistant", content: id, ...message } as Message,
    about: { by: { kind: "user", id: "ana" }, agent: "planner", runId: run, at, streaming: false },
  };
}

const shape = (views: MessageView[], ends?: Set<string>) =>
  groupMessages(views, ends).groups.map(({ ids, run }) => (run ? `${run.id}:` : "") + ids.join("+"));

test("messages of one person within five minutes stand together, others apart", () => {
  const views = [
    said("1", "ana"),
    said("2", "ana", NOON + 4 * MINUTE),
    said("3", "ana", NOON + 6 * MINUTE),
    said("4", "ben", NOON + 6 * MINUTE),
    said("5", "ana", NOON + 6 * MINUTE),
  ];
  expect(shape(views)).toEqual(["1+2", "3", "4", "5"]);
});

test("messages of one run stand together, and go on behind what a person puts between", () => {
  const views = [
    said("q", "ana"),
    done("a", "r1"),
    done("b", "r1"),
    said("n", "ben"),
    done("c", "r1"),
    done("d", "r2"),
  ];
  expect(shape(views)).toEqual(["q", "r1:a+b", "n", "r1:c", "r2:d"]);
  expect(groupMessages(views).groups.map(({ run }) => run?.last)).toEqual([
    undefined,
    false,
    undefined,
    true,
    true,
  ]);
});

test("a result is shown with its call; one whose call is not here stands alone", () => {
  const call = { toolCalls: [{ id: "t1", type: "function", function: { name: "look", arguments: "{}" } }] };
  const views = [
    done("a", "r1", call),
    done("x", "r1", { role: "tool", toolCallId: "t1" }),
    done("y", "r1", { role: "tool", toolCallId: "elsewhere" }),
  ];
  expect(shape(views)).toEqual(["r1:a+y"]);
  expect(groupMessages(views).results).toEqual(new Map([["t1", "x"]]));
});

test("what a thought took is told by what came next in its run", () => {
  const views = [
    done("think", "r1", { role: "reasoning" }),
    said("n", "ben"),
    done("say", "r1", {}, NOON + 4_000),
  ];
  expect(groupMessages(views).nextAt).toEqual(new Map([["think", NOON + 4_000]]));
});

test("days are told apart", () => {
  const views = [
    said("1", "ana", NOON - 24 * 60 * MINUTE),
    said("2", "ana"),
    said("3", "ben", NOON + MINUTE),
  ];
  expect(groupMessages(views).groups.map(({ newDay }) => newDay)).toEqual([true, true, false]);
});

test("no name goes on behind a run that ended in between", () => {
  expect(shape([said("1", "ana"), said("2", "ana")], new Set(["1"]))).toEqual(["1", "2"]);
});

/** A thread of which only entries are heard. */
function listened(messageIds: string[], runOf: Record<string, string> = {}) {
  let hear: (items: readonly object[]) => void = () => {};
  const thread = {
    messageIds,
    about: (id: string) => ({ runId: runOf[id] }),
    on: (_name: string, listener: typeof hear) => {
      hear = listener;
      return () => {};
    },
  } as unknown as Thread;
  return { seen: createSeenEnds(thread), hear: (...items: object[]) => hear(items) };
}

const event = (run: string, fields: object, more: Partial<EntryOf<"event">> = {}) => ({
  kind: "event",
  run,
  at: NOON,
  event: fields,
  ...more,
});
const start = (inputId: string) => ({
  start: { agent: "planner", by: { kind: "user" as const, id: "ana" }, inputId },
});

test("a run that ends before it says anything stands behind what it was asked", () => {
  const { seen, hear } = listened(["q1", "q2"]);
  hear(
    { kind: "message", turn: "i1", message: { id: "q1" } },
    event("r1", { type: "RUN_ERROR", code: "AGENT_UNREACHABLE", message: "No." }, start("i1")),
    { kind: "message", turn: "i2", message: { id: "q2" } },
    event("r2", { type: "RUN_STARTED" }, start("i2")),
    event(
      "r2",
      { type: "RUN_FINISHED", outcome: { type: "cancelled" } },
      { by: { kind: "user", id: "b", name: "Ben" } },
    ),
  );
  expect(seen.silent().map(({ run, after, end }) => [run.id, after, end.outcome])).toEqual([
    ["r1", "q1", "error"],
    ["r2", "q2", "cancelled"],
  ]);
  expect(seen.stoppedBy("r2")).toBe("Ben");
  expect(seen.stoppedBy("r1")).toBeUndefined();
});

test("a run with messages shows its end there", () => {
  const { seen, hear } = listened(["q", "a"], { a: "r1" });
  hear(event("r1", { type: "RUN_STARTED" }, start("i1")), event("r1", { type: "RUN_ERROR" }));
  expect(seen.silent()).toEqual([]);
});
