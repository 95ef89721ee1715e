import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { movePatch } from "../shared/json-crdt/move-patch.ts";
import { movePath } from "../shared/json-crdt/move-path.ts";
import { applyPatch, jsonEqual, PatchError } from "../shared/json-crdt/patch.ts";
import { formatPointer, parsePointer } from "../shared/json-crdt/pointer.ts";
import type { Json, JsonPatch, JsonPatchOperation } from "../shared/protocol/index.ts";
import { patchable } from "./kit/streams.ts";

/** Where a pointer leads after a patch. */
function moved(pointer: string, over: JsonPatch, document?: Json): string | null {
  const path = movePath(parsePointer(pointer), over, document);
  return path && formatPointer(path);
}

const DOCUMENT: Json = {
  list: [{ id: 0 }, { id: 1, tags: ["a", "b"] }, { id: 2 }],
  map: { "1": { x: 1 }, "2": { x: 2 } },
  n: 7,
};

describe("a value after a patch", () => {
  test.each<[string, string, JsonPatchOperation, string | null]>([
    ["an add before", "/list/1/tags", { op: "add", path: "/list/0", value: 1 }, "/list/2/tags"],
    ["an add at its index", "/list/1/tags/0", { op: "add", path: "/list/1", value: 1 }, "/list/2/tags/0"],
    ["an add behind", "/list/1/tags", { op: "add", path: "/list/2", value: 1 }, "/list/1/tags"],
    ["an add at the end", "/list/2", { op: "add", path: "/list/-", value: 1 }, "/list/2"],
    ["an add inside", "/list/1/tags/1", { op: "add", path: "/list/1/tags/1", value: 1 }, "/list/1/tags/2"],
    [
      "an add inside what it is beside",
      "/list/2",
      { op: "add", path: "/list/1/tags/0", value: 1 },
      "/list/2",
    ],
    ["a member with a number as key", "/map/2/x", { op: "add", path: "/map/0", value: 1 }, "/map/2/x"],
    ["a member that is removed beside", "/map/2/x", { op: "remove", path: "/map/1" }, "/map/2/x"],
    ["an add over it", "/n", { op: "add", path: "/n", value: 1 }, "/n"],
    ["an add over what it is in", "/map/1/x", { op: "add", path: "/map", value: {} }, null],
    ["an add over the document", "/n", { op: "add", path: "", value: { n: 1 } }, null],
    ["the document itself", "", { op: "add", path: "", value: 1 }, ""],
    ["a removal before", "/list/1/tags", { op: "remove", path: "/list/0" }, "/list/0/tags"],
    ["a removal behind", "/list/1/tags", { op: "remove", path: "/list/2" }, "/list/1/tags"],
    ["its own removal", "/list/1", { op: "remove", path: "/list/1" }, null],
    ["the removal of what it is in", "/list/1/tags/0", { op: "remove", path: "/list" }, null],
    ["the removal of the document", "/n", { op: "remove", path: "" }, null],
    ["a replacement of it", "/list/1", { op: "replace", path: "/list/1", value: 1 }, "/list/1"],
    ["a replacement of what it is in", "/list/1/id", { op: "replace", path: "/list/1", value: 1 }, null],
    ["a replacement beside", "/list/1/id", { op: "replace", path: "/list/0", value: 1 }, "/list/1/id"],
    ["its own move", "/list/0/id", { op: "move", from: "/list/0", path: "/list/2" }, "/list/2/id"],
    ["its own move to the end", "/list/0/id", { op: "move", from: "/list/0", path: "/list/-" }, "/list/2/id"],
    [
      "its own move into a map",
      "/list/1/tags/0",
      { op: "move", from: "/list/1", path: "/map/z" },
      "/map/z/tags/0",
    ],
    ["a move over it", "/list/1", { op: "move", from: "/list/0", path: "/list/1" }, "/list/0"],
    [
      "a move from behind to before it",
      "/list/1",
      { op: "move", from: "/list/2", path: "/list/0" },
      "/list/2",
    ],
    ["a move of another over its place", "/map/1", { op: "move", from: "/n", path: "/map/1" }, "/map/1"],
    ["a move of another over what it is in", "/map/1/x", { op: "move", from: "/n", path: "/map" }, null],
    ["a move out of what is overwritten", "/map/1/x", { op: "move", from: "/map/1", path: "/map" }, "/map/x"],
    [
      "its own move into a neighbour",
      "/list/0/id",
      { op: "move", from: "/list/0", path: "/list/1/x" },
      "/list/1/x/id",
    ],
    ["a move that changes nothing", "/list/1", { op: "move", from: "/list/1", path: "/list/1" }, "/list/1"],
    ["a copy before", "/list/1", { op: "copy", from: "/n", path: "/list/0" }, "/list/2"],
    ["its own copy", "/list/1", { op: "copy", from: "/list/1", path: "/list/-" }, "/list/1"],
    ["a test", "/list/1", { op: "test", path: "/list/1/id", value: 1 }, "/list/1"],
  ])("%s", (_what, pointer, operation, result) => {
    expect(moved(pointer, [operation], DOCUMENT)).toBe(result);
    const patch = movePatch(
      [{ op: "test", path: pointer, value: at(DOCUMENT, pointer) }],
      [operation],
      DOCUMENT,
    );
    expect(patch?.[0]?.path ?? null).toBe(result);
  });

  test("several operations count one after the other", () => {
    const over: JsonPatch = [
      { op: "add", path: "/list/0", value: [] },
      { op: "move", from: "/list/2", path: "/list/0/-" },
      { op: "copy", from: "/n", path: "/list/0/0" },
      { op: "move", from: "/list/0", path: "/deep" },
    ];
    expect(moved("/list/1/tags/1", over, DOCUMENT)).toBe("/deep/1/tags/1");
    expect(moved("/list/2", over, DOCUMENT)).toBe("/list/1");
    expect(moved("/list/1", [...over, { op: "remove", path: "/deep/1" }], DOCUMENT)).toBeNull();
  });

  test("without the document, tokens written like indexes are taken for such", () => {
    expect(moved("/list/1", [{ op: "add", path: "/list/0", value: 1 }])).toBe("/list/2");
    expect(moved("/list/1", [{ op: "add", path: "/list/-", value: 1 }])).toBe("/list/1");
    expect(moved("/map/b", [{ op: "add", path: "/map/0", value: 1 }])).toBe("/map/b");
    expect(moved("/map/1", [{ op: "remove", path: "/map/a" }])).toBe("/map/1");
    expect(moved("/map/2", [{ op: "remove", path: "/map/1" }])).toBe("/map/1");
    expect(moved("/list/1", [{ op: "move", from: "/list/1", path: "/list/-" }])).toBeNull();
  });

  test("an over that does not apply is refused when the document is there", () => {
    expect(() => moved("/n", [{ op: "remove", path: "/nothing" }], DOCUMENT)).toThrow(PatchError);
    expect(() => movePatch([], [{ op: "remove", path: "/nothing" }], DOCUMENT)).toThrow(PatchError);
    expect(() => movePatch([{ op: "remove", path: "/nothing" }], [], DOCUMENT)).toThrow(PatchError);
  });
});

