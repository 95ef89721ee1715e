import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkState, STATE_CHARACTERS_HARD, STATE_LIMITS } from "../shared/json-crdt/check.ts";
import { within } from "./kit/within.ts";

const SECRET = "secret-value";

/** A value with `levels` containers around a number, arrays and objects in turn. */
function nested(levels: number): unknown {
  let value: unknown = 7;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

describe("what may stand under the state", () => {
  test("any finite JSON may, and its size is the length of its text", () => {
    const json = fc.jsonValue({ stringUnit: "binary", maxDepth: 6 });
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(!/"(__proto__|constructor|prototype)":/.test(JSON.stringify(value)));
        const { length } = JSON.stringify(value);
        expect(checkState(value, { characters: length })).toBeNull();
        expect(checkState(value, { characters: length - 1 })).toMatch(/more than \d+ characters/);
      }),
    );
  });

  test("escapes count as they are written", () => {
    for (const text of ['"', "\\", "\n", "\u0000", "\u001f", "\u007f", "ä", "😀", "a\tb\u0001"]) {
      const { length } = JSON.stringify({ [text]: text });
      expect(checkState({ [text]: text }, { characters: length }), JSON.stringify(text)).toBeNull();
      expect(checkState({ [text]: text }, { characters: length - 1 })).not.toBeNull();
    }
  });

  test("plain objects may be of another realm or have no prototype", () => {
    expect(checkState(runInNewContext("({ a: [{ b: 1 }] })"))).toBeNull();
    expect(checkState(Object.assign(Object.create(null), { a: 1 }))).toBeNull();
  });

  class Point {
    x = 1;
  }
  test.each<[string, unknown, string]>([
    ["NaN", Number.NaN, "is a number that is not finite"],
    ["Infinity", Number.POSITIVE_INFINITY, "is a number that is not finite"],
    ["-Infinity", Number.NEGATIVE_INFINITY, "is a number that is not finite"],
    ["a BigInt", 1n, "is of type bigint, which JSON does not have"],
    ["undefined", undefined, "is of type undefined, which JSON does not have"],
    ["a function", () => SECRET, "is of type function, which JSON does not have"],
    ["a symbol", Symbol(SECRET), "is of type symbol, which JSON does not have"],
    ["a date", new Date(0), "is not plain JSON but an object of a class"],
    ["a map", new Map([[SECRET, 1]]), "is not plain JSON but an object of a class"],
    ["bytes", new Uint8Array(2), "is not plain JSON but an object of a class"],
    ["an object of a class", new Point(), "is not plain JSON but an object of a class"],
    ["what inherits", Object.create({ secret: SECRET }), "is not plain JSON but an object of a class"],
    ["half a pair", `${SECRET}\ud83d`, "has half a surrogate pair"],
    ["the other half", `\ude00${SECRET}`, "has half a surrogate pair"],
    ["halves in the wrong order", "\ude00\ud83d", "has half a surrogate pair"],
    ["half a pair in a key", { [`${SECRET}\ud83d`]: 1 }, "has a key with half a surrogate pair"],
    ["__proto__", JSON.parse('{"__proto__": {}}'), 'has the reserved key "__proto__"'],
    ["constructor", { constructor: 1 }, 'has the reserved key "constructor"'],
    ["prototype", { prototype: 1 }, 'has the reserved key "prototype"'],
  ])("%s may not, and the place is named", (_what, value, reason) => {
    expect(checkState(value)).toBe(`The state ${reason}.`);
    const fault = checkState({ ok: 1, "a/b": ["x", { "m~n": value }], [`${SECRET} later`]: value });
    expect(fault).toBe(`The state at "/a~1b/1/m~0n" ${reason}.`);
    expect(fault).not.toContain(SECRET);
  });

  test("a hole of an array is undefined", () => {
    const holes: unknown[] = [1];
    holes[2] = 2;
    expect(checkState(holes)).toBe('The state at "/1" is of type undefined, which JSON does not have.');
  });

  test("a long place is shortened, and well-formed", () => {
    const fault = checkState({ ["k".repeat(199)]: Number.NaN, x: 1 })!;
    expect(fault).toContain(`"/${"k".repeat(199)}"`);
    const long = checkState({ [`${"k".repeat(198)}😀${"k".repeat(5_000)}`]: Number.NaN })!;
    expect(long.length).toBeLessThan(300);
    expect(long).toContain("\ufffd…");
  });
});

describe("limits", () => {
  test("depth counts containers inside each other", () => {
    expect(checkState(nested(100))).toBeNull();
    expect(checkState(nested(101))).toMatch(/ is nested deeper than 100 levels\.$/);
    expect(checkState(7, { depth: 0 })).toBeNull();
    expect(checkState([], { depth: 0 })).toBe("The state is nested deeper than 0 levels.");
  });

  test("values counts containers and scalars", () => {
    expect(checkState(Array(99_999).fill(0))).toBeNull();
    expect(checkState(Array(100_000).fill(0))).toBe("The state has more than 100000 values.");
    expect(checkState({ a: [1, { b: 2 }] }, { values: 5 })).toBeNull();
    expect(checkState({ a: [1, { b: 2 }] }, { values: 4 })).toBe("The state has more than 4 values.");
  });

  test("a state has at most 1 MiB, and never more than 10 MiB whatever is asked for", () => {
    const text = (length: number) => "x".repeat(length - 2);
    expect(checkState(text(STATE_LIMITS.characters))).toBeNull();
    expect(checkState(text(STATE_LIMITS.characters + 1))).toMatch(/more than 1048576 characters/);
    const asked = { characters: Number.POSITIVE_INFINITY };
    expect(checkState(text(STATE_CHARACTERS_HARD), asked)).toBeNull();
    expect(checkState(text(STATE_CHARACTERS_HARD + 1), asked)).toMatch(/more than 10485760 characters/);
  });
});

describe("hostile values end soon", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle, cycle);
  let shared: unknown = "x";
  for (let i = 0; i < 60; i++) shared = [shared, shared];
  const sparse: unknown[] = [];
  sparse.length = 4_000_000_000;
  const wide = Array.from({ length: 30_000 }, (_, i) => ({ a: i, b: i, c: i, d: i, e: i }));

  test.each<[string, unknown]>([
    ["nested 5,000 deep", nested(5_000)],
    ["nested 500,000 deep", nested(500_000)],
    ["a cycle", cycle],
    ["a value that is there 2^60 times", shared],
    ["a sparse array", sparse],
    ["a million elements", Array(1_000_000).fill(null)],
    ["150,000 values in 30,000 objects", wide],
    ["a text of 50 million characters", "x".repeat(50_000_000)],
    ["a key of 5 million characters", { ["x".repeat(5_000_000)]: 1 }],
    ["a text of escapes", "\u0001".repeat(1_000_000)],
  ])("%s", (_what, value) => {
    expect(within(50, () => checkState(value))).not.toBeNull();
  });

  test("nor does a value at the depth it allows block", () => {
    expect(within(50, () => checkState(nested(20_000), { depth: 20_000 }))).toBeNull();
  });
});
