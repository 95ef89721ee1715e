import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkState } from "../shared/json-crdt/check.ts";
import { applyPatch, PatchError } from "../shared/json-crdt/patch.ts";
import type { Json, JsonPatch, JsonPatchOperation } from "../shared/protocol/index.ts";
import { within } from "./kit/within.ts";

type Case = {
  comment?: string;
  doc: Json;
  patch: JsonPatch;
  expected?: Json;
  error?: string;
  disabled?: boolean;
};

/** The enabled cases of one file by name. Our stricter rules refuse none of them that should apply. */
function casesOf(file: string): [string, Case][] {
  const path = fileURLToPath(import.meta.resolve(`json-patch-test-suite/${file}`));
  const cases = JSON.parse(readFileSync(path, "utf8")) as Case[];
  return cases
    .filter((of) => !of.disabled)
    .map((of) => [`${of.comment ?? of.error ?? "without a name"}: ${JSON.stringify(of.patch)}`, of]);
}

/** What a patch makes of a document, or its error; the document must be as it was. */
function attempt(document: Json, patch: JsonPatch): Json | PatchError {
  const before = JSON.stringify(document);
  try {
    return applyPatch(document, patch);
  } catch (error) {
    if (error instanceof PatchError) return error;
    throw error;
  } finally {
    expect(JSON.stringify(document)).toBe(before);
  }
}

describe.each(["tests.json", "spec_tests.json"])("[T5] json-patch-test-suite, %s", (file) => {
  const cases = casesOf(file);

  test("the suite is there", () => expect(cases.length).toBeGreaterThan(14));

  test.each(cases)("%s", (_name, { doc, patch, expected, error }) => {
    const result = attempt(doc, patch);
    if (error !== undefined) expect(result).toBeInstanceOf(PatchError);
    // A case without a result only says that the patch applies.
    else if (expected === undefined) expect(result).not.toBeInstanceOf(PatchError);
    else expect(result).toEqual(expected);
  });
});

// The suite's repository has these; the package is older.
test.each<JsonPatchOperation>([
  { op: "add", path: "/baz/01/qux", value: 1 },
  { op: "add", path: "/baz/01", value: 1 },
  { op: "replace", path: "/baz/00", value: 1 },
  { op: "remove", path: "/baz/00" },
  { op: "test", path: "/baz/00", value: { qux: "hello" } },
  { op: "copy", from: "/baz/01", path: "/boo" },
  { op: "move", from: "/baz/01", path: "/boo" },
  { op: "move", from: "/foo", path: "/baz/01" },
  { op: "remove", path: "/baz/-1" },
])("[T5] an index with a leading zero or a sign is refused: %j", (operation) => {
  const document = { foo: 1, baz: [{ qux: "hello" }, { qux: "again" }] };
  expect(attempt(document, [operation])).toBeInstanceOf(PatchError);
});