describe("a patch moved over another", () => {
  /** The moved patch, after a look that it applies. */
  function move(patch: JsonPatch, over: JsonPatch, document: Json = DOCUMENT): [JsonPatch | null, Json] {
    const result = movePatch(patch, over, document);
    const after = applyPatch(document, over);
    return [result, result && applyPatch(after, result)];
  }

  test("its later operations see what its earlier ones did", () => {
    const patch: JsonPatch = [
      { op: "add", path: "/list/1", value: { id: "new", tags: [] } },
      { op: "add", path: "/list/1/tags/-", value: "x" },
      { op: "replace", path: "/list/2/id", value: "one" },
      { op: "move", from: "/list/3", path: "/list/0" },
      { op: "remove", path: "/list/3/tags/0" },
    ];
    const over: JsonPatch = [
      { op: "add", path: "/list/0", value: { id: "theirs" } },
      { op: "move", from: "/list/2", path: "/list/3" },
      { op: "add", path: "/list/3/tags/0", value: "theirs" },
    ];
    const [result, after] = move(patch, over);
    expect(result).toHaveLength(5);
    expect((after as { list: Json }).list).toEqual([
      { id: "theirs" },
      { id: 2 },
      { id: 0 },
      { id: "new", tags: ["x"] },
      { id: "one", tags: ["theirs", "b"] },
    ]);
  });

  test.each<[string, JsonPatch, JsonPatch, JsonPatch | null]>([
    [
      "an insert goes behind one at the same place",
      [{ op: "add", path: "/list/1", value: 1 }],
      [{ op: "add", path: "/list/1", value: 2 }],
      [{ op: "add", path: "/list/2", value: 1 }],
    ],
    [
      "an append stays one",
      [{ op: "add", path: "/list/-", value: 1 }],
      [{ op: "add", path: "/list/-", value: 2 }],
      [{ op: "add", path: "/list/-", value: 1 }],
    ],
    [
      "an insert at the end by index goes behind an append",
      [{ op: "add", path: "/list/3", value: 1 }],
      [{ op: "add", path: "/list/-", value: 2 }],
      [{ op: "add", path: "/list/4", value: 1 }],
    ],
    [
      "an insert before what is gone goes before the next",
      [{ op: "add", path: "/list/1", value: 1 }],
      [{ op: "remove", path: "/list/1" }],
      [{ op: "add", path: "/list/1", value: 1 }],
    ],
    [
      "the later of two replacements wins",
      [{ op: "replace", path: "/n", value: 1 }],
      [{ op: "replace", path: "/n", value: 2 }],
      [{ op: "replace", path: "/n", value: 1 }],
    ],
    [
      "a member is added though the other removed it",
      [{ op: "add", path: "/n", value: 1 }],
      [{ op: "remove", path: "/n" }],
      [{ op: "add", path: "/n", value: 1 }],
    ],
    [
      "no replacement of what is gone",
      [{ op: "replace", path: "/n", value: 1 }],
      [{ op: "remove", path: "/n" }],
      null,
    ],
    [
      "nothing goes into a container that was replaced",
      [{ op: "add", path: "/map/z", value: 1 }],
      [{ op: "replace", path: "/map", value: {} }],
      null,
    ],
    [
      "nothing goes into one that is gone",
      [{ op: "add", path: "/list/1/tags/0", value: 1 }],
      [{ op: "remove", path: "/list/1" }],
      null,
    ],
    [
      "no move into what was moved into it",
      [{ op: "move", from: "/map", path: "/list/1/m" }],
      [{ op: "move", from: "/list", path: "/map/list" }],
      null,
    ],
    [
      "a copy of what is the same stays one",
      [{ op: "copy", from: "/list/1", path: "/c" }],
      [{ op: "remove", path: "/list/0" }],
      [{ op: "copy", from: "/list/0", path: "/c" }],
    ],
    [
      "a copy of what changed adds what was seen",
      [{ op: "copy", from: "/map/1", path: "/c" }],
      [{ op: "replace", path: "/map/1/x", value: 9 }],
      [{ op: "add", path: "/c", value: { x: 1 } }],
    ],
    [
      "the document may be replaced and filled",
      [
        { op: "remove", path: "" },
        { op: "replace", path: "", value: {} },
        { op: "add", path: "/a", value: 1 },
      ],
      [{ op: "add", path: "/n", value: 2 }],
      [
        { op: "remove", path: "" },
        { op: "replace", path: "", value: {} },
        { op: "add", path: "/a", value: 1 },
      ],
    ],
  ])("%s", (_what, patch, over, result) => {
    expect(move(patch, over)[0]).toEqual(result);
  });

  test("other members of an operation stay", () => {
    const noted = (path: string) => ({ op: "add", path, value: 1, note: "x" }) as JsonPatchOperation;
    const over: JsonPatch = [{ op: "remove", path: "/list/0" }];
    expect(move([noted("/list/1")], over)[0]).toEqual([noted("/list/0")]);
  });
});

