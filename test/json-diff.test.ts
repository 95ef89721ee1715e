import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DiffOptions, diffJson } from "../shared/json-crdt/diff.ts";
import { applyPatch, jsonEqual } from "../shared/json-crdt/patch.ts";
import { ValueIds } from "../shared/json-crdt/value-ids.ts";
import type { Json, JsonPatch } from "../shared/protocol/index.ts";
import { patchable } from "./kit/streams.ts";
import { within } from "./kit/within.ts";

/** The patch between two values, after a look that it does what it must. Time is no matter unless given. */
function diff(from: Json, to: Json, options?: DiffOptions): JsonPatch {
  const patch = diffJson(from, to, { milliseconds: 10_000, ...options });
  expect(jsonEqual(applyPatch(from, patch), to), "the patch gives the new value").toBe(true);
  return patch;
}

const items = (...ids: (string | number)[]): Json[] =>
  ids.map((id) => ({ id, text: `item ${id}`, tags: [] }));
const ten = items(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
const edited = (list: Json[], index: number, change: object): Json[] =>
  list.map((item, i) => (i === index ? { ...(item as object), ...change } : item)) as Json[];

describe("objects and scalars", () => {
  test.each<[string, Json, Json, JsonPatch]>([
    ["equal values", { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ["another order of keys", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, []],
    ["another scalar as document", 1, 2, [{ op: "replace", path: "", value: 2 }]],
    ["another type as document", { a: 1 }, [1], [{ op: "replace", path: "", value: [1] }]],
    ["null in place of an object", { a: {} }, { a: null }, [{ op: "replace", path: "/a", value: null }]],
    ["an array in place of an object", { a: {} }, { a: [] }, [{ op: "replace", path: "/a", value: [] }]],
    ["a new key", { a: 1 }, { a: 1, "b/~": 2 }, [{ op: "add", path: "/b~1~0", value: 2 }]],
    ["a key less", { a: 1, "": 2 }, { a: 1 }, [{ op: "remove", path: "/" }]],
    [
      "a deep change",
      { a: { b: { c: 1, d: 2 } } },
      { a: { b: { c: 1, d: 3 } } },
      [{ op: "replace", path: "/a/b/d", value: 3 }],
    ],
    ["a number as text", { a: 1 }, { a: "1" }, [{ op: "replace", path: "/a", value: "1" }]],
  ])("%s", (_what, from, to, patch) => expect(diff(from, to)).toEqual(patch));

  test("reserved keys of the values break nothing", () => {
    const from = JSON.parse('{"__proto__": {"a": 1}, "list": [{"id": 1, "constructor": 1}], "prototype": 1}');
    const to = JSON.parse('{"__proto__": {"a": 2}, "list": [{"id": 1, "constructor": 2}], "b": 1}');
    expect(diffJson(from, from)).toEqual([]);
    expect(diffJson(from, to)).toEqual([
      { op: "remove", path: "/prototype" },
      { op: "add", path: "/b", value: 1 },
      { op: "replace", path: "/__proto__/a", value: 2 },
      { op: "replace", path: "/list/0/constructor", value: 2 },
    ]);
    expect(diffJson({}, JSON.parse('{"__proto__": 1}'))).toEqual([
      { op: "add", path: "/__proto__", value: 1 },
    ]);
    expect(diffJson({}, { constructor: 1 })).toEqual([{ op: "add", path: "/constructor", value: 1 }]);
    expect(({} as { a?: number }).a).toBeUndefined();
  });
});

describe("arrays of objects with keys", () => {
  test("one of ten items removed is one operation", () => {
    expect(diff(ten, ten.toSpliced(3, 1))).toEqual([{ op: "remove", path: "/3" }]);
  });

  test("an item edited inside is one operation inside", () => {
    const patch: JsonPatch = [{ op: "replace", path: "/list/6/text", value: "new" }];
    expect(diff({ list: ten }, { list: edited(ten, 6, { text: "new" }) })).toEqual(patch);
  });

  test("an insert at the head is one operation", () => {
    const [value] = items("new");
    expect(diff(ten, [value!, ...ten])).toEqual([{ op: "add", path: "/0", value }]);
  });

  test("removed, edited and added at once: each is its own operation at its place", () => {
    const to = edited(ten, 8, { text: "edited" })
      .toSpliced(2, 2)
      .toSpliced(5, 0, ...items("x"));
    expect(diff(ten, to)).toEqual([
      { op: "remove", path: "/2" },
      { op: "remove", path: "/2" },
      { op: "add", path: "/5", value: items("x")[0] },
      { op: "replace", path: "/7/text", value: "edited" },
    ]);
  });

  test("an item with another key is another item, however much it looks like the old one", () => {
    expect(diff(items(1, 2, 3), items(1, "2", 3))).toEqual([
      { op: "remove", path: "/1" },
      { op: "add", path: "/1", value: items("2")[0] },
    ]);
  });

  test("a moved item is removed and added", () => {
    expect(diff(items(1, 2, 3, 4), items(2, 3, 4, 1))).toEqual([
      { op: "remove", path: "/0" },
      { op: "add", path: "/3", value: items(1)[0] },
    ]);
  });

  test.each(["key", "uuid", "name"])("%s tells items apart as well", (key) => {
    const list = (...of: number[]): Json[] => of.map((n) => ({ [key]: `k${n}`, n: [n] }));
    const to = edited(list(1, 2, 3, 4), 2, { n: [9] }).toSpliced(0, 1);
    expect(diff(list(1, 2, 3, 4), to)).toEqual([
      { op: "remove", path: "/0" },
      { op: "replace", path: "/1/n/0", value: 9 },
    ]);
  });

  test("the members that may be keys are an option", () => {
    const list = (...of: number[]): Json[] => of.map((n) => ({ sku: n, n: { n } }));
    const to = edited(list(1, 2, 3), 1, { n: { n: 9 } }).toSpliced(0, 1);
    expect(diff(list(1, 2, 3), to, { keys: ["sku"] })).toEqual([
      { op: "remove", path: "/0" },
      { op: "replace", path: "/0/n/n", value: 9 },
    ]);
    expect(diff(list(1, 2, 3), to).length).toBeGreaterThan(2);
  });

  test("keys that repeat, are missing or are no scalar do not count", () => {
    const repeating: Json[] = [
      { id: 1, n: 1 },
      { id: 1, n: 2 },
      { id: 1, n: 3 },
    ];
    expect(diff(repeating, repeating.toSpliced(1, 1))).toEqual([{ op: "remove", path: "/1" }]);
    expect(diff(repeating, edited(repeating, 1, { n: 9 }))).toEqual([
      { op: "replace", path: "/1/n", value: 9 },
    ]);
    // The second member that may be a key does tell them apart.
    const named = repeating.map((item, i) => ({ ...(item as object), name: `n${i}` })) as Json[];
    expect(diff(named, edited(named, 2, { n: 9 }).toSpliced(0, 1))).toEqual([
      { op: "remove", path: "/0" },
      { op: "replace", path: "/1/n", value: 9 },
    ]);
    const odd: Json[] = [{ id: { x: 1 } }, { id: null }, {}, 7];
    expect(diff(odd, odd.toSpliced(1, 1))).toEqual([{ op: "remove", path: "/1" }]);
  });

  test("lists in lists are compared by key at each level", () => {
    const board = (...columns: [string, Json[]][]): Json => ({
      columns: columns.map(([id, cards]) => ({ id, cards })),
    });
    const from = board(["todo", items(1, 2, 3)], ["doing", items(4, 5)], ["done", items(6)]);
    const to = board(["new", []], ["todo", items(1, 3)], ["doing", edited(items(4, 5), 1, { text: "five" })]);
    expect(diff(from, to)).toEqual([
      { op: "add", path: "/columns/0", value: { id: "new", cards: [] } },
      { op: "remove", path: "/columns/3" },
      { op: "remove", path: "/columns/1/cards/1" },
      { op: "replace", path: "/columns/2/cards/1/text", value: "five" },
    ]);
  });

  test("of 1,000 items, ten changed are ten operations", () => {
    const from = items(...Array(1_000).keys());
    let to = from;
    for (const i of [17, 205, 333, 900]) to = edited(to, i, { text: "edited" });
    to = to
      .toSpliced(950, 1)
      .toSpliced(700, 2)
      .toSpliced(400, 0, ...items("a", "b"))
      .toSpliced(3, 1);
    expect(diff(from, to)).toHaveLength(10);
  });
});

describe("arrays of anything else", () => {
  test("equal scalars may be there more than once", () => {
    expect(diff(["a", "b", "a", "b", "a"], ["a", "b", "b", "a"])).toHaveLength(1);
    expect(diff([1, 1, 1], [1, 1, 1, 1])).toEqual([{ op: "add", path: "/3", value: 1 }]);
    expect(diff(["a", "a", "b", "a"], ["a", "b", "a", "a"])).toHaveLength(2);
  });

  test("where as many are gone as are new, they are compared in order", () => {
    const from: Json[] = [{ t: "a" }, { t: "b", n: 1 }, 5, { t: "d" }];
    const to: Json[] = [{ t: "a" }, { t: "b", n: 2 }, 6, { t: "d" }];
    expect(diff(from, to)).toEqual([
      { op: "replace", path: "/2", value: 6 },
      { op: "replace", path: "/1/n", value: 2 },
    ]);
    expect(diff([["x"], 1, ["y"]], [["x", "z"], 1, ["y", "z"]])).toEqual([
      { op: "add", path: "/0/1", value: "z" },
      { op: "add", path: "/2/1", value: "z" },
    ]);
  });

  test("where more or fewer are new, they are removed and added, never compared by index", () => {
    expect(diff([{ t: 1 }, "-", { t: 2 }, { t: 3 }], [{ t: 4 }, { t: 5 }, "-", { t: 6 }])).toEqual([
      { op: "remove", path: "/0" },
      { op: "add", path: "/0", value: { t: 4 } },
      { op: "add", path: "/1", value: { t: 5 } },
      { op: "remove", path: "/3" },
      { op: "remove", path: "/3" },
      { op: "add", path: "/3", value: { t: 6 } },
    ]);
  });

  test("elements are equal whatever the order of their keys", () => {
    const from: Json[] = [1, { a: 1, b: [{ c: 1, d: 2 }] }, 2, { e: 1 }];
    const to: Json[] = [3, { b: [{ d: 2, c: 1 }], a: 1 }, { e: 1 }];
    expect(diff(from, to)).toEqual([
      { op: "remove", path: "/2" },
      { op: "replace", path: "/0", value: 3 },
    ]);
  });
});

describe("limits", () => {
  const shuffled = (count: number) => Array.from({ length: count }, (_, i) => (i * 7_919) % count);

  test("beyond the time budget all between the equal ends is removed and added", () => {
    let clock = 0;
    const now = () => {
      clock += 15;
      return clock;
    };
    const middle = { op: "remove", path: "/1" } as const;
    const from = ["a", ...shuffled(100), "z"];
    const to = ["a", ...shuffled(100).reverse(), "z"];
    expect(diff(from, to, { now, milliseconds: 20 })).toEqual([
      ...Array(100).fill(middle),
      ...shuffled(100)
        .reverse()
        .map((value, i) => ({ op: "add", path: `/${i + 1}`, value })),
    ]);
    expect(diff(from, to).length).toBeLessThan(200);
  });

  test("what has to be done anyway takes nothing off the budget", () => {
    let clock = 0;
    const slow = {
      id: "slow",
      get text() {
        clock += 30;
        return "x";
      },
    };
    const from = [slow, ...ten];
    const to = [{ id: "slow", text: "x" }, ...ten.toSpliced(7, 1).toSpliced(3, 1)];
    expect(diff(from, to, { milliseconds: 20, now: () => clock })).toHaveLength(2);
    expect(clock).toBeGreaterThan(0);
  });

  test("a single element is compared inside even then", () => {
    const options = { milliseconds: -1 };
    expect(diff(ten, edited(ten, 4, { text: "x" }), options)).toHaveLength(1);
    expect(diff([1, { a: 1, b: 1 }, 2], [1, { a: 1, b: 2 }, 2], options)).toEqual([
      { op: "replace", path: "/1/b", value: 2 },
    ]);
  });

  test("more than 5,000 changed elements count as a new list", () => {
    const from = items(...Array(6_000).keys());
    const to = from.filter((_, i) => i % 6 === 0);
    expect(diff(from, to)).toHaveLength(5_000);
    const less = to.filter((_, i) => i !== 500);
    // The first item stays.
    expect(diff(from, less)).toHaveLength(5_999 + 998);
    expect(diff(from, less, { elements: 6_000 })).toHaveLength(5_001);
  });

  test("lists in another order are given up in time", () => {
    const from = items(...shuffled(20_000));
    const to = items(...shuffled(20_000).reverse());
    within(400, () => diffJson(from, to));
  });

  test("a list that was written anew takes no search", () => {
    const from = items(...Array(2_000).keys());
    const to = from.map((item) => ({
      ...(item as { id: number }),
      id: `new ${(item as { id: number }).id}`,
    }));
    expect(within(100, () => diffJson(from, to, { milliseconds: 1_000 }))).toHaveLength(4_000);
  });

  test("values nested deep need no stack", () => {
    const nested = (levels: number, inner: string) =>
      JSON.parse(`${'{"a":['.repeat(levels)}${inner}${"]}".repeat(levels)}`) as Json;
    expect(diffJson(nested(10_000, "1"), nested(10_000, "1"))).toEqual([]);
    const patch = within(500, () => diffJson(nested(500, "1"), nested(500, "2")));
    expect(patch).toEqual([{ op: "replace", path: "/a/0".repeat(500), value: 2 }]);
  });
});

/** Lists of objects with keys, of scalars, of lists; small, so that elements repeat and move. */
const json: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: "medium", maxDepth: 4 },
    fc.constantFrom<Json>(null, 0, 1, "a", "b", true),
    fc.array(tie("json"), { maxLength: 6 }),
    fc.uniqueArray(fc.record({ id: fc.nat(6), v: tie("json") }), { maxLength: 6, selector: (of) => of.id }),
    fc.dictionary(fc.constantFrom("id", "name", "a", "b/c", "~"), tie("json"), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
})).json;

