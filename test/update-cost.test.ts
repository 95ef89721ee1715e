import * as encoding from "lib0/encoding";
import { describe, expect, test } from "vitest";
import * as Y from "yjs";
import { StoredState } from "../server/room/stored-state.ts";
import type { UpdateVerdict } from "../server/room/update-check.ts";
import type { Entry, Json, NewEntry } from "../shared/protocol/index.ts";
import { Timeline } from "../shared/timeline/index.ts";
import { ANA, TEXTS } from "./kit/state-world.ts";
import { within } from "./kit/within.ts";

type Limits = ConstructorParameters<typeof StoredState>[3];

/** A thread's state, with what a room does with one update of a peer. */
class Thread {
  readonly entries: Entry[] = [];
  readonly timeline = new Timeline();
  readonly stored: StoredState;

  constructor(document: Uint8Array | null = null, limits: Limits = {}) {
    this.stored = new StoredState(TEXTS, null, () => this.timeline.state, limits);
    if (document) this.stored.shared.merge(this, ANA, document, "doc");
    this.stored.take(false);
    this.entries.length = 0;
  }

  log(entry: NewEntry): void {
    const placed = { seq: this.timeline.seq + 1, at: 1, ...entry } as Entry;
    this.timeline.apply(placed);
    this.entries.push(placed);
  }

  /** Checks, merges, reads and encodes. */
  take(update: Uint8Array): UpdateVerdict {
    const verdict = this.stored.check(update);
    if (verdict.ok) this.stored.shared.merge(this, ANA, update, "doc");
    this.stored.take(false);
    JSON.stringify(this.entries);
    return verdict;
  }

  get state(): Json {
    return this.timeline.state;
  }
}

type Change = (doc: Y.Doc) => void;

let editors = 0;

/** A document and an update of somebody new that goes on from it. */
function edited(start: Change, change: Change): { document: Uint8Array; update: Uint8Array } {
  const doc = new Y.Doc();
  doc.clientID = 4_000;
  doc.transact(() => start(doc));
  const document = Y.encodeStateAsUpdate(doc);
  editors += 1;
  doc.clientID = 6_000 + editors;
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  change(doc);
  return { document, update: Y.mergeUpdates(updates) };
}

/** What comes of an update in a fresh thread each time it is measured. */
function taken({ document, update }: { document: Uint8Array | null; update: Uint8Array }) {
  const threads = Array.from({ length: 5 }, () => new Thread(document));
  return within(50, () => {
    const thread = threads.pop()!;
    return { thread, verdict: thread.take(update) };
  });
}

/** An update of structs that lie in roots. */
function forged(
  count: number,
  root: (i: number) => string,
  content: (to: encoding.Encoder) => void,
  ref = 8,
) {
  const to = encoding.createEncoder();
  for (const n of [1, count, 5_000, 0]) encoding.writeVarUint(to, n);
  for (let i = 0; i < count; i += 1) {
    encoding.writeUint8(to, ref);
    encoding.writeVarUint(to, 1);
    encoding.writeVarString(to, root(i));
    content(to);
  }
  encoding.writeVarUint(to, 0);
  return { document: null, update: encoding.toUint8Array(to) };
}

const state = (doc: Y.Doc) => doc.getMap<unknown>("state");
const list = (doc: Y.Doc) => state(doc).get("list") as Y.Array<unknown>;
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const rows = (count: number) => numbers(count).map((n) => new Y.Map([["n", n]]));
const withList = (make: (count: number) => unknown[], count: number) => (doc: Y.Doc) =>
  state(doc).set("list", Y.Array.from(make(count) as never[]));
const nothing: Change = () => {};
const clear: Change = (doc) => list(doc).delete(0, list(doc).length);