/** A choice from which an operation on the document at hand is made. */
const choice = fc.tuple(
  fc.constantFrom("add", "remove", "replace", "move", "copy"),
  fc.nat(),
  fc.nat(),
  patchable,
);
const choices = fc.array(choice, { maxLength: 5 });

test("any patch over any other: it applies, finds the same values as movePath, and over nothing is itself", () => {
  let kept = 0;
  fc.assert(
    fc.property(patchable, choices, choices, (document, a, b) => {
      const patch = patchFrom(document, a);
      const over = patchFrom(document, b);
      const frozen = structuredClone(document);
      const result = movePatch(patch, over, document);
      expect(document).toEqual(frozen);
      if (result !== null) {
        applyPatch(applyPatch(document, over), result);
        if (over.length > 0 && patch.length > 0) kept += 1;
      }
      const alone = movePatch(patch, [], document)!;
      expect(jsonEqual(applyPatch(document, alone), applyPatch(document, patch))).toBe(true);
      for (const path of pathsOf(document)) {
        const test: JsonPatch = [
          { op: "test", path: formatPointer(path), value: at(document, formatPointer(path)) },
        ];
        const pointer = movePatch(test, over, document)?.[0]?.path ?? null;
        expect(moved(formatPointer(path), over, document)).toBe(pointer);
      }
    }),
    { numRuns: 3_000 },
  );
  expect(kept).toBeGreaterThan(300);
});

