import fc from "fast-check";
import jsonpatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { applyPatch, COPY_LIMIT, jsonEqual, PatchError } from "../shared/json-crdt/patch.ts";
import { formatPointer, PointerError, parseIndex, parsePointer } from "../shared/json-crdt/pointer.ts";
import type { Json, JsonPatch, JsonPatchOperation } from "../shared/protocol/index.ts";
import { patchable, patches } from "./kit/streams.ts";

const RESERVED = ["__proto__", "constructor", "prototype"];

/** What a patch makes of a document; the error when it does not apply. */
function attempt(document: Json, ...patch: JsonPatch): Json | PatchError {
  try {
    return applyPatch(document, patch);
  } catch (error) {
    if (error instanceof PatchError) return error;
    throw error;
  }
}

describe("JSON Pointer (RFC 6901)", () => {
  test("the examples of the RFC lead where it says", () => {
    const document = {
      foo: ["bar", "baz"],
      "": 0,
      "a/b": 1,
      "c%d": 2,
      "e^f": 3,
      "g|h": 4,
      "i\\j": 5,
      'k"l': 6,
      " ": 7,
      "m~n": 8,
    };
    const cases: [string, Json][] = [
      ["", document],
      ["/foo", ["bar", "baz"]],
      ["/foo/0", "bar"],
      ["/", 0],
      ["/a~1b", 1],
      ["/c%d", 2],
      ["/e^f", 3],
      ["/g|h", 4],
      ["/i\\j", 5],
      ['/k"l', 6],
      ["/ ", 7],
      ["/m~0n", 8],
    ];
    for (const [path, value] of cases)
      expect(attempt(document, { op: "test", path, value }), path).toBe(document);
  });

  test("~01 is ~1 and not a slash", () => expect(parsePointer("/~01")).toEqual(["~1"]));

  test.each(["a", "a/b", "/~", "/~2", "/a~", "/~0~", " /a"])("%j is no pointer", (pointer) => {
    expect(() => parsePointer(pointer)).toThrow(PointerError);
  });

  test.each(RESERVED)("%s is refused as a key", (key) => {
    expect(() => parsePointer(`/a/${key}/b`)).toThrow(/reserved/);
  });

  test("joining and splitting are inverse", () => {
    const token = fc.string().filter((of) => !RESERVED.includes(of));
    const inverse = fc.property(fc.array(token), (tokens) => {
      expect(parsePointer(formatPointer(tokens))).toEqual(tokens);
    });
    fc.assert(inverse);
  });

  test.each(["01", "00", "-1", "+1", "1.0", "1e0", "", " 1", "0x1", "length", "１"])(
    "%j is no index",
    (token) => {
      expect(() => parseIndex(token, 5)).toThrow(PointerError);
      expect(attempt({ a: [1, 2, 3] }, { op: "test", path: `/a/${token}`, value: 2 })).toBeInstanceOf(
        PatchError,
      );
    },
  );
});

