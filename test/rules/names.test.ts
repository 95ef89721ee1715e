import { expect, test } from "vitest";
import { trackedFiles } from "./source-tree.ts";

/** Words that say nothing about what a file holds. */
const EMPTY_WORDS = new Set(["util", "utils", "helper", "helpers", "manager", "managers", "misc"]);

/** The parts of a path that are named with an empty word: `room-manager.ts`, `runHelpers.ts`, `utils/`. */
function emptyNames(path: string): string[] {
  return path.split("/").filter((part) =>
    part
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .split(/[^a-z]+/)
      .some((word) => EMPTY_WORDS.has(word)),
  );
}

test("every file and folder is named after what it holds", ({ skip }) => {
  const files = trackedFiles() ?? skip("no git repository here to list the files of");
  const wrong = files
    .filter((path) => emptyNames(path).length > 0)
    .map((path) => `${path}: \`${emptyNames(path)[0]}\` says nothing; name it after the thing it exports`);
  if (wrong.length > 0) expect.fail(wrong.join("\n"));
});

test("names that say nothing are found in every spelling", () => {
  for (const path of ["server/utils/a.ts", "server/room-manager.ts", "client/runHelpers.ts", "test/Misc.ts"])
    expect(emptyNames(path), path).toHaveLength(1);
  for (const path of ["server/run/driver.ts", "shared/utility-types.ts", "test/rules/names.test.ts"])
    expect(emptyNames(path), path).toEqual([]);
});
