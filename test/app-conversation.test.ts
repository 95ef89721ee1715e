import { expect, test } from "vitest";
import { groupMessages } from "../client/app/conversation.ts";
import { withFailedInPlace, writtenPlaces } from "../client/app/failed-places.ts";
import type { Message, MessageView, Thread, Turn, TurnEnd } from "../client/react/index.ts";

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

const shape = (views: MessageView[]) =>
  groupMessages(views).groups.map(({ ids, run }) => (run ? `${run.id}:` : "") + ids.join("+"));

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

const ANA = { kind: "user", id: "ana", name: "Ana" } as const;
const input = (id: string): Turn => ({ id, by: ANA });
const ended = (id: string, end: Partial<TurnEnd> = {}): Turn => ({
  id,
  by: ANA,
  agent: "planner",
  end: { outcome: "error", at: NOON, ...end },
});
const inTurn = (turn: string, view: MessageView): MessageView => ({
  ...view,
  about: { ...view.about, turn },
});

test("a run that ended before it said anything stands behind what it was asked, and no name goes on there", () => {
  const views = [inTurn("i1", said("1", "ana")), inTurn("i2", said("2", "ana"))];
  const turns = [input("i1"), ended("r1"), input("i2"), ended("r2", { outcome: "cancelled" })];
  const { groups, silent } = groupMessages(views, turns);
  expect(groups.map(({ ids }) => ids)).toEqual([["1"], ["2"]]);
  expect(silent.map(({ run, after, end }) => [run.id, after, end.outcome])).toEqual([
    ["r1", "1", "error"],
    ["r2", "2", "cancelled"],
  ]);
});

test("a run with messages, or one under way, is no silent end", () => {
  const views = [inTurn("i1", said("q", "ana")), inTurn("r1", done("a", "r1"))];
  const turns = [input("i1"), ended("r1"), { id: "r2", by: ANA, agent: "planner" }];
  expect(groupMessages(views, turns).silent).toEqual([]);
});

test("a silent end never stands before what was there already", () => {
  const call = { toolCalls: [{ id: "t1", type: "function", function: { name: "look", arguments: "{}" } }] };
  const views = [
    inTurn("i1", said("q", "ana")),
    inTurn("r1", done("a", "r1")),
    inTurn("n", said("note", "ben")),
    inTurn("r1", done("b", "r1", call)),
    inTurn("r1", done("result", "r1", { role: "tool", toolCallId: "t1" })),
  ];
  const turns = [input("i1"), ended("r1"), input("n"), ended("r2")];
  expect(groupMessages(views, turns).silent.map(({ after }) => after)).toEqual(["b"]);
});

test("a message that was not sent stands where it was written, what may still arrive at the end", () => {
  const pending = (id: string, state: "sending" | "failed"): MessageView => {
    const { message, about } = said(id, "ana");
    return { message, about: { ...about, pending: { state } as NonNullable<typeof about.pending> } };
  };
  const thread = {} as Thread;
  const ids = (views: readonly MessageView[]) =>
    withFailedInPlace(views, writtenPlaces(thread, views)).map(({ message }) => message.id);
  expect(ids([pending("x", "failed")])).toEqual(["x"]);
  expect(ids([said("1", "ana"), pending("x", "failed"), pending("y", "sending")])).toEqual(["x", "1", "y"]);
  const later = [said("1", "ana"), said("2", "ben"), pending("x", "failed"), pending("y", "failed")];
  expect(ids(later)).toEqual(["x", "1", "y", "2"]);
  expect(ids(later.slice(1))).toEqual(["x", "y", "2"]);
});