describe("JSON Patch (RFC 6902)", () => {
  test.each<[string, Json, JsonPatchOperation, Json]>([
    ["adds a member", { a: 1 }, { op: "add", path: "/b", value: 2 }, { a: 1, b: 2 }],
    ["adds over a member", { a: 1 }, { op: "add", path: "/a", value: 2 }, { a: 2 }],
    ["adds null", {}, { op: "add", path: "/a", value: null }, { a: null }],
    ["inserts an element", [1, 3], { op: "add", path: "/1", value: 2 }, [1, 2, 3]],
    ["inserts at the end by index", [1], { op: "add", path: "/1", value: 2 }, [1, 2]],
    ["appends", [1], { op: "add", path: "/-", value: [2] }, [1, [2]]],
    ["replaces the document", [1], { op: "add", path: "", value: { a: 1 } }, { a: 1 }],
    ["removes a member", { a: 1, b: 2 }, { op: "remove", path: "/a" }, { b: 2 }],
    ["removes an element", [1, 2, 3], { op: "remove", path: "/1" }, [1, 3]],
    ["leaves null of a removed document", { a: 1 }, { op: "remove", path: "" }, null],
    ["replaces", { a: [1, 2] }, { op: "replace", path: "/a/1", value: 3 }, { a: [1, 3] }],
    ["moves", { a: { b: 1 }, c: {} }, { op: "move", from: "/a/b", path: "/c/d" }, { a: {}, c: { d: 1 } }],
    ["moves an element", [1, 2, 3], { op: "move", from: "/0", path: "/2" }, [2, 3, 1]],
    [
      "moves an element into the next",
      [[], [], {}],
      { op: "move", from: "/0", path: "/1/a" },
      [[], { a: [] }],
    ],
    ["moves a value out of itself", { a: { b: 1 } }, { op: "move", from: "/a/b", path: "/a" }, { a: 1 }],
    ["moves to the root", { a: { b: 1 } }, { op: "move", from: "/a", path: "" }, { b: 1 }],
    ["copies", { a: [1] }, { op: "copy", from: "/a", path: "/b" }, { a: [1], b: [1] }],
    ["copies a value into itself", { a: {} }, { op: "copy", from: "/a", path: "/a/b" }, { a: { b: {} } }],
    [
      "tests regardless of the order of keys",
      { a: { b: 1, c: [2] } },
      { op: "test", path: "/a", value: { c: [2], b: 1 } },
      { a: { b: 1, c: [2] } },
    ],
    [
      "takes a key that looks like an index",
      { a: {} },
      { op: "add", path: "/a/01", value: 1 },
      { a: { "01": 1 } },
    ],
  ])("%s", (_what, document, operation, result) => {
    expect(attempt(document, operation)).toEqual(result);
  });

  test.each<[string, Json, JsonPatchOperation]>([
    ["a parent that is missing", {}, { op: "add", path: "/a/b", value: 1 }],
    ["a parent that is a text", { a: "text" }, { op: "add", path: "/a/0", value: 1 }],
    ["a member of a number", 7, { op: "add", path: "/a", value: 1 }],
    ["a member of null", null, { op: "add", path: "/a", value: 1 }],
    ["an index behind the end", [1], { op: "add", path: "/2", value: 1 }],
    ["an index beyond all numbers", [1], { op: "add", path: `/${"9".repeat(400)}`, value: 1 }],
    ["an add without value", {}, { op: "add", path: "/a" }],
    ["a replace without value", { a: 1 }, { op: "replace", path: "/a" }],
    ["a replace of what is missing", {}, { op: "replace", path: "/a", value: 1 }],
    ["a replace behind the last element", [1], { op: "replace", path: "/-", value: 1 }],
    ["a removal of what is missing", {}, { op: "remove", path: "/a" }],
    ["a removal behind the last element", [1], { op: "remove", path: "/-" }],
    ["a removal of what is inherited", {}, { op: "remove", path: "/toString" }],
    ["a move into itself", { a: { b: 1 } }, { op: "move", from: "/a", path: "/a/b" }],
    ["a move of the document", { a: 1 }, { op: "move", from: "", path: "/a" }],
    ["a move of what is missing", { a: 1 }, { op: "move", from: "/b", path: "" }],
    ["a move in place of what is missing", { a: 1 }, { op: "move", from: "/b", path: "/b" }],
    ["a move without from", { a: 1 }, { op: "move", path: "/a" }],
    ["a copy of an array's length", { a: [1] }, { op: "copy", from: "/a/length", path: "/b" }],
    ["a copy of what is inherited", {}, { op: "copy", from: "/toString", path: "/a" }],
    ["a test of another value", { a: [1] }, { op: "test", path: "/a", value: [1, 2] }],
    ["a test of another type", { a: 0 }, { op: "test", path: "/a", value: "0" }],
    ["a test of what is missing", {}, { op: "test", path: "/a", value: null }],
    ["an unknown operation", { a: 1 }, { op: "inc", path: "/a", value: 1 } as never],
    ["no operation at all", { a: 1 }, null as never],
    ["a path that is no text", { a: 1 }, { op: "remove", path: 1 } as never],
  ])("refuses %s", (_what, document, operation) => {
    expect(attempt(document, operation)).toBeInstanceOf(PatchError);
  });

  test("[T5] is all or nothing, and says which operation failed", () => {
    const document = { a: [{ n: 1 }], b: {} };
    const before = structuredClone(document);
    const error = attempt(
      document,
      { op: "add", path: "/a/0/n", value: 2 },
      { op: "remove", path: "/b" },
      { op: "test", path: "/a/0/n", value: 1 },
    );
    expect(error).toMatchObject({ index: 2, message: expect.stringContaining("operation 2 (test /a/0/n)") });
    expect(document).toEqual(before);
  });

  test.each(RESERVED)("refuses %s in a path, a source and a value", (key) => {
    const value = JSON.parse(`{"deep": [{"${key}": {"polluted": true}}]}`);
    for (const operation of [
      { op: "add", path: `/${key}`, value: 1 },
      { op: "add", path: `/${key}/polluted`, value: true },
      { op: "copy", from: `/${key}`, path: "/a" },
      { op: "move", from: `/${key}`, path: "/a" },
      { op: "add", path: "/a", value },
      { op: "replace", path: "", value },
    ] as JsonPatchOperation[])
      expect(attempt({ a: 1 }, operation), JSON.stringify(operation)).toBeInstanceOf(PatchError);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("refuses copies that double a document over and over", () => {
    const double: JsonPatchOperation = { op: "copy", from: "", path: "/-" };
    expect(attempt(["x".repeat(100)], ...Array(30).fill(double))).toMatchObject({
      message: expect.stringContaining(String(COPY_LIMIT)),
    });
    expect(attempt(["x"], double, double)).toEqual(["x", ["x"], ["x", ["x"]]]);
  });
});

test("[T3] what a patch does not touch stays the same object", () => {
  const document = { a: { b: [{ n: 1 }, { n: 2 }], c: {} }, d: { e: [] } };
  const result = attempt(document, { op: "replace", path: "/a/b/0/n", value: 3 }) as typeof document;
  expect(result).toEqual({ a: { b: [{ n: 3 }, { n: 2 }], c: {} }, d: { e: [] } });
  expect(result.d).toBe(document.d);
  expect(result.a.c).toBe(document.a.c);
  expect(result.a.b[1]).toBe(document.a.b[1]);
  expect(document.a.b[0]).toEqual({ n: 1 });
  expect(attempt(document, { op: "test", path: "/d/e", value: [] })).toBe(document);
  expect(attempt(document, { op: "move", from: "/a", path: "/a" })).toBe(document);
  expect(attempt(document)).toBe(document);
  const moved = attempt(document, { op: "move", from: "/a/c", path: "/d/f" }) as { d: { f: object } };
  expect(moved.d.f).toBe(document.a.c);
});

test("[T5] agrees with what AG-UI clients patch with, where that keeps to the RFC", () => {
  let applied = 0;
  fc.assert(
    fc.property(patchable, patches, (document, patch) => {
      const frozen = deepFreeze(structuredClone(document));
      const ours = attempt(frozen, ...patch);
      let theirs: unknown;
      try {
        theirs = jsonpatch.applyPatch(
          structuredClone(document),
          structuredClone(patch) as never,
          true,
          false,
        ).newDocument;
      } catch {
        theirs = PatchError;
      }
      if (theirs !== PatchError && patch.length > 0) applied += 1;
      // Of an operation on a member of a scalar document it says that it applied, and changes nothing.
      if (ours instanceof PatchError && theirs !== PatchError) expect(theirs).toEqual(document);
      else expect(ours instanceof PatchError ? PatchError : ours).toEqual(theirs);
    }),
    { numRuns: 3_000 },
  );
  expect(applied).toBeGreaterThan(300);
});

test("equality of JSON looks at values, not at the order of keys", () => {
  fc.assert(
    fc.property(patchable, patchable, (a, b) => {
      expect(jsonEqual(a, structuredClone(a))).toBe(true);
      expect(jsonEqual(a, b)).toBe(sorted(a) === sorted(b));
    }),
  );
  expect(jsonEqual({ a: 1 }, { b: 1 })).toBe(false);
  expect(jsonEqual([], {})).toBe(false);
  expect(jsonEqual({ a: undefined }, { b: undefined })).toBe(false);
});

function deepFreeze(value: Json): Json {
  if (value !== null && typeof value === "object") {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}

function sorted(value: Json): string {
  return JSON.stringify(value, (_key, inner) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
