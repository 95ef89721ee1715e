import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { readModule } from "./module-source.ts";
import { ROOT, sourcesUnder, textOf } from "./source-tree.ts";

const PAGE = "shared/PROTOCOL.md";

/** Rule ids that a text names in brackets, e.g. `[J3]`. */
const citedIn = (text: string): string[] =>
  [...text.matchAll(/\[([A-Z]{1,2}\d{1,3})\]/g)].map((found) => found[1]!);

/** Rule ids that the page gives a rule: they stand first in a line, behind list, table or heading marks. */
const givenBy = (page: string): string[] =>
  [...page.matchAll(/^[\s>|*#-]*\[([A-Z]{1,2}\d{1,3})\]/gm)].map((found) => found[1]!);

test(`every rule that a test or a comment cites stands in ${PAGE}`, ({ skip }) => {
  if (!existsSync(ROOT + PAGE)) skip(`there is no ${PAGE} yet`);
  const given = new Set(givenBy(textOf(PAGE)));
  const wrong: string[] = [];
  for (const path of sourcesUnder("server", "client", "shared", "test")) {
    if (path.startsWith("test/rules/")) continue;
    const { titles, comments } = readModule(path, textOf(path));
    for (const id of new Set([...titles, ...comments].flatMap(citedIn)))
      if (!given.has(id)) wrong.push(`${path} cites [${id}], which no line of ${PAGE} begins with`);
  }
  if (wrong.length > 0) expect.fail(wrong.join("\n"));
});

/** Rules that no test can prove, each with the reason. */
const NOT_TESTABLE: Record<string, string> = {};

test(`every rule of ${PAGE} is cited by the title of a test that proves it, or has a reason`, ({ skip }) => {
  if (!existsSync(ROOT + PAGE)) skip(`there is no ${PAGE} yet`);
  const cited = new Set(
    sourcesUnder("test")
      .filter((path) => !path.startsWith("test/rules/"))
      .flatMap((path) => readModule(path, textOf(path)).titles.flatMap(citedIn)),
  );
  const given = new Set(givenBy(textOf(PAGE)));
  const wrong: string[] = [];
  for (const id of given)
    if (!cited.has(id) && !NOT_TESTABLE[id])
      wrong.push(`[${id}] stands in no test title: find the test that proves it, or write it`);
  for (const id of Object.keys(NOT_TESTABLE))
    if (cited.has(id) || !given.has(id))
      wrong.push(`[${id}] has an exception in test/rules/rule-ids.test.ts and needs none`);
  if (wrong.length > 0) expect.fail(wrong.join("\n"));
});

test(`no two rules of ${PAGE} share an id`, ({ skip }) => {
  if (!existsSync(ROOT + PAGE)) skip(`there is no ${PAGE} yet`);
  const given = givenBy(textOf(PAGE));
  expect(given.filter((id, index) => given.indexOf(id) !== index)).toEqual([]);
});

test("ids are read in titles and on the page", () => {
  expect(citedIn("[J3] a cursor from another epoch [D2], not a[0] or [x1]")).toEqual(["J3", "D2"]);
  expect(givenBy("- **[L1]** one\n[L2] two, see [L9]\n| [L3] | three |\n### [L4] four")).toEqual([
    "L1",
    "L2",
    "L3",
    "L4",
  ]);
});