type Item = { id: number; n: number; inner: Item[] };
const item = fc.letrec<{ item: { inner: unknown[] } }>((tie) => ({
  item: fc.record({
    inner: fc.oneof(
      { depthSize: "small" },
      fc.constant<unknown[]>([]),
      fc.array<unknown>(tie("item"), { maxLength: 4 }),
    ),
  }),
})).item;

/** Gives each item an id of its own. */
function numbered({ inner }: { inner: unknown[] }, count = { ids: 0 }): Item {
  const id = count.ids++;
  return { id, n: 0, inner: inner.map((of) => numbered(of as never, count)) };
}

test("indexes hit the same element: edits of each item arrive at it, wherever it was moved", () => {
  fc.assert(
    fc.property(
      item,
      fc.array(fc.tuple(fc.nat(3), fc.nat(), fc.nat()), { maxLength: 8 }),
      fc.nat(),
      (of, b, seed) => {
        const document = numbered(of);
        // Removes, adds and moves items; each step sees the ones before.
        const over: JsonPatch = [];
        let after = document as unknown as Json;
        b.forEach(([what, one, other], i) => {
          const places = itemPaths(after);
          const from = places[one % places.length]!;
          const spots = itemPaths(after).map((path) => `${path}/inner`);
          const spot = spots[other % spots.length]!;
          const index = other % ((at(after, spot) as Json[]).length + 1);
          const fresh = { id: 1_000 + i, n: 0, inner: [] };
          let operation: JsonPatchOperation = { op: "add", path: `${spot}/${index}`, value: fresh };
          if (what === 0 && from !== "") operation = { op: "remove", path: from };
          if (what === 1 && from !== "") operation = { op: "move", from, path: `${spot}/-` };
          try {
            after = applyPatch(after, [operation]);
            over.push(operation);
          } catch {
            // A move into itself, or to where the taken item was.
          }
        });
        const places = itemPaths(document as unknown as Json);
        const mine = places.filter((_, i) => (seed >> (i % 30)) % 2 === 0);
        const survivors = new Map(itemPaths(after).map((path) => [(at(after, path) as Item).id, path]));
        // Alone: the path of every item is where its id is.
        for (const path of places) {
          const { id } = at(document as unknown as Json, path) as Item;
          expect(moved(path, over, document as unknown as Json)).toBe(survivors.get(id) ?? null);
        }
        // Together: every item still there gets its edit and its new element, and nothing else changes.
        const edits = mine.flatMap((path): JsonPatch => {
          const { id } = at(document as unknown as Json, path) as Item;
          if (!survivors.has(id)) return [];
          const add: JsonPatchOperation = { op: "add", path: `${path}/inner/-`, value: `new in ${id}` };
          return [{ op: "replace", path: `${path}/n`, value: 100 + id }, add];
        });
        const result = applyPatch(after, movePatch(edits, over, document as unknown as Json)!);
        const edited = new Set(
          edits.filter((edit) => edit.op === "replace").map((edit) => Number(edit.value) - 100),
        );
        const expected = JSON.parse(JSON.stringify(after), (_key, value: Item) =>
          edited.has(value?.id)
            ? { ...value, n: 100 + value.id, inner: [...value.inner, `new in ${value.id}`] }
            : value,
        );
        expect(result).toEqual(expected);
      },
    ),
    { numRuns: 1_500 },
  );
});

