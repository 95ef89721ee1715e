import { expect, test } from "vitest";
import { parsePointer } from "../shared/json-crdt/pointer.ts";
import { compileTextPaths } from "../shared/json-crdt/text-paths.ts";

const PATHS = compileTextPaths(["/document", "/sections/*/body", "/a~1b/m~0n", "/*/*/x/y"]);

test.each<[string, boolean, boolean]>([
  ["", false, true],
  ["/document", true, true],
  ["/document/0", false, true],
  ["/document/0/0", false, false],
  ["/document/0/x", false, true],
  ["/documents", false, true],
  ["/sections", false, true],
  ["/sections/0", false, true],
  ["/sections/-", false, true],
  ["/sections/intro/body", true, true],
  ["/sections/0/title", false, false],
  ["/sections/0/body/0", false, false],
  ["/a~1b/m~0n", true, true],
  ["/a/b", false, true],
  ["/a/b/c", false, false],
  ["/a/b/x/y", true, true],
  ["/a/b/x/y/z", false, false],
])("%s", (pointer, matches, mayLie) => {
  const path = parsePointer(pointer);
  expect([PATHS.matches(path), PATHS.mayLie(path)]).toEqual([matches, mayLie]);
});

test("without patterns nothing is text", () => {
  const none = compileTextPaths([]);
  expect([none.matches([]), none.mayLie([]), none.matches(["a"])]).toEqual([false, false, false]);
});

test("a key of no text field is none, whatever objects inherit", () => {
  expect(PATHS.matches(["toString"])).toBe(false);
  expect(compileTextPaths(["/toString"]).matches(["toString"])).toBe(true);
});

test.each<[string, string]>([
  ["document", 'The text path "document" is not valid: a JSON Pointer must begin with "/".'],
  ["/a~2", 'The text path "/a~2" is not valid: a "~" must be "~0" or "~1".'],
  ["/a/__proto__/b", 'The text path "/a/__proto__/b" is not valid: "__proto__" is a reserved key.'],
  ["", 'The text path "" names the whole state; a text field lies inside it.'],
  [7 as never, "A text path must be a string."],
])("%j is refused with a sentence that names it", (pattern, message) => {
  expect(() => compileTextPaths(["/ok", pattern])).toThrow(message);
});
