import { expect, test } from "vitest";
import { sourcesUnder, textOf } from "./source-tree.ts";

const LIMIT = 350;

/** Files that may be longer than {@link LIMIT} lines, each with the reason why splitting it would be worse. */
const LONG_FOR_A_REASON: Record<string, string> = {};

const lines = (text: string) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

test(`source files have at most ${LIMIT} lines, or a reason`, () => {
  const wrong: string[] = [];
  const sources = sourcesUnder("server", "client", "shared");
  for (const path of sources) {
    const length = lines(textOf(path));
    if (length > LIMIT && !LONG_FOR_A_REASON[path])
      wrong.push(
        `${path} has ${length} lines, over ${LIMIT}: split it, or name it with a reason in test/rules/lengths.test.ts`,
      );
    if (length <= LIMIT && path in LONG_FOR_A_REASON)
      wrong.push(`${path} has ${length} lines and needs no exception in test/rules/lengths.test.ts any more`);
  }
  for (const path of Object.keys(LONG_FOR_A_REASON))
    if (!sources.includes(path))
      wrong.push(`${path} has an exception in test/rules/lengths.test.ts and does not exist`);
  if (wrong.length > 0) expect.fail(wrong.join("\n"));
});

test("a last line counts with and without a newline behind it", () => {
  expect([lines(""), lines("a"), lines("a\n"), lines("a\nb")]).toEqual([1, 1, 1, 2]);
});