test("patches of disjoint places: each has its effect, whichever comes first", () => {
  fc.assert(
    fc.property(patchable, patchable, choices, choices, (one, other, a, b) => {
      const document = [one, "between", other] as Json;
      const mine = patchFrom(one, a).map((operation) => under("/0", operation));
      // It also moves the place of the first one.
      const theirs = patchFrom(other, b).map((operation) => under("/2", operation));
      theirs.push({ op: "add", path: "/0", value: "before" }, { op: "remove", path: "/2" });
      const result = applyPatch(applyPatch(document, theirs), movePatch(mine, theirs, document)!);
      const back = applyPatch(applyPatch(document, mine), movePatch(theirs, mine, document)!);
      const first = (applyPatch(document, mine) as Json[])[0];
      const second = (applyPatch(document, theirs) as Json[])[2];
      expect(jsonEqual(result, ["before", first, second])).toBe(true);
      expect(jsonEqual(back, ["before", first, second])).toBe(true);
    }),
    { numRuns: 1_500 },
  );
});

/** A patch that applies to a document, each operation made from a choice and the document before it. */
function patchFrom(document: Json, of: readonly [string, number, number, Json][]): JsonPatch {
  const patch: JsonPatch = [];
  let value = document;
  for (const [op, one, other, given] of of) {
    const places = pathsOf(value).map(formatPointer);
    const from = places[one % places.length]!;
    const spots = pathsOf(value).flatMap(spotsAt);
    const path =
      op === "remove" || op === "replace" || spots.length === 0 ? from : spots[other % spots.length]!;
    const operation = (
      op === "add" || op === "replace"
        ? { op, path, value: given }
        : op === "remove"
          ? { op, path }
          : { op, from, path }
    ) as JsonPatchOperation;
    // A document that is a scalar has nothing to work on.
    if (path === "" && op !== "replace") continue;
    try {
      value = applyPatch(value, [operation]);
      patch.push(operation);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
    }

    function spotsAt(at_: string[]): string[] {
      const container = at(value, formatPointer(at_));
      if (container === null || typeof container !== "object") return [];
      const tokens = Array.isArray(container)
        ? [...container.keys(), container.length, "-"]
        : [...Object.keys(container), "a", "x/y"];
      return tokens.map((token) => formatPointer([...at_, token]));
    }
  }
  return patch;
}

function under(pointer: string, operation: JsonPatchOperation): JsonPatchOperation {
  const inside = { ...operation, path: pointer + operation.path };
  return operation.from === undefined ? inside : { ...inside, from: pointer + operation.from };
}

function pathsOf(value: Json, path: string[] = []): string[][] {
  if (value === null || typeof value !== "object") return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

function itemPaths(value: Json, path = ""): string[] {
  const { inner } = value as { inner: Json[] };
  return [path, ...inner.flatMap((of, i) => itemPaths(of, `${path}/inner/${i}`))];
}

function at(document: Json, pointer: string): Json {
  return parsePointer(pointer).reduce((value, token) => (value as { [key: string]: Json })[token]!, document);
}
