import { expect, test } from "vitest";
import { readModule } from "./module-source.ts";
import { sourcesUnder, textOf } from "./source-tree.ts";

/** The exports of a file that no doc comment explains. A schema and its type of one name need one between them. */
function undocumented(path: string, text: string): string[] {
  const { exports } = readModule(path, text);
  const known = new Set(exports.filter(({ documented }) => documented).map(({ name }) => name));
  return exports
    .filter(({ name }) => !known.has(name))
    .map(({ name, line }) => `${path}:${line} exports ${name} without a doc comment`);
}

test("every export has a doc comment", () => {
  const wrong = sourcesUnder("server", "client", "shared").flatMap((path) =>
    undocumented(path, textOf(path)),
  );
  if (wrong.length > 0) expect.fail(wrong.join("\n"));
});

test("the checker sees every kind of export, and what stands before it", () => {
  const bare = [
    "export const a = 1, b = 2;",
    "/* no doc comment */\nexport type A = string;",
    "// none either\nexport interface I {}",
    "/** of something else */\nconst x = 1;\nexport async function f() {}",
    "export abstract class C {}",
    "export default function g() {}",
    "export const { p } = q;",
  ];
  const names = bare.flatMap((text) => undocumented("a.ts", text).map((line) => line.split(" ")[2]));
  expect(names).toEqual(["a", "b", "A", "I", "f", "C", "g", "p"]);
  const fine = [
    "/** One. */\nexport const a = 1;",
    "/** One. */\nexport const A = 1;\nexport type A = typeof A;",
    "/**\n * Two\n * lines.\n */\nexport default class C {}",
    'export { a } from "./a.ts";',
    'export * from "./a.ts";',
    "export const text = `export const inner = 1;`;".replace("export", "/** A text. */ export"),
  ];
  expect(fine.flatMap((text) => undocumented("a.ts", text))).toEqual([]);
});
