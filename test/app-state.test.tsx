// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StatePanel, tabsOf, useTabs } from "../client/app/parts/state-panel.tsx";
import { UndoRun } from "../client/app/parts/undo-run.tsx";
import { readPlan, tick } from "../client/app/plan.ts";
import { createStateChanges } from "../client/app/state-changes.ts";
import { mergeTexts, movedCaret } from "../client/app/text-merge.ts";
import { ThreadContext } from "../client/app/thread-context.ts";
import { SAVE_MS } from "../client/app/use-document.ts";
import { usePanel } from "../client/app/use-panel.ts";
import {
  CothreadError,
  createPlainState,
  type Entry,
  type Json,
  type Thread,
} from "../client/react/index.ts";

let root: Root;
let host: HTMLElement;
let narrow = false;

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  narrow = false;
  window.matchMedia = () =>
    ({ matches: narrow, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList;
  sessionStorage.clear();
  host = document.createElement("div");
  document.body.append(host);
  root = createRoot(host);
});

afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
  vi.useRealTimers();
});

const PLAN = [
  { id: "a", title: "Freeze scope", status: "done" },
  { id: "b", title: "Write the FAQ", status: "active" },
  { id: "c", title: "Press kit", status: "pending" },
];

/** A thread whose state a test sets, and that remembers what it is asked for. */
function fakeThread(first: Json) {
  const listeners = { change: new Set<() => void>(), entries: new Set<(items: Entry[]) => void>() };
  const told: unknown[][] = [];
  let answer: () => Promise<unknown> = () => Promise.resolve({ seq: 1, patch: [], skipped: [] });
  const runs = [{ runId: "r1", agent: "planner" }];
  let snapshot = { id: "t", state: first, runs, turns: [], people: [] };
  const tell =
    (what: string) =>
    (...args: unknown[]) => {
      told.push([what, ...args]);
      return answer();
    };
  const thread = {
    id: "t",
    get snapshot() {
      return snapshot;
    },
    get state() {
      return snapshot.state;
    },
    runs,
    turns: [],
    subscribe(listener: () => void) {
      listeners.change.add(listener);
      return () => listeners.change.delete(listener);
    },
    on(name: string, listener: never) {
      if (name === "entries") listeners.entries.add(listener);
      return () => listeners.entries.delete(listener);
    },
    patch: tell("patch"),
    revert: tell("revert"),
  };
  return {
    thread: thread as unknown as Thread,
    told,
    answers: (next: () => Promise<unknown>) => {
      answer = next;
    },
    /** The state becomes another one by entries. */
    become: (state: Json, ...items: object[]) =>
      act(async () => {
        snapshot = { ...snapshot, state };
        for (const listener of listeners.change) listener();
        for (const listener of listeners.entries) listener(items as Entry[]);
      }),
  };
}

function Page({ thread }: { thread: Thread }) {
  const tabs = useTabs(thread);
  const panel = usePanel(tabs);
  return panel.open ? <StatePanel tabs={tabs} panel={panel} /> : <button type="button">closed</button>;
}

async function show(thread: Thread, children: React.ReactNode = <Page thread={thread} />) {
  const changes = createStateChanges(thread);
  changes.follow();
  const agents = [{ id: "planner", name: "Planner" }];
  const plainState = createPlainState(thread);
  plainState.follow();
  const context = { thread, me: "", agents, live: true, changes, plainState, again: () => {} };
  await act(async () => root.render(<ThreadContext value={context}>{children}</ThreadContext>));
}

const all = (selector: string) => [...host.querySelectorAll<HTMLElement>(selector)];
const texts = (selector: string) => all(selector).map(({ textContent }) => textContent);
const press = (text: string) =>
  act(async () =>
    all("button")
      .find((each) => each.textContent === text)
      ?.click(),
  );

