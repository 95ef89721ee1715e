// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepDraft, putBack, readDraft } from "../client/app/drafts.ts";
import { becomeMyself, becomeSomeoneElse, cleanName, nameMe, readMe } from "../client/app/identity.ts";
import { Composer } from "../client/app/parts/composer.tsx";
import { createTyping, STILL_MS } from "../client/app/typing.ts";
import { followKeyboard } from "../client/app/viewport.ts";
import type { Thread } from "../client/react/index.ts";

let root: Root;
let host: HTMLElement;

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  window.matchMedia = () => ({ matches: true }) as MediaQueryList;
  sessionStorage.clear();
  localStorage.clear();
  host = document.createElement("div");
  document.body.append(host);
  root = createRoot(host);
});

afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
  vi.useRealTimers();
});

/** A thread that only remembers what it is told. */
function fakeThread(id: string, runs: object[] = [], trigger?: "mention" | "manual") {
  const told: unknown[][] = [];
  const tell =
    (what: string) =>
    (...args: unknown[]) => {
      told.push([what, ...args]);
      return Promise.resolve();
    };
  const snapshot = {
    id,
    runs,
    inputs: [],
    interrupts: [],
    people: [],
    turns: [],
    settings: { trigger },
    members: {},
    status: "live",
  };
  const thread = {
    id,
    snapshot,
    subscribe: () => () => {},
    send: tell("send"),
    note: tell("note"),
    cancel: tell("cancel"),
    setTyping: () => {},
  };
  return { thread: thread as unknown as Thread, told };
}

const AGENTS = [
  { id: "planner", name: "Planner", default: true as const },
  { id: "echo", name: "Echo" },
];

async function show(thread: Thread, agents = AGENTS, live = true) {
  const props = { thread, agents, me: "", live, focus: true, onSent: () => {} };
  await act(async () => root.render(<Composer key={thread.id} {...props} />));
}

const field = () => host.querySelector("textarea")!;
const button = (text: string) =>
  [...host.querySelectorAll("button")].find((each) => each.textContent === text)!;

async function type(text: string) {
  await act(async () => {
    const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")!.set!;
    set.call(field(), text);
    field().dispatchEvent(new Event("input", { bubbles: true }));
  });
}

const press = (key: string, more: KeyboardEventInit = {}) =>
  act(async () => {
    field().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  });

test("Enter sends to the agent that is chosen, and only whole text", async () => {
  const { thread, told } = fakeThread("t");
  await show(thread);
  await type("  \n ");
  await press("Enter");
  await type("\n\n  code first\nlast  \n\n");
  await press("Enter", { shiftKey: true });
  await press("Enter", { isComposing: true });
  expect(told).toEqual([]);
  await press("Enter");
  expect(told).toEqual([["send", "  code first\nlast", { agent: "planner" }]]);
  expect(field().value).toBe("");
});

test("a note starts nothing, says so for good, and is one note only", async () => {
  const { thread, told } = fakeThread("t");
  await show(thread);
  await act(async () => button("Note").click());
  await type("FYI");
  await act(async () => button("Add note").click());
  expect(told[0]).toEqual(["note", "FYI"]);
  await type("next");
  await press("Enter");
  expect(told[1]?.[0]).toBe("send");
});

test("while an agent works, what is sent waits, and it can be stopped", async () => {
  const { thread, told } = fakeThread("t", [{ runId: "r1" }]);
  await show(thread);
  expect(button("Queue")).toBeDefined();
  await act(async () => button("Stop").click());
  expect(told).toEqual([["cancel", "r1"]]);
  expect(button("Stopping").disabled).toBe(true);
});

test("what cannot reach the server cannot be stopped, and can again when it is back", async () => {
  const { thread, told } = fakeThread("t", [{ runId: "r1" }]);
  await show(thread, AGENTS, false);
  expect(button("Stop").disabled).toBe(true);
  await act(async () => button("Stop").click());
  expect(told).toEqual([]);
  await show(thread);
  await act(async () => button("Stop").click());
  expect(told).toEqual([["cancel", "r1"]]);
});

test("with one agent there is nothing to choose, with none it can still be asked", async () => {
  const { thread, told } = fakeThread("t");
  await show(thread, AGENTS.slice(1));
  expect(host.querySelector("select")).toBeNull();
  await show(thread, []);
  await type("hello");
  await press("Enter");
  expect(told).toEqual([["send", "hello", {}]]);
});

test("what is typed stays with its thread, over switching and reloading", async () => {
  await show(fakeThread("one").thread);
  await type("half a thought");
  await show(fakeThread("two").thread);
  expect(field().value).toBe("");
  await show(fakeThread("one").thread);
  expect(field().value).toBe("half a thought");
  expect(readDraft("one").text).toBe("half a thought");
});

test("a text that was sent in vain comes back before what stands there, as what it was", async () => {
  const { thread, told } = fakeThread("t");
  await show(thread);
  await act(async () => putBack("t", "too long", true));
  expect(field().value).toBe("too long");
  expect(document.activeElement).toBe(field());
  await type("shorter");
  await press("Enter");
  expect(told).toEqual([["note", "shorter"]]);
  await type("next");
  await act(async () => putBack("t", "again", false));
  expect(field().value).toBe("again\n\nnext");
  expect(readDraft("t").text).toBe("again\n\nnext");
  await act(async () => putBack("another", "not here", false));
  expect(field().value).toBe("again\n\nnext");
});