describe("[Y9] what would keep everybody waiting is refused before it does", () => {
  const rowOf = (count: number, write: (to: encoding.Encoder) => void) => (to: encoding.Encoder) => {
    encoding.writeVarUint(to, count);
    for (let i = 0; i < count; i += 1) write(to);
  };
  const app = () => "app";
  const nulls = (count: number) => rowOf(count, (to) => encoding.writeUint8(to, 126));
  const refused: Record<string, Parameters<typeof taken>[0]> = {
    "1,500,000 nulls": forged(1, app, nulls(1_500_000)),
    "800,000 nulls as JSON texts": forged(
      1,
      app,
      rowOf(800_000, (to) => encoding.writeVarString(to, "null")),
      2,
    ),
    "1,300,000 objects in the JSON of an embed": forged(
      1,
      app,
      (to) => encoding.writeVarString(to, `[${"{},".repeat(1_300_000)}{}]`),
      5,
    ),
    "20,000 root types": forged(20_000, (i) => `r${i}`, nulls(1)),
    "20,000 members of the state": edited(nothing, (doc) =>
      doc.transact(() => {
        for (const n of numbers(20_000)) state(doc).set(`k${n}`, n);
      }),
    ),
    "1,400 subdocuments": edited(nothing, (doc) =>
      doc.getArray("app").push(numbers(1_400).map(() => new Y.Doc())),
    ),
    "a change of each of 3,000 texts in a list": edited(
      withList((count) => numbers(count).map(() => new Y.Text("x")), 3_000),
      (doc) =>
        doc.transact(() => {
          for (const text of list(doc)) (text as Y.Text).insert(0, "y");
        }),
    ),
  };
  test.each(Object.keys(refused))("%s", (name) => {
    const { verdict } = taken(refused[name]!);
    expect(verdict).toMatchObject({ ok: false, kind: expect.stringMatching(/^too_(big|costly)$/) });
  });

  test("a hundred roots are few enough, whatever names the structs have that are known already", () => {
    const some = forged(90, (i) => `r${i}`, nulls(1));
    expect(new Thread().take(some.update)).toMatchObject({ ok: true });
    const known = new Thread(some.update);
    const again = forged(90, (i) => `other${i}`, nulls(1));
    expect(known.take(again.update)).toMatchObject({ ok: false, kind: "too_big" });
  });

  test("commas within the texts of JSON are no values", () => {
    const text = JSON.stringify({ text: `"${",[{".repeat(100_000)}\\` });
    const { verdict } = taken(forged(1, app, (to) => encoding.writeVarString(to, text), 5));
    expect(verdict).toMatchObject({ ok: true });
  });
});

describe("[Y9] what people do passes, and keeps nobody waiting", () => {
  const honest: Record<string, ReturnType<typeof edited>> = {
    "200 KB of pasted text": edited(
      (doc) => state(doc).set("document", new Y.Text("word ".repeat(4_000))),
      (doc) => (state(doc).get("document") as Y.Text).insert(700, "x".repeat(200_000)),
    ),
    "200 KB pasted into the draft": edited(nothing, (doc) =>
      doc.getText("draft").insert(0, "x".repeat(200_000)),
    ),
    "5,000 values put into a list": edited(withList(numbers, 100), (doc) =>
      list(doc).insert(50, numbers(5_000)),
    ),
    "a list of 5,000 rows cleared": edited(withList(rows, 5_000), clear),
    "a list of 45,000 values cleared": edited(withList(numbers, 45_000), clear),
    "a list of 90,000 values cleared": edited(withList(numbers, 90_000), clear),
    "a list of 30,000 values that came one by one cleared": edited((doc) => {
      const made = state(doc).set("list", new Y.Array()) as Y.Array<unknown>;
      for (const n of numbers(30_000)) made.insert(0, [n]);
    }, clear),
    "3,000 members taken out": edited(
      (doc) => {
        for (const n of numbers(3_000)) state(doc).set(`k${n}`, n);
      },
      (doc) => state(doc).clear(),
    ),
    "a change of each of 2,000 rows": edited(withList(rows, 2_000), (doc) =>
      doc.transact(() => {
        for (const row of list(doc)) (row as Y.Map<unknown>).set("n", "x");
      }),
    ),
  };
  test.each(Object.keys(honest))("%s", (name) => {
    const { document, update } = honest[name]!;
    const { thread, verdict } = taken(honest[name]!);
    expect(verdict).toMatchObject({ ok: true });
    const whole = new Y.Doc();
    for (const one of [document, update]) Y.applyUpdate(whole, one);
    expect(thread.state).toEqual(state(whole).toJSON());
  });
});