async function type(text: string) {
  await act(async () => {
    const field = host.querySelector("textarea")!;
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")!.set!.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

const ANA = { kind: "user", id: "ana", name: "Ana" } as const;
const stateEntry = (patch: object[], more: object = {}) => ({ kind: "state", by: ANA, patch, ...more });
const runEvent = (type: string, more: object = {}) => ({
  kind: "event",
  run: "r1",
  event: { type, ...more },
});

test("a plan is found by its shape, and nothing else is taken for one", () => {
  const steps = (state: Json) => readPlan(state)?.steps.map(({ text, status }) => `${text}: ${status}`);
  expect(steps({ title: "Launch", plan: PLAN })).toEqual([
    "Freeze scope: done",
    "Write the FAQ: active",
    "Press kit: open",
  ]);
  const listed = { other: [{ name: "x", done: true }], plan: { steps: [{ text: "y", done: false }] } };
  expect(readPlan(listed)?.path).toBe("/plan/steps");
  expect(readPlan({ "a/b": { list: [{ name: "x", done: true }] } })?.path).toBe("/a~1b/list");
  for (const state of [null, 7, [], {}, { plan: [] }, { users: [{ name: "x", status: "banned" }] }] as Json[])
    expect(readPlan(state)).toBeNull();
  const twice = readPlan({ plan: [PLAN[0]!, PLAN[0]!] })!.steps.map(({ key }) => key);
  expect(new Set(twice).size).toBe(2);
});

test("a step is ticked in the words of its plan", () => {
  const of = (items: Json[]) => readPlan({ plan: items })!;
  expect(tick(of(PLAN), 2, true)).toEqual([{ op: "replace", path: "/plan/2/status", value: "done" }]);
  expect(tick(of(PLAN), 0, false)).toEqual([{ op: "replace", path: "/plan/0/status", value: "pending" }]);
  const words = of([{ text: "x", status: "completed" }, { text: "y", status: "todo" }, { text: "z" }]);
  expect(tick(words, 1, true)[0]?.value).toBe("completed");
  expect(tick(words, 0, false)[0]?.value).toBe("todo");
  expect(tick(words, 2, true)).toEqual([{ op: "add", path: "/plan/2/status", value: "completed" }]);
  const flags = of([{ text: "x", done: false }, { text: "y" }]);
  expect(tick(flags, 0, true)).toEqual([{ op: "replace", path: "/plan/0/done", value: true }]);
  expect(tick(flags, 1, true)).toEqual([{ op: "add", path: "/plan/1/done", value: true }]);
});

test("only tabs with something in them are there", () => {
  expect(tabsOf({})).toEqual([]);
  expect(tabsOf(null)).toEqual([]);
  expect(tabsOf({ title: "x" })).toEqual(["data"]);
  expect(tabsOf({ plan: PLAN, document: "" })).toEqual(["plan", "document", "data"]);
});

test("the panel comes with something to show, closes, and this window remembers", async () => {
  const { thread, become } = fakeThread({});
  await show(thread);
  expect(host.textContent).toBe("closed");
  await become({ plan: PLAN });
  expect(texts("[role=tab]")).toEqual(["Plan", "Data"]);
  await act(async () => host.querySelector<HTMLElement>(".state-head .square")!.click());
  expect(host.textContent).toBe("closed");
  await act(async () => root.render(null));
  await show(thread);
  expect(host.textContent).toBe("closed");
  sessionStorage.clear();
  narrow = true;
  await act(async () => root.render(null));
  await show(thread);
  expect(host.textContent).toBe("closed");
});

test("a tick is a patch, and one that fails says why", async () => {
  const { thread, told, answers } = fakeThread({ title: "Launch", plan: PLAN });
  await show(thread);
  expect(host.textContent).toContain("1 of 3 done");
  await act(async () => all("input")[2]?.click());
  expect(told).toEqual([["patch", [{ op: "replace", path: "/plan/2/status", value: "done" }]]]);
  answers(() => Promise.reject(new CothreadError("stale", "gone")));
  await act(async () => all("input")[1]?.click());
  expect(texts("[role=alert]")[0]).toContain("Somebody has removed this meanwhile");
});

test("steps keep their element when others come and go, and say who changed them", async () => {
  const { thread, become } = fakeThread({ plan: PLAN });
  await show(thread);
  const before = all(".step");
  expect(texts(".changed-by")).toEqual([]);
  const added = { id: "n", title: "New", status: "pending" };
  const next = [added, PLAN[0]!, { ...PLAN[1]!, status: "done" }, PLAN[2]!];
  await become(
    { plan: next },
    stateEntry([{ op: "replace", path: "/plan/1/status", value: "done" }]),
    runEvent("STATE_DELTA", { delta: [{ op: "add", path: "/plan/0", value: added }] }),
  );
  expect(all(".step").slice(1)).toEqual(before);
  expect(texts(".step")).toEqual(["NewPlanner", "Freeze scope", "Write the FAQAna, just now", "Press kit"]);
  // A plan written anew changes what is another one than before.
  const written = [{ ...added, title: "Newer" }, ...next.slice(1)];
  await become({ plan: written }, stateEntry([{ op: "replace", path: "/plan", value: written }]));
  expect(texts(".step")[0]).toBe("NewerAna, just now");
  expect(texts(".step")[1]).toBe("Freeze scope");
});

test("what is typed is saved in a pause; until then nobody else's text takes its place", async () => {
  vi.useFakeTimers();
  const { thread, told, become } = fakeThread({ document: "one two" });
  await show(thread);
  await press("Edit");
  await become(
    { document: "one two three" },
    { kind: "text", by: ANA, run: null, path: "/document", edits: [] },
  );
  expect(host.querySelector("textarea")?.value).toBe("one two three");
  expect(texts(".changed-by")).toEqual(["Ana, just now"]);
  await type("one 2 three");
  await become({ document: "zero one two three" }, stateEntry([]));
  expect(host.querySelector("textarea")?.value).toBe("one 2 three");
  expect(told).toEqual([]);
  await act(async () => vi.advanceTimersByTimeAsync(SAVE_MS));
  expect(told).toEqual([["patch", [{ op: "replace", path: "/document", value: "zero one 2 three" }]]]);
  await become({ document: "zero one 2 three" });
  expect(host.querySelector("textarea")?.value).toBe("zero one 2 three");
  await type("kept");
  await press("Done");
  expect(told).toHaveLength(2);
});

test("a text that could not be saved stays, with the reason", async () => {
  vi.useFakeTimers();
  const { thread, answers, become } = fakeThread({ document: "one" });
  answers(() => Promise.reject(new CothreadError("too_big", "x")));
  await show(thread);
  await press("Edit");
  await type("long");
  await act(async () => vi.advanceTimersByTimeAsync(SAVE_MS));
  expect(host.querySelector("textarea")?.value).toBe("long");
  expect(texts("[role=alert]")[0]).toContain("does not take that much");
  // It outlives the field and the panel.
  await press("Done");
  expect(host.querySelector(".markdown")?.textContent).toBe("long");
  await act(async () => root.render(null));
  await show(thread);
  answers(() => Promise.resolve({}));
  await press("Edit");
  await become({ document: "long" });
  expect(texts("[role=alert]")).toEqual([]);
});

test("two texts made of one are put together, and nothing that was written is lost", () => {
  expect(mergeTexts("a b c", "A b c", "a b C")).toBe("A b C");
  expect(mergeTexts("a b c", "a b C", "A b c")).toBe("A b C");
  expect(mergeTexts("ab", "aMb", "aTb")).toBe("aTMb");
  expect(mergeTexts("one two", "one 2", "one zwei")).toBe("one zwei2");
  expect(mergeTexts("x", "x", "y")).toBe("y");
  expect(mergeTexts("x", "y", "x")).toBe("y");
  expect(mergeTexts("x", "y", "y")).toBe("y");
  expect(mergeTexts("\u{1f600}", "\u{1f601}", "\u{1f602}")).toBe("\u{1f602}\u{1f601}");
  expect(movedCaret(3, "abc", "xxabc")).toBe(5);
  expect(movedCaret(1, "abc", "abcd")).toBe(1);
});

test("data is folded, long texts are cut, and what is folded is not made", async () => {
  const { thread } = fakeThread({ long: "x".repeat(500), deep: { a: { b: 1 } }, none: {}, on: true });
  await show(thread);
  expect(host.querySelector(".json")?.textContent).not.toContain("x".repeat(201));
  expect(host.textContent).not.toContain("b 1");
  await act(async () => all(".json-fold")[1]?.click());
  expect(texts(".json-key")).toEqual(["long", "deep", "a", "b", "none", "on"]);
  await press("show all");
  expect(host.querySelector(".json")?.textContent).toContain("x".repeat(500));
});

test("a run that changed the state can be undone, and what was left is said", async () => {
  const { thread, told, answers, become } = fakeThread({});
  await show(thread, <UndoRun runId="r1" />);
  expect(all("button")).toEqual([]);
  await become({}, runEvent("RUN_STARTED"));
  await become({ x: 1 }, runEvent("RUN_FINISHED"));
  expect(all("button")).toEqual([]);
  await become({ x: 1 }, runEvent("STATE_DELTA", { delta: [{ op: "add", path: "/x", value: 1 }] }));
  answers(() => Promise.resolve({ seq: 3, skipped: ["/x", "/y"] }));
  await press("Undo what this run changed");
  expect(told).toEqual([["revert", "r1"]]);
  expect(host.textContent).toContain("2 things were left because others have changed them since.");
  await become({}, stateEntry([], { via: "revert", reverts: "r1" }));
  expect(all("button")).toEqual([]);
  expect(host.textContent).toContain("Ana has undone what this run changed.");
});

test("a run that this window did not see offers it in its menu", async () => {
  const { thread } = fakeThread({ x: 1 });
  await show(thread, <UndoRun runId="older" />);
  expect(all(".run-menu")).toHaveLength(1);
});

test("as a stock client would show it: what would be lost is seen and counted, and cannot be changed", async () => {
  const before = { title: "Launch", plan: PLAN, document: "One line. Another line." };
  const { thread, become } = fakeThread(before);
  await show(thread);
  expect(texts(".state-foot")).toEqual(["As a stock clientno difference"]);
  const hers = { id: "d", title: "Hers", status: "pending" };
  const ticked = { ...PLAN[2]!, status: "done" };
  const merged = {
    title: "Launch!",
    plan: [hers, PLAN[0]!, PLAN[1]!, ticked],
    document: "One line. Another line, she wrote.",
  };
  await become(
    merged,
    stateEntry([
      { op: "add", path: "/plan/0", value: hers },
      { op: "replace", path: "/plan/3/status", value: "done" },
      { op: "replace", path: "/document", value: merged.document },
    ]),
    {
      ...runEvent("STATE_DELTA", { delta: [{ op: "replace", path: "/title", value: "Launch!" }] }),
      was: "STATE_SNAPSHOT",
      sent: [
        { op: "remove", path: "/plan/0" },
        { op: "replace", path: "/plan/2/status", value: "pending" },
        { op: "replace", path: "/document", value: before.document },
      ],
    },
  );
  expect(texts(".stock-count")).toEqual(["3 things differ"]);
  await act(async () => host.querySelector<HTMLElement>("[role=switch]")!.click());
  expect(texts(".step-text")).toEqual([
    "Herswould be lost",
    "Freeze scope",
    "Write the FAQ",
    "Press kitthe tick would be lost",
  ]);
  expect(all("[type=checkbox]:not([role=switch]):not(:disabled)")).toEqual([]);
  await press("Document");
  expect(texts(".stock-text del").join("")).toContain("she wrote");
  expect(texts(".stock-text span").join("")).toContain("One line. Another line");
  await press("Data");
  expect(texts(".json").join()).not.toContain("Hers");
  await act(async () => host.querySelector<HTMLElement>("[role=switch]")!.click());
  await press("Plan");
  expect(texts(".step-text")[0]).toBe("Hers");
});
