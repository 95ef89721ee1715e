import { expect, test } from "vitest";
import { askedAt, mentioning, mentionsIn, type Named, offered } from "../client/app/mentions.ts";
import { mentionable } from "../client/app/people.ts";
import { unansweredIn } from "../client/app/unanswered.ts";
import type { MessageView, Person, Turn } from "../client/react/index.ts";

const agent = (name: string): Named => ({ kind: "agent", id: name.toLowerCase(), name });
const user = (name: string): Named => ({ kind: "user", id: `guest:${name}`, name });
const NAMES = [agent("Planner"), agent("Echo"), user("Ana"), user("Ana Bell"), user("Petra Ost")];
const ids = (text: string) => mentionsIn(text, NAMES).map(({ id }) => id);

test("what is written behind an @ is looked up, an address is not", () => {
  expect(askedAt("@", 1)).toEqual({ from: 0, to: 1, query: "" });
  expect(askedAt("ask @Pla now", 8)).toEqual({ from: 4, to: 8, query: "Pla" });
  expect(askedAt("(@é", 3)).toEqual({ from: 1, to: 3, query: "é" });
  expect(askedAt("line\n@e", 7)).toEqual({ from: 5, to: 7, query: "e" });
  for (const text of ["", "ana@example", "ask @Pla ", "@@", "a.@x", "@a@"])
    expect(askedAt(text, text.length)).toBeNull();
});

test("names are offered by how they, or their words, begin, until one is written out", () => {
  const names = (query: string) => offered(NAMES, query).map(({ name }) => name);
  expect(names("")).toEqual(["Planner", "Echo", "Ana", "Ana Bell", "Petra Ost"]);
  expect(names("p")).toEqual(["Planner", "Petra Ost"]);
  expect(names("OST")).toEqual(["Petra Ost"]);
  expect(names("ana")).toEqual(["Ana", "Ana Bell"]);
  expect(names("planner")).toEqual([]);
  expect(names("nobody")).toEqual([]);
  expect(
    offered(
      Array.from({ length: 50 }, (_, i) => user(`U${i}`)),
      "u",
    ),
  ).toHaveLength(8);
});

test("a text mentions those whose names stand behind an @, in its order, the longest that fits", () => {
  expect(ids("@Planner and @echo: @planner!")).toEqual(["planner", "echo"]);
  expect(ids("@Ana Bell, @Ana")).toEqual(["guest:Ana Bell", "guest:Ana"]);
  expect(ids("@Ana Bellows")).toEqual(["guest:Ana"]);
  for (const text of ["Planner", "me@planner", "@Planners", "@Plan", "@", "x.@Echo"])
    expect(ids(text)).toEqual([]);
  expect(mentionsIn("@x", [user("")])).toEqual([]);
  expect(mentioning("hi", [])).toBe("hi");
  expect(mentioning("@Echo", [{ kind: "agent", id: "echo" }])).toEqual({
    content: "@Echo",
    metadata: { cothread: { mentions: [{ kind: "agent", id: "echo" }] } },
  });
});

test("agents, who is here, and who has written can be mentioned, and nobody themselves", () => {
  const person = (id: string, name: string, kind?: "agent"): Person => ({
    client: id,
    user: { id, name },
    ...(kind && { kind }),
  });
  const turn = (id: string, name: string): Turn => ({ id: `t-${id}`, by: { kind: "user", id, name } });
  const people = [person("me", "Me"), person("ben", "Ben B"), person("planner", "Planner", "agent")];
  const turns = [turn("ben", "Ben"), turn("cy", "Cy"), turn("me", "Me")];
  expect(mentionable([{ id: "planner", name: "Planner" }], people, turns, "me")).toEqual([
    { kind: "agent", id: "planner", name: "Planner" },
    { kind: "user", id: "ben", name: "Ben B" },
    { kind: "user", id: "cy", name: "Cy" },
  ]);
});

test("unanswered is the newest message since the last run that is no note", () => {
  const view = (id: string, more: object = {}, about: object = {}) =>
    ({ message: { id, role: "user", content: id, ...more }, about }) as unknown as MessageView;
  const note = { metadata: { cothread: { note: true } } };
  const silent = (after: string) => ({ run: { id: "r", agent: "x" }, after }) as never;
  const of = (...views: MessageView[]) => unansweredIn(views, []);
  expect(of()).toBeUndefined();
  expect(of(view("a"), view("b"))).toBe("b");
  expect(of(view("a"), view("b", note))).toBe("a");
  expect(of(view("a"), view("b", {}, { pending: {} }))).toBe("a");
  expect(of(view("a"), view("r1", { role: "assistant" }, { runId: "r" }))).toBeUndefined();
  expect(of(view("r1", { role: "assistant" }, { runId: "r" }), view("a"))).toBe("a");
  expect(unansweredIn([view("a"), view("b")], [silent("b")])).toBeUndefined();
  expect(unansweredIn([view("a"), view("b")], [silent("a")])).toBe("b");
});