test("drafts that cannot be read are empty ones", () => {
  for (const text of ["{", "null", "7", '{"text":7,"note":"x","agent":1}']) {
    sessionStorage.setItem("cothread.draft.t", text);
    expect(readDraft("t")).toEqual({ text: "", note: false });
  }
  keepDraft("t", { text: "", note: false });
  expect(sessionStorage.length).toBe(0);
});

test("typing is told at once, again now and then, and ends three seconds after the last key", () => {
  vi.useFakeTimers();
  const told: boolean[] = [];
  const typing = createTyping((now) => told.push(now));
  for (let ms = 0; ms < 5_000; ms += 100) {
    typing.pressed();
    vi.advanceTimersByTime(100);
  }
  expect(told).toEqual([true, true, true]);
  vi.advanceTimersByTime(STILL_MS - 101);
  expect(told).toHaveLength(3);
  vi.advanceTimersByTime(1);
  expect(told.at(-1)).toBe(false);
  typing.ended();
  expect(told).toHaveLength(4);
  expect(vi.getTimerCount()).toBe(0);
});

test("a window can be somebody else, and itself again", () => {
  expect(readMe()).toEqual({ me: null, other: false });
  nameMe("  Ana \n");
  expect(readMe()).toEqual({ me: { name: "Ana" }, other: false });
  becomeSomeoneElse();
  expect(readMe()).toEqual({ me: null, other: true });
  const { id } = nameMe("Ben");
  expect(id).toMatch(/^\w{10,}$/);
  expect(readMe()).toEqual({ me: { name: "Ben", id }, other: true });
  // Other windows have the browser's storage only.
  expect(localStorage.getItem("cothread.name")).toBe("Ana");
  nameMe("Benno");
  expect(readMe().me).toEqual({ name: "Benno", id });
  becomeMyself();
  expect(readMe().me).toEqual({ name: "Ana" });
});

test("names are one line without characters that turn others around", () => {
  expect(cleanName("A\u202eb\tc\u0000d")).toBe("A b c d");
  expect(Array.from(cleanName("😀".repeat(60)))).toHaveLength(40);
  expect(cleanName(" \n ")).toBe("");
});

test("a browser without storage forgets, and works", () => {
  const broken = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new Error("quota");
  });
  expect(nameMe("Ana")).toEqual({ name: "Ana" });
  broken.mockRestore();
});

test("a keyboard makes the page lower, a window that is being resized does not", () => {
  const seen = Object.assign(new EventTarget(), { height: 768, scale: 1 });
  Object.defineProperty(window, "visualViewport", { value: seen, configurable: true });
  const height = () => document.documentElement.style.getPropertyValue("--page-height");
  followKeyboard();
  expect(height()).toBe("100dvh");
  Object.assign(seen, { height: 768 - 25 });
  seen.dispatchEvent(new Event("resize"));
  expect(height()).toBe("100dvh");
  Object.assign(seen, { height: 468 });
  seen.dispatchEvent(new Event("resize"));
  expect(height()).toBe("468px");
  // The window is told last.
  Object.assign(window, { innerHeight: 468 });
  window.dispatchEvent(new Event("resize"));
  expect(height()).toBe("100dvh");
});

const typeAt = (text: string) =>
  type(text).then(() =>
    act(async () => {
      field().setSelectionRange(text.length, text.length);
      field().focus();
      document.dispatchEvent(new Event("selectionchange"));
      field().dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
    }),
  );
const names = () => [...host.querySelectorAll('[role="option"]')].map(({ textContent }) => textContent);
const chosen = () => host.querySelector('[aria-selected="true"]')?.textContent;

test("[S6] an @ offers names; keys choose one, and the message says whom it mentions", async () => {
  const { thread, told } = fakeThread("t", [], "mention");
  await show(thread);
  expect(host.textContent).toContain("Agents answer when they are mentioned");
  await typeAt("ask @");
  expect(names()).toEqual(["Planner", "Echo"]);
  await press("ArrowDown");
  expect(chosen()).toBe("Echo");
  await press("ArrowDown");
  await press("ArrowUp");
  await press("Tab");
  expect(field().value).toBe("ask @Echo ");
  expect(names()).toEqual([]);
  expect(host.textContent).toContain("Echo answers");
  await press("Enter");
  const metadata = { cothread: { mentions: [{ kind: "agent", id: "echo" }] } };
  expect(told).toEqual([["send", { content: "ask @Echo", metadata }, { agent: "echo" }]]);
});

test("[S6] Escape closes the names, and Enter then sends what stands there", async () => {
  const { thread, told } = fakeThread("t", [], "mention");
  await show(thread);
  await typeAt("to @p");
  expect(names()).toEqual(["Planner"]);
  await press("Escape");
  expect(names()).toEqual([]);
  await typeAt("to @pl");
  expect(names()).toEqual([]);
  await press("Enter");
  expect(told).toEqual([["send", "to @pl", { agent: "planner" }]]);
});

test("[S6] what starts nothing is sent, not queued, while an agent works", async () => {
  const { thread } = fakeThread("t", [{ runId: "r1" }], "manual");
  await show(thread);
  expect(button("Queue")).toBeUndefined();
  expect(button("Send")).toBeDefined();
  expect(host.textContent).toContain("Planner answers when it is asked to");
});