describe("[Y10] an emptied list", () => {
  const empty = (count: number) => new Thread(edited(withList(numbers, count), nothing).document);

  test("is emptied in one operation from a thousand elements on", () => {
    const patchOf = (count: number) => {
      const { document, update } = edited(withList(numbers, count), clear);
      const thread = new Thread(document);
      thread.take(update);
      expect(thread.state).toEqual({ list: [] });
      return thread.entries.flatMap((entry) => (entry.kind === "state" ? entry.patch : []));
    };
    expect(patchOf(1_000)).toEqual([{ op: "replace", path: "/list", value: [] }]);
    expect(patchOf(999)).toHaveLength(999);
  });

  test("what a person adds to it meanwhile stays, and what lay in it is gone", () => {
    const thread = empty(1_000);
    const base = thread.timeline.seq;
    const { update } = edited(withList(numbers, 1_000), clear);
    thread.take(update);
    const { shared } = thread.stored;
    expect(() => shared.patch(thread, ANA, [{ op: "remove", path: "/list/7" }], base)).toThrow(/removed/);
    shared.patch(thread, ANA, [{ op: "add", path: "/list/7", value: "new" }], base);
    expect(thread.state).toEqual({ list: ["new"] });
  });
});

describe("[Y9] sizes", () => {
  const typed = (length: number) =>
    edited(nothing, (doc) => doc.getText("draft").insert(0, "x".repeat(length)));
  const inApp = (length: number) =>
    edited(nothing, (doc) => doc.getText("app").insert(0, "x".repeat(length)));
  const tooBig = { ok: false, kind: "too_big", reason: expect.stringMatching(/^The d.*try again\.$/) };

  test("a draft has an end, and can be replaced there", () => {
    expect(new Thread(null, { draft: 1_000 }).take(typed(2_001).update)).toMatchObject(tooBig);
    const doc = new Y.Doc();
    doc.getText("draft").insert(0, "x".repeat(1_000));
    const thread = new Thread(null, { draft: 1_000 });
    const push = () => {
      const vector = Y.encodeStateVectorFromUpdate(thread.stored.shared.document.encode());
      return thread.take(Y.encodeStateAsUpdate(doc, vector));
    };
    expect(push()).toMatchObject({ ok: true });
    doc.transact(() => {
      doc.getText("draft").delete(0, 1_000);
      doc.getText("draft").insert(0, "y".repeat(1_000));
    });
    expect(push()).toMatchObject({ ok: true });
    doc.getText("draft").insert(0, "z".repeat(1_001));
    expect(push()).toMatchObject(tooBig);
  });

  test("a document has one too, whatever root grows; what deletes makes room", () => {
    const { update } = inApp(60_000);
    const thread = new Thread(update, { bytes: 100_000 });
    const doc = new Y.Doc();
    Y.applyUpdate(doc, update);
    const next = (change: Change) => {
      const updates: Uint8Array[] = [];
      const listen = (one: Uint8Array) => updates.push(one);
      doc.on("update", listen);
      change(doc);
      doc.off("update", listen);
      return thread.take(Y.mergeUpdates(updates));
    };
    const much: Change = (of) => of.getText("app").insert(0, "x".repeat(30_000));
    expect(next(much)).toMatchObject({ ok: true });
    expect(
      new Thread(Y.encodeStateAsUpdate(doc), { bytes: 100_000 }).take(typed(30_000).update),
    ).toMatchObject(tooBig);
    expect(next((of) => of.getText("app").delete(0, 80_000))).toMatchObject({ ok: true, ids: [] });
    expect(next(much)).toMatchObject({ ok: true });
    expect(thread.stored.shared.document.encode().byteLength).toBeLessThan(100_000);
  });

  test("many small updates are not taken for a large document", () => {
    const thread = new Thread(null, { bytes: 100_000 });
    const doc = new Y.Doc();
    let sent = 0;
    doc.on("update", (update: Uint8Array) => {
      sent += update.byteLength;
      expect(thread.take(update)).toMatchObject({ ok: true });
    });
    for (let i = 0; i < 10_000; i += 1) doc.getText("app").insert(i, "x");
    expect(sent).toBeGreaterThan(100_000);
  });
});
