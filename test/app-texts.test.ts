import { expect, test } from "vitest";
import { attachments, contentText } from "../client/app/content.ts";
import { plainLine, plainTitle } from "../client/app/excerpt.ts";
import { initials } from "../client/app/initials.ts";
import { everyone, unnamed } from "../client/app/people.ts";
import { pillState, pillText, pillTextWithoutTime } from "../client/app/pill.ts";
import { plainPieces } from "../client/app/plain-pieces.ts";
import { readProgress } from "../client/app/progress.ts";
import { codeIn, readRefusal, refusalOf } from "../client/app/refusal.ts";
import { inviteHash, readRoute, threadHash } from "../client/app/route.ts";
import { runSentence } from "../client/app/run-sentence.ts";
import { argsSummary, readable, resultSummary } from "../client/app/tool-summary.ts";
import { unbrokenClass } from "../client/app/unbroken.ts";
import { dayOf, onOtherDays } from "../client/app/when.ts";
import { words } from "../client/app/words.ts";
import { CothreadError } from "../client/react/index.ts";

test("[I1] a thread's address is read as it is written, whatever its id", () => {
  for (const id of ["welcome", "a b/c?d=e&f#g", "ü%2F", "join=x"])
    expect(readRoute(threadHash(id))).toEqual({ thread: id, join: null });
  expect(readRoute(inviteHash("a b", "CODE+/="))).toEqual({ thread: "a b", join: "CODE+/=" });
  expect(readRoute("#join=ABC")).toEqual({ thread: null, join: "ABC" });
  for (const hash of ["", "#", "#/", "#/t/", "#/t/%E0%A4%A", "#/t/a/b", "#nonsense"])
    expect(readRoute(hash)).toEqual({ thread: null, join: null });
});

test("addresses become links without the marks of the sentence around them", () => {
  const links = (text: string) =>
    plainPieces(text)
      .filter(({ kind }) => kind === "link")
      .map((piece) => piece.text);
  expect(links("see https://a.example/x, and (https://b.example/y).")).toEqual([
    "https://a.example/x",
    "https://b.example/y",
  ]);
  expect(links("https://en.example/wiki/A_(b)")).toEqual(["https://en.example/wiki/A_(b)"]);
  expect(links("javascript:alert(1) ftp://x")).toEqual([]);
});

test("nothing of a plain text is lost, and quoted code stands apart", () => {
  const text = "Look:\n```ts\nlet a = 1;\n\nlet b;\n```\nbehind https://x.example.";
  const pieces = plainPieces(text);
  expect(pieces).toEqual([
    { kind: "text", text: "Look:" },
    { kind: "code", text: "let a = 1;\n\nlet b;", language: "ts" },
    { kind: "text", text: "behind " },
    { kind: "link", text: "https://x.example" },
    { kind: "text", text: "." },
  ]);
  expect(plainPieces("a\n\n\n\n\n\n\nb")).toEqual([{ kind: "text", text: "a\n\n\nb" }]);
  expect(plainPieces("```\nnever closed")).toEqual([{ kind: "text", text: "```\nnever closed" }]);
});

test("lists show Markdown as a line of text", () => {
  expect(plainLine("## Launch plan\n\nAna, here is **it**: `calendar.lookup` [link](https://x)")).toBe(
    "Launch plan Ana, here is it: calendar.lookup link",
  );
  expect(plainLine("| a | b |\n|---|---|\n- [x] done")).toBe("a b done");
  expect(plainLine("2 - 1 > 0 and snake\\_case")).toBe("2 - 1 > 0 and snake_case");
  expect(plainLine("left \u202e turned")).toBe("left turned");
});

