import * as encoding from "lib0/encoding";
import * as Y from "yjs";

/** A document that a room has, and one update of a peer for it. */
export type Shape = {
  name: string;
  /** @param scale 1 for the size it is measured at */
  make(scale: number): { document: Uint8Array | null; update: Uint8Array };
};

type Raw = { ref: number; origin?: number; root?: string; parent?: number; sub?: string };

const CLIENT = 5_000;

function bytes(write: (to: encoding.Encoder) => void): Uint8Array {
  const to = encoding.createEncoder();
  write(to);
  return encoding.toUint8Array(to);
}

/** Writes one item up to its content; its neighbour and its parent are of the update's own client. */
function item(to: encoding.Encoder, { ref, origin, root = "app", parent, sub }: Raw): void {
  encoding.writeUint8(to, ref | (origin === undefined ? 0 : 128) | (sub === undefined ? 0 : 32));
  if (origin !== undefined) {
    encoding.writeVarUint(to, CLIENT);
    return encoding.writeVarUint(to, origin);
  }
  encoding.writeVarUint(to, parent === undefined ? 1 : 0);
  if (parent === undefined) encoding.writeVarString(to, root);
  else {
    encoding.writeVarUint(to, CLIENT);
    encoding.writeVarUint(to, parent);
  }
  if (sub !== undefined) encoding.writeVarString(to, sub);
}

function structs(count: number, write: (to: encoding.Encoder, i: number) => void): Uint8Array {
  return bytes((to) => {
    for (const n of [1, count, CLIENT, 0]) encoding.writeVarUint(to, n);
    for (let i = 0; i < count; i += 1) write(to, i);
    encoding.writeVarUint(to, 0);
  });
}

function forged(name: string, update: (scale: number) => Uint8Array): Shape {
  return { name, make: (scale) => ({ document: null, update: update(scale) }) };
}

/** What two documents make of the same start: the second one's change is the update. */
function edited(
  name: string,
  start: (doc: Y.Doc, scale: number) => void,
  change: (doc: Y.Doc, scale: number) => void,
): Shape {
  const make = (scale: number) => {
    const mine = new Y.Doc();
    mine.clientID = 4_000;
    mine.transact(() => start(mine, scale));
    const document = Y.encodeStateAsUpdate(mine);
    mine.clientID = CLIENT;
    const updates: Uint8Array[] = [];
    mine.on("update", (update: Uint8Array) => updates.push(update));
    change(mine, scale);
    return { document, update: Y.mergeUpdates(updates) };
  };
  return { name, make };
}

const state = (doc: Y.Doc) => doc.getMap<unknown>("state");
const list = (doc: Y.Doc) => state(doc).get("list") as Y.Array<unknown>;
const text = (doc: Y.Doc) => state(doc).get("document") as Y.Text;
const rows = (count: number) =>
  Array.from({ length: Math.ceil(count) }, (_, i) => new Y.Map<unknown>([["n", i]]));
const values = (count: number) => Array.from({ length: Math.ceil(count) }, (_, i) => i);
const nothing = () => {};
const withText = (doc: Y.Doc) => state(doc).set("document", new Y.Text("word ".repeat(4_000)));
const withList = (make: (count: number) => unknown[], count: number) => (doc: Y.Doc, scale: number) =>
  state(doc).set("list", Y.Array.from(make(count * scale) as never[]));

function typeAllOver(scale: number, into: Y.Text): void {
  let seed = 7;
  for (let i = 0; i < 5_000 * scale; i += 1) {
    seed = (seed * 48_271) % 2_147_483_647;
    const at = seed % (into.length + 1);
    if (i % 5 === 4) into.delete(Math.min(at, into.length - 1), 1);
    else into.insert(at, "x");
  }
}

