import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { ROOT } from "./source-tree.ts";

/** Sentences about the names in one folder of migrations. */
function wrongNames(folder: string, names: readonly string[]): string[] {
  const wrong: string[] = [];
  [...names].sort().forEach((name, index) => {
    const number = String(index + 1).padStart(4, "0");
    if (!/^\d{4}_[a-z0-9]+(_[a-z0-9]+)*\.sql$/.test(name))
      wrong.push(`${folder}/${name} must be called NNNN_name.sql`);
    else if (!name.startsWith(number))
      wrong.push(
        `${folder}/${name} must begin with ${number}: numbers start at 0001, without gaps and doubles`,
      );
  });
  return wrong;
}

test("migrations are numbered without gaps", ({ skip }) => {
  const root = `${ROOT}migrations`;
  if (!existsSync(root)) skip("there is no migrations/ folder yet");
  const folders = readdirSync(root, { withFileTypes: true });
  const wrong = folders.flatMap((folder) =>
    folder.isDirectory()
      ? wrongNames(`migrations/${folder.name}`, readdirSync(`${root}/${folder.name}`))
      : [`migrations/${folder.name} must be in the folder of the database it is for`],
  );
  if (wrong.length > 0) expect.fail(wrong.join("\n"));
});

test("a gap, a double and a strange name are found", () => {
  expect(wrongNames("m", ["0002_b.sql", "0001_a.sql"])).toEqual([]);
  expect(wrongNames("m", ["0001_a.sql", "0003_b.sql"])[0]).toContain("0003_b.sql must begin with 0002");
  expect(wrongNames("m", ["0001_a.sql", "0001_b.sql"])[0]).toContain("0001_b.sql must begin with 0002");
  expect(wrongNames("m", ["1_a.sql"])[0]).toContain("NNNN_name.sql");
});
