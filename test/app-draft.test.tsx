// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { type DraftEditor, openDraft } from "../client/app/editor/index.ts";
import { type Caret, caretsIn, placeBehind } from "../client/app/editor/remote-carets.ts";
import { Composer } from "../client/app/parts/composer.tsx";
import { peopleColours } from "../client/app/thread-context.ts";
import type { ThreadDoc } from "../client/doc/index.ts";
import { CothreadError, type Thread } from "../client/react/index.ts";

let host: HTMLElement;

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  sessionStorage.clear();
  // What jsdom has no layout for.
  Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
  window.matchMedia = () =>
    ({ matches: true, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList;
  Object.assign(Range.prototype, { getBoundingClientRect: () => new DOMRect() });
  host = document.createElement("div");
  document.body.append(host);
});

afterEach(() => host.remove());

/** A draft whose server answers when a test says so. */
function fakeDraft(first: string, { synced = true, unsaved = false } = {}) {
  const doc = new Y.Doc();
  const draft = doc.getText("draft");
  draft.insert(0, first);
  const told: unknown[][] = [];
  const answers: { resolve: (ack: object) => void; reject: (error: Error) => void }[] = [];
  const thread = {
    send: (...args: unknown[]) => Promise.resolve(void told.push(["send", ...args])),
    note: (...args: unknown[]) => Promise.resolve(void told.push(["note", ...args])),
    withdraw: () => Promise.resolve(void told.push(["withdraw"])),
    sendDraft(text: string, { inputId: _, ...options }: { inputId: string }) {
      told.push(["sendDraft", text, options]);
      return new Promise((resolve, reject) => answers.push({ resolve, reject }));
    },
  } as unknown as Thread;
  const threadDoc = { doc, draft, awareness: new Awareness(doc), synced, unsaved } as unknown as ThreadDoc;
  const shown: string[] = [];
  const editor: DraftEditor = openDraft(host, thread, threadDoc, {
    label: "Message",
    changed: (text) => void shown.push(text),
    enter: () => {},
    tooMuch: () => {},
    caret: () => {},
    key: () => false,
  });
  return { draft, thread, threadDoc, editor, told, answers, shown };
}

const OPTIONS = { agent: "planner", note: false };

test("what is sent is hidden at once, and what is typed behind it stays", async () => {
  const { draft, editor, told, answers } = fakeDraft("\n\n  code first\nlast  \n");
  const done = editor.send(OPTIONS);
  expect(told).toEqual([["sendDraft", "  code first\nlast", { agent: "planner", note: false }]]);
  expect(editor.text).toBe("");
  expect(draft.toString()).toBe("  code first\nlast");
  // Somebody goes on writing before the server has cut it out.
  draft.insert(draft.length, "next");
  expect(editor.text).toBe("next");
  editor.putBehind("mine");
  draft.delete(0, "  code first\nlast".length);
  answers[0]?.resolve({});
  expect(await done).toEqual({ kind: "sent" });
  expect(editor.text).toBe("next\n\nmine");
  expect(draft.toString()).toBe("next\n\nmine");
  editor.close();
});

test("what is being sent is hidden in a field that is opened later, too", async () => {
  const { draft, thread, threadDoc, editor, answers } = fakeDraft("hello");
  const done = editor.send(OPTIONS);
  editor.close();
  const events = {
    label: "Message",
    changed: () => {},
    enter: () => {},
    tooMuch: () => {},
    caret: () => {},
    key: () => false,
  };
  const again = openDraft(host, thread, threadDoc, events);
  expect(again.text).toBe("");
  draft.delete(0, 5);
  answers[0]?.resolve({});
  await done;
  again.close();
});

test("whoever is second is told who was first, and has what was not sent", async () => {
  const { draft, editor, told, answers } = fakeDraft("hello world");
  const done = editor.send(OPTIONS);
  draft.delete(0, "hello".length);
  answers[0]?.reject(new CothreadError("draft_sent", "x", false, { by: { id: "ben", name: "Ben" } }));
  expect(await done).toEqual({ kind: "first", by: { id: "ben", name: "Ben" } });
  expect(editor.text).toBe(" world");
  expect(told).toHaveLength(1);
  editor.close();
});

test("what the server refuses stays in the draft, and not in the conversation as well", async () => {
  const { editor, told, answers } = fakeDraft("hello");
  const done = editor.send(OPTIONS);
  answers[0]?.reject(new CothreadError("busy", "Too many are waiting."));
  expect(await done).toEqual({ kind: "failed", reason: "Too many are waiting." });
  expect(editor.text).toBe("hello");
  expect(told.at(-1)).toEqual(["withdraw"]);
  editor.close();
});

test("what the server has not heard of is sent as a message of its own", async () => {
  const { draft, editor, told } = fakeDraft("typed offline", { synced: false, unsaved: true });
  expect(await editor.send(OPTIONS)).toEqual({ kind: "sent" });
  expect(told).toEqual([["send", "typed offline", { agent: "planner" }]]);
  expect(draft.toString()).toBe("");
  expect(editor.send(OPTIONS)).toBeNull();
  editor.close();
});

test("carets have the colours of this window, and nobody sees their own", () => {
  const doc = new Y.Doc();
  const text = doc.getText("draft");
  text.insert(0, "one two");
  const awareness = new Awareness(doc);
  awareness.setLocalStateField("user", { id: "ana", name: "Ana" });
  const place = (index: number) => JSON.parse(JSON.stringify(placeBehind(text, index))) as unknown;
  const cursor = { anchor: place(3), head: place(7) };
  const state = (client: number, fields: object) => awareness.getStates().set(client, fields);
  state(2001, { user: { id: "ben", name: "Ben", color: "red" }, cursor });
  state(2002, { user: { id: "ana", name: "Ana" }, cursor });
  state(2003, { cursor });
  state(2004, { user: { id: "cy", name: "Cy" }, cursor: null });
  state(2005, { user: { id: "ana", name: "Planner", kind: "agent" }, cursor });
  const people = caretsIn(text, awareness, (agent) => `the colour of ${agent}`);
  const ben: Caret = {
    key: "2001",
    name: "Ben",
    colour: peopleColours.of("ben"),
    place: { anchor: 3, head: 7 },
  };
  const agent = { ...ben, key: "2005", name: "Planner", colour: "the colour of ana" };
  expect(people.list()).toEqual([ben, agent]);
  // It stays behind what it was behind, whatever is written there.
  text.insert(7, " three");
  text.insert(0, "zero ");
  expect(people.list()[0]?.place).toEqual({ anchor: 8, head: 12 });
  awareness.destroy();
});

test("who may only read is told so, and has no field", async () => {
  const snapshot = { id: "t", runs: [], inputs: [], people: [], status: "live", role: "viewer" };
  const thread = { id: "t", snapshot, subscribe: () => () => {} } as unknown as Thread;
  const root = createRoot(host);
  await act(async () =>
    root.render(<Composer thread={thread} agents={[]} me="" live focus onSent={() => {}} />),
  );
  expect(host.textContent).toBe("You can read here.");
  await act(async () => root.unmount());
});