test("any two values: the patch gives the new one, and is empty when they are equal", () => {
  const options = fc.constantFrom<DiffOptions>({}, { milliseconds: -1 }, { elements: 2 }, { keys: [] });
  fc.assert(
    fc.property(fc.oneof(json, patchable), fc.oneof(json, patchable), options, (from, to, of) => {
      const before = structuredClone(from);
      const patch = diff(from, to, of);
      expect(from).toEqual(before);
      expect(patch.length === 0).toBe(jsonEqual(from, to));
      expect(diff(from, structuredClone(from), of)).toEqual([]);
    }),
    { numRuns: 3_000 },
  );
});

test("what did not change is not touched: it stays the same object", () => {
  const list = fc.uniqueArray(fc.record({ id: fc.nat(40), v: json }), {
    minLength: 1,
    maxLength: 20,
    selector: (of) => of.id,
  });
  fc.assert(
    fc.property(list, fc.infiniteStream(fc.nat(9)), json, (from, chance, value) => {
      // Keeps the order: some are removed, some edited, some new ones come between.
      const to: { id: number; v: Json }[] = [];
      const same = new Set<number>();
      for (const item of from) {
        const { value: what } = chance.next();
        if (what === 0) continue;
        if (what === 1) to.push({ id: 100 + to.length, v: value });
        if (what === 2) to.push({ ...item, v: value });
        else {
          to.push(structuredClone(item));
          same.add(item.id);
        }
      }
      const after = applyPatch({ list: from }, diff({ list: from }, { list: to })) as { list: typeof from };
      for (const id of same) {
        const found = after.list.find((item) => item.id === id);
        expect(found === from.find((item) => item.id === id)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test("values have one number if and only if they are equal", () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 12 }), (values) => {
      const ids = new ValueIds();
      const numbers = values.map((value) => ids.of(value));
      values.forEach((a, i) => {
        values.forEach((b, j) => {
          expect(numbers[i] === numbers[j]).toBe(jsonEqual(a, b));
        });
      });
    }),
  );
});