/** What peers may send to keep a server busy, and the most that people send. */
export const SHAPES: readonly Shape[] = [
  forged("20,000 maps in a list of an application", (scale) =>
    structs(20_000 * scale, (to, i) => {
      item(to, i === 0 ? { ref: 7 } : { ref: 7, origin: i - 1 });
      encoding.writeVarUint(to, 1);
    }),
  ),
  edited("20,000 maps in the state", nothing, (doc, scale) =>
    doc.transact(() => withList((count) => values(count).map(() => new Y.Map()), 19_900)(doc, scale)),
  ),
  forged("7,400 members of the state", (scale) =>
    structs(7_400 * scale, (to, i) => {
      item(to, { ref: 8, root: "state", sub: `k${i}` });
      encoding.writeVarUint(to, 1);
      encoding.writeAny(to, i);
    }),
  ),
  forged("20,000 garbage structs", (scale) =>
    structs(20_000 * scale, (to) => encoding.writeUint8Array(to, Uint8Array.from([0, 1]))),
  ),
  forged("100,000 nulls in a list of an application", (scale) =>
    structs(1, (to) => {
      item(to, { ref: 8 });
      encoding.writeVarUint(to, 100_000 * scale);
      for (let i = 0; i < 100_000 * scale; i += 1) encoding.writeUint8(to, 126);
    }),
  ),
  forged("4,000,000 nulls in one value of an application, refused", (scale) =>
    structs(1, (to) => {
      item(to, { ref: 8 });
      encoding.writeVarUint(to, 1);
      encoding.writeUint8(to, 117);
      encoding.writeVarUint(to, 4_000_000 * scale);
      for (let i = 0; i < 4_000_000 * scale; i += 1) encoding.writeUint8(to, 126);
    }),
  ),
  forged("25,000 nulls as JSON texts", (scale) =>
    structs(1, (to) => {
      item(to, { ref: 2 });
      encoding.writeVarUint(to, 25_000 * scale);
      for (let i = 0; i < 25_000 * scale; i += 1) encoding.writeVarString(to, "null");
    }),
  ),
  forged("1,300,000 objects in the JSON of an embed, refused", (scale) =>
    structs(1, (to) => {
      item(to, { ref: 5 });
      encoding.writeVarString(to, `[${"{},".repeat(1_300_000 * scale)}{}]`);
    }),
  ),
  forged("99,000 values in the state", (scale) =>
    structs(1, (to) => {
      item(to, { ref: 8, root: "state", sub: "a" });
      encoding.writeVarUint(to, 1);
      encoding.writeAny(to, values(99_000 * scale) as never);
    }),
  ),
  forged("490 subdocuments", (scale) =>
    structs(490 * scale, (to, i) => {
      item(to, i === 0 ? { ref: 9 } : { ref: 9, origin: i - 1 });
      encoding.writeVarString(to, `g${i}`);
      encoding.writeAny(to, {});
    }),
  ),
  forged("20,000 root types, refused", (scale) =>
    structs(20_000 * scale, (to, i) => {
      item(to, { ref: 8, root: `r${i}` });
      encoding.writeVarUint(to, 1);
      encoding.writeUint8(to, 126);
    }),
  ),
  forged("4 MB of text in an application's text", (scale) =>
    structs(1, (to) => {
      item(to, { ref: 4 });
      encoding.writeVarString(to, "x".repeat(4_000_000 * scale));
    }),
  ),
  forged("1 MB of text in the draft", (scale) =>
    structs(1, (to) => {
      item(to, { ref: 4, root: "draft" });
      encoding.writeVarString(to, "x".repeat(1_000_000 * scale));
    }),
  ),
  edited("a change of each of 5,000 elements", withList(rows, 5_000), (doc) =>
    doc.transact(() => {
      for (const row of list(doc)) (row as Y.Map<unknown>).set("n", "x");
    }),
  ),
  edited(
    "a change of each of 1,400 texts",
    withList((count) => values(count).map((n) => new Y.Text(`${n}`)), 1_400),
    (doc) =>
      doc.transact(() => {
        for (const one of list(doc)) (one as Y.Text).insert(0, "x");
      }),
  ),
  edited("every second of 3,000 values taken out", withList(values, 3_000), (doc) =>
    doc.transact(() => {
      for (let i = list(doc).length - 1; i > 0; i -= 2) list(doc).delete(i, 1);
    }),
  ),
  edited("every second of 3,000 rows taken out", withList(rows, 3_000), (doc) =>
    doc.transact(() => {
      for (let i = list(doc).length - 1; i > 0; i -= 2) list(doc).delete(i, 1);
    }),
  ),
  edited("format markers all over a text", withText, (doc, scale) =>
    doc.transact(() => {
      for (let i = 0; i < 1_000 * scale; i += 1)
        text(doc).format(i * 3, 1, { [`k${i % 50}`]: true } as never);
    }),
  ),
  edited("200 KB pasted into a text", withText, (doc) => text(doc).insert(700, "x".repeat(200_000))),
  edited("200 KB pasted into the draft", nothing, (doc) =>
    doc.getText("draft").insert(0, "x".repeat(200_000)),
  ),
  edited("5,000 edits all over a text, offline", withText, (doc, scale) => typeAllOver(scale, text(doc))),
  edited("10,000 edits all over a text, offline", withText, (doc, scale) =>
    typeAllOver(2 * scale, text(doc)),
  ),
  edited(
    "all of a text of 10,000 pieces deleted",
    (doc, scale) => {
      withText(doc);
      typeAllOver(2 * scale, text(doc));
    },
    (doc) => text(doc).delete(0, text(doc).length),
  ),
  edited("5,000 values put into a list", withList(values, 100), (doc, scale) =>
    list(doc).insert(50, values(5_000 * scale)),
  ),
  edited("5,000 rows put into a list", withList(rows, 100), (doc, scale) =>
    list(doc).insert(50, rows(5_000 * scale)),
  ),
  edited("a list of 5,000 rows cleared", withList(rows, 5_000), (doc) =>
    list(doc).delete(0, list(doc).length),
  ),
  edited("a list of 5,000 rows taken away", withList(rows, 5_000), (doc) => state(doc).delete("list")),
  edited("a list of 45,000 values cleared", withList(values, 45_000), (doc) =>
    list(doc).delete(0, list(doc).length),
  ),
  edited("a list of 24,000 rows cleared", withList(rows, 24_000), (doc) =>
    list(doc).delete(0, list(doc).length),
  ),
  edited("a list of 90,000 values cleared", withList(values, 90_000), (doc) =>
    list(doc).delete(0, list(doc).length),
  ),
  edited(
    "a list of 45,000 values that came one by one cleared",
    (doc, scale) => {
      const made = state(doc).set("list", new Y.Array()) as Y.Array<unknown>;
      for (let i = 0; i < 45_000 * scale; i += 1) made.insert(0, [i]);
    },
    (doc) => list(doc).delete(0, list(doc).length),
  ),
  edited("5,000 keys set at once", nothing, (doc, scale) =>
    doc.transact(() => {
      for (let i = 0; i < 5_000 * scale; i += 1) state(doc).set(`k${i}`, i);
    }),
  ),
  edited(
    "5,000 keys taken out at once",
    (doc, scale) => {
      for (let i = 0; i < 5_000 * scale; i += 1) state(doc).set(`k${i}`, i);
    },
    (doc) => state(doc).clear(),
  ),
];
