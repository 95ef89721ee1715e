import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROOT, trackedFiles } from "./source-tree.ts";

/** What ties a file to the machine it was written on. */
const FOREIGN: { pattern: RegExp; what: string }[] = [
  // The folder names are in brackets so that this file does not find itself.
  { pattern: /(?<![\w.~-])\/[w]ork\/\S*/, what: "an absolute path of one machine" },
  { pattern: /(?<![\w.~-])\/[t]mp\/(agui|bash)\S*/, what: "an absolute path of one machine" },
  { pattern: /(?<![\w.~-])\/(home|[U]sers)\/[a-z]\w*\/\S*/, what: "a path in somebody's home folder" },
  {
    pattern: /https?:\/\/[^\s"'/]*(registry|npmmirror|artifactory|verdaccio|jfrog)[^\s"'/]*/i,
    what: "a package registry",
  },
  { pattern: /(?<![\w.])registry\.(npmjs|yarnpkg|npmmirror)\.\w+/i, what: "a package registry" },
  { pattern: /^[ \t]*(@[\w-]+:)?registry[ \t]*=.*:\/\/.*/m, what: "a package registry" },
];

function foreignIn(text: string): string[] {
  return FOREIGN.flatMap(({ pattern, what }) => {
    const match = pattern.exec(text);
    if (match === null) return [];
    return [`line ${text.slice(0, match.index).split("\n").length} names ${what}: ${match[0].trim()}`];
  });
}

test("no tracked text names a machine's paths or a package registry", ({ skip }) => {
  const files = trackedFiles() ?? skip("no git repository here to list the files of");
  const wrong: string[] = [];
  for (const path of files) {
    const bytes = readFileSync(ROOT + path);
    if (bytes.includes(0)) continue;
    for (const found of foreignIn(bytes.toString("utf8"))) wrong.push(`${path}: ${found}`);
  }
  if (wrong.length > 0) expect.fail(wrong.join("\n"));
});

test("what is foreign is found, and what only looks like it is not", () => {
  const path = (...parts: string[]) => `/${parts.join("/")}`;
  for (const text of [
    `see ${path("work", "main", "a.ts")}`,
    `"${path("tmp", "agui-src")}"`,
    `(${path("home", "ann", "x")})`,
    `${"registry"}=https://example.com`,
    `"resolved": "https://${"registry"}.npmjs.org/ws"`,
  ])
    expect(foreignIn(`\n${text}\n`)[0], text).toMatch(/^line 2 names /);
  for (const text of [
    "https://example.com/work/a",
    "./work/a",
    "server/agents/registry.ts",
    "/tmp/x",
    "registry = new Map()",
  ])
    expect(foreignIn(`\n${text}\n`), text).toEqual([]);
});