describe("hostile patches leave the document unchanged and end soon", () => {
  const document = { a: 1, list: [1, 2, 3], deep: { er: { still: "text" } } };
  const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`) as Json;
  const reserved = (key: string) => JSON.parse(`{"x": [{"${key}": {"polluted": true}}]}`) as Json;
  const one = (value: unknown): JsonPatch => [
    { op: "replace", path: "/a", value: 2 },
    { op: "add", path: "/b", value },
  ];
  const double: JsonPatchOperation = { op: "copy", from: "", path: "/list/-" };

  test.each<[string, JsonPatch]>([
    ["copies of the document into itself", Array(64).fill(double)],
    ["copies of a text", [...one("x".repeat(100_000)), ...Array(1_000).fill({ ...double, from: "/b" })]],
    ["a value with NaN", one({ x: [Number.NaN] })],
    ["a value with Infinity", one([Number.NEGATIVE_INFINITY])],
    ["a value with a BigInt", one({ x: 1n })],
    ["a value with undefined", one([undefined])],
    ["a value with a function", one({ x: () => 1 })],
    ["a value with a symbol", one([Symbol("x")])],
    ...["__proto__", "constructor", "prototype"].flatMap((key): [string, JsonPatch][] => [
      [`${key} as a path`, [{ op: "add", path: `/${key}`, value: 1 }]],
      [`${key} in a path`, [{ op: "add", path: `/${key}/polluted`, value: true }]],
      [`${key} in an array's path`, [{ op: "add", path: `/list/${key}/polluted`, value: true }]],
      [`${key} as a source`, [{ op: "copy", from: `/deep/${key}`, path: "/b" }]],
      [`${key} inside a value`, one(reserved(key))],
      [`${key} deep inside a value`, one([[[[reserved(key)]]]])],
    ]),
    ["a path of 100,000 tokens", [{ op: "add", path: "/deep/er".repeat(50_000), value: 1 }]],
    ["a path with a hundred million as index", [{ op: "add", path: "/list/100000000", value: 1 }]],
    ["an array's length", [{ op: "replace", path: "/list/length", value: 4_000_000_000 }]],
  ])("%s is refused", (_what, patch) => {
    const result = within(50, () => attempt(document, patch));
    expect(result).toBeInstanceOf(PatchError);
    expect((result as PatchError).message.length).toBeLessThan(400);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each<[string, JsonPatch]>([
    ["nested 5,000 deep", one(nested(5_000))],
    ["nested 100,000 deep", one(nested(100_000))],
    ["nested by moves", [...one(nested(90)), { op: "copy", from: "", path: "/b/0/0/0/0/0/0/0/0/0/0/0/-" }]],
    ["with half a surrogate pair", one({ x: "\ud83d" })],
    ["with half a surrogate pair in a key", [{ op: "add", path: "/\ude00", value: 1 }]],
    ["of an object of a class", one(new Date(0))],
  ])("a value %s is left to the check of the state", (_what, patch) => {
    const result = within(50, () => attempt(document, patch));
    expect(result).not.toBeInstanceOf(PatchError);
    expect(within(50, () => checkState(result))).toMatch(
      /deeper than 100 levels|surrogate pair|not plain JSON/,
    );
  });

  test("a deep document can be walked, tested, copied and changed", () => {
    const deep = nested(5_000) as Json[];
    const path = "/0".repeat(4_000);
    const result = within(50, () =>
      applyPatch(deep, [
        { op: "test", path: "", value: nested(5_000) },
        { op: "copy", from: path, path: `${path}/-` },
        { op: "test", path: `${path}/1`, value: nested(1_000) },
        { op: "remove", path: `${path}/0` },
      ]),
    );
    expect(result === deep).toBe(false);
    let at = deep;
    for (let i = 0; i < 4_000; i++) at = at[0] as Json[];
    expect(at).toHaveLength(1);
  });

  test("many operations on a large object or array copy it once", () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}`);
    const wide = Object.fromEntries(keys.map((key, i) => [key, i]));
    const sets = keys.slice(0, 5_000).flatMap(
      (key): JsonPatch => [
        { op: "replace", path: `/o/${key}`, value: "x" },
        { op: "copy", from: "/empty", path: `/a/${5_000}` },
      ],
    );
    const before = { o: wide, a: Array(10_000).fill(0), empty: {} };
    const after = within(500, () => applyPatch(before, sets)) as typeof before;
    expect(after.a).toHaveLength(15_000);
    expect(Object.values(after.o).filter((value) => (value as unknown) === "x")).toHaveLength(5_000);
    expect(before.o.k0).toBe(0);
    expect(before.a).toHaveLength(10_000);
  });
});

test("[T3] what a copy put at two places is changed at one of them only", () => {
  const patch: JsonPatch = [
    { op: "add", path: "/a/x", value: 1 },
    { op: "copy", from: "/a", path: "/b" },
    { op: "add", path: "/a/list/-", value: 2 },
    { op: "replace", path: "/b/x", value: 3 },
    { op: "move", from: "/b", path: "/c" },
    { op: "add", path: "/c/list/0", value: 4 },
    { op: "add", path: "/d", value: { given: [] } },
    { op: "copy", from: "", path: "/e" },
    { op: "add", path: "/d/given/-", value: 5 },
  ];
  const result = attempt({ a: { list: [1] } }, patch);
  expect(result).toEqual({
    a: { list: [1, 2], x: 1 },
    c: { list: [4, 1], x: 3 },
    d: { given: [5] },
    e: { a: { list: [1, 2], x: 1 }, c: { list: [4, 1], x: 3 }, d: { given: [] } },
  });
  expect(patch[6]!.value).toEqual({ given: [] });
});