test("a tool's result is told in a few words, without what was asked", () => {
  expect(resultSummary("[1,2,3]", "{}")).toBe("3 results");
  expect(resultSummary("[]", "{}")).toBe("no results");
  expect(resultSummary('{"team":"ops","free":["Mon","Tue"]}', '{"team":"ops"}')).toBe("free: Mon, Tue");
  expect(resultSummary('{"a":1,"b":{"c":2},"d":[{}],"e":5}', "{not json")).toBe("a: 1, b: {…}, d: 1 result");
  expect(resultSummary("plain\n text", "")).toBe("plain text");
  expect(readable('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(readable('{"a":')).toBe('{"a":');
});

test("an activity is shown as far as it is understood", () => {
  const items = [
    { title: "One", done: true },
    { title: "Two", done: false },
  ];
  expect(readProgress("progress", { title: "Look", done: 1, total: 2, items })).toEqual({
    title: "Look",
    count: { done: 1, total: 2 },
    items,
  });
  expect(readProgress("webSearch", { steps: ["a", { name: "b", status: "completed" }, 7] })).toEqual({
    title: "Web search",
    count: { done: 1, total: 2 },
    items: [
      { title: "a", done: false },
      { title: "b", done: true },
    ],
  });
  expect(readProgress("x_y", { done: 9, total: 3 }).count).toEqual({ done: 3, total: 3 });
  expect(readProgress("x", { total: Number.NaN, items: "no" })).toEqual({
    title: "X",
    count: null,
    items: [],
  });
});

test("contents of several parts show their text and name the rest", () => {
  const content = [{ type: "text", text: "Look" }, { type: "image", metadata: { filename: "a.png" } }, null];
  expect(contentText(content)).toBe("Look");
  expect(attachments(content)[0]).toBe("a.png, image");
  expect(contentText(undefined)).toBe("");
  expect(attachments("text")).toEqual([]);
});

test("initials are one or two whole characters", () => {
  expect(initials("Ana")).toBe("A");
  expect(initials("ben maria olsen")).toBe("BO");
  expect(initials("👩🏽‍💻 dev")).toBe("👩🏽‍💻D");
  expect(initials("  ")).toBe("?");
});

test("people in several windows are one, and type when one window does", () => {
  const ana = { id: "guest:a", name: "Ana" };
  const people = [
    { client: "1", user: ana },
    { client: "2", user: { id: "guest:b", name: "Ben" } },
    { client: "3", user: ana, data: { typing: true } },
  ];
  expect(everyone(people)).toEqual([
    { ...ana, typing: true, windows: 2 },
    { id: "guest:b", name: "Ben", typing: false, windows: 1 },
  ]);
});

test("the pill says how it stands, in words", () => {
  const say = (
    connection: Parameters<typeof pillState>[0],
    thread: "live" | "loading" | "offline" = "offline",
  ) => pillText(pillState(connection, thread, 3, 1_000));
  expect(say({ status: "live", retryAt: undefined, unsent: 0 }, "live")).toBe("live · 3 here");
  expect(say({ status: "live", retryAt: undefined, unsent: 1 }, "loading")).toBe("loading, 1 unsent");
  expect(say({ status: "connecting", retryAt: undefined, unsent: 0 })).toBe("connecting");
  expect(say({ status: "reconnecting", retryAt: 3_100, unsent: 2 })).toBe("reconnecting in 3 s, 2 unsent");
  expect(say({ status: "reconnecting", retryAt: undefined, unsent: 0 })).toBe("reconnecting");
  expect(say({ status: "reconnecting", retryAt: 900, unsent: 0 })).toBe("reconnecting");
  expect(say({ status: "offline", retryAt: 9_000, unsent: 2 })).toBe("offline, 2 unsent");
  const counting = pillState({ status: "reconnecting", retryAt: 3_100, unsent: 0 }, "offline", 0, 1_000);
  expect(pillTextWithoutTime(counting)).toBe("reconnecting");
});

test("every refusal says what one can do", () => {
  const refused = (close: number, reason: string) =>
    readRefusal(new CothreadError("refused", reason, false, { close }));
  expect(refused(4401, "The join code is missing or wrong.").kind).toBe("code");
  expect(refused(4401, "This server takes guests from its own machine only.")).toMatchObject({
    kind: "other",
    help: words.refused.guests,
  });
  expect(refused(4409, "").kind).toBe("replaced");
  expect(refused(4426, "").kind).toBe("version");
  expect(refused(4413, "").help).toBe(words.refused.other);
  expect(readRefusal(undefined).title).not.toBe("");
});

test("the end of a run is a sentence, or nothing when it went well", () => {
  const at = 0;
  expect(runSentence({ outcome: "success", at }, "Planner")).toBeNull();
  expect(
    runSentence({ outcome: "cancelled", at, by: { kind: "user", id: "b", name: "Ben" } }, "Planner")?.text,
  ).toBe("Stopped by Ben");
  expect(runSentence({ outcome: "cancelled", at }, "Planner")?.text).toBe("Stopped");
  expect(runSentence({ outcome: "error", code: "AGENT_TIMEOUT", at }, "Planner")).toMatchObject({
    tone: "bad",
    again: true,
    text: "Planner did not answer for too long. Try again or choose another agent.",
  });
  expect(
    runSentence(
      { outcome: "error", code: "AGENT_HTTP", message: "Planner answered with 503.", at },
      "Planner",
    )?.text,
  ).toBe("Planner answered with 503.");
  // What an agent says of itself may be for programmers: it stands below a sentence of ours.
  expect(runSentence({ outcome: "error", code: "E42", message: "boom", at }, "Planner")).toMatchObject({
    text: "Planner failed. Try again or choose another agent.",
    details: "boom",
  });
});

test("days are named by how far they are", () => {
  const noon = new Date(2026, 4, 4, 12).getTime();
  const hours = (n: number) => noon - n * 3_600_000;
  expect(dayOf(hours(11), noon)).toBe(0);
  expect(dayOf(hours(13), noon)).toBe(1);
  expect(dayOf(hours(37), noon)).toMatch(/2/);
  expect(dayOf(new Date(2024, 0, 1).getTime(), noon)).toMatch(/2024/);
  expect(onOtherDays(hours(13), noon)).toBe(true);
  expect(onOtherDays(hours(11), noon)).toBe(false);
});

test("a text with a long run without a break is told from prose of any length", () => {
  expect(unbrokenClass("words of a book ".repeat(10_000))).toBeUndefined();
  expect(unbrokenClass(`see https://x.example/${"a".repeat(300)} and go on`)).toBeUndefined();
  expect(unbrokenClass(`words, then ${"A".repeat(1_000)}`)).toBe("unbroken");
});

test("a join code that is missing or wrong is said at once, not when the client gave up", () => {
  const reason = "The join code is missing or wrong. Open the link again that you were given.";
  const error = refusalOf({ status: "reconnecting", reason });
  expect(readRefusal(error)).toMatchObject({ kind: "code", title: words.refused.code.title });
  expect(readRefusal(error, "WRONG")).toMatchObject({ kind: "code", title: words.refused.wrongCode.title });
  const own = refusalOf({
    status: "connecting",
    reason: "This server takes guests from its own machine only.",
  });
  expect(readRefusal(own).help).toBe(words.refused.guests);
  expect(refusalOf({ status: "live" })).toBeUndefined();
  expect(refusalOf({ status: "closed", reason })).toBeUndefined();
  expect(refusalOf({ status: "reconnecting", reason: "The connection was lost." })).toBeUndefined();
});

test("a join code is found in the whole link as well", () => {
  for (const text of ["abc234", " ABC234\n", "join=ABC234", "http://192.0.2.2:4000/#join=ABC234"])
    expect(codeIn(text)).toBe("ABC234");
  expect(codeIn("https://x.example/base/#/t/welcome?join=ABC234")).toBe("ABC234");
  for (const text of ["", "  ", "http://x.example/#/t/a"]) expect(codeIn(text)).toBe("");
});

test("titles show what is meant by Markdown and HTML, and never nothing", () => {
  expect(plainTitle("## **Draft** a `launch` plan for <b>us</b>")).toBe("Draft a launch plan for us");
  expect(plainTitle('<script>alert(1)</script><img src=x onerror="alert(2)"> & more')).toBe(
    "alert(1) & more",
  );
  expect(plainTitle("a List<string> with 1 < 2 > 0")).toBe("a List<string> with 1 < 2 > 0");
  expect(plainTitle("***")).toBe("***");
  expect(plainTitle("<br>")).toBe("<br>");
  expect(plainTitle("")).toBe("");
});

test("initials are letters, whatever stands around them", () => {
  expect(initials("<b>Dora</b>")).toBe("D");
  expect(initials('(Ben) "Olsen"')).toBe("BO");
  expect(initials("<3")).toBe("3");
  expect(initials("***")).toBe("*");
  expect(initials("🇩🇪 Team")).toBe("🇩🇪T");
});

test("the arguments of a call are told by their values", () => {
  expect(argsSummary('{"team":"marketing","when":"12 March","limit":3}')).toBe("marketing, 12 March, 3");
  expect(argsSummary('{"ids":[1,2],"deep":{"a":1}}')).toBe("1, 2, {…}");
  expect(argsSummary('{"team":"mark')).toBe('{"team":"mark');
  expect(argsSummary("")).toBe("");
});

test("agents are no people, and windows that nobody names are counted", () => {
  const person = (client: string, id: string) => ({ client, user: { id, name: id } });
  const people = [
    person("1", "ana"),
    person("2", "ana"),
    { ...person("agent:planner", "planner"), kind: "agent" as const },
  ];
  expect(everyone(people).map(({ id }) => id)).toEqual(["ana"]);
  expect(unnamed(people, 2)).toBe(0);
  expect(unnamed(people, 250)).toBe(248);
});
