import { expect, test } from "vitest";
import { Acks } from "../../shared/protocol/acks.ts";
import { CLOSES, REJECTS, RUN_ERRORS } from "../../shared/protocol/codes.ts";
import { textOf } from "./source-tree.ts";

const page = textOf("shared/PROTOCOL.md");

/** The cells of the table whose first column has this heading, one list for each row below the heading. */
function tableOf(text: string, heading: string): string[][] {
  const lines = text.split("\n");
  const top = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  if (top < 0) expect.fail(`shared/PROTOCOL.md has no table whose first column is "${heading}"`);
  const end = lines.findIndex((line, i) => i > top && !line.startsWith("|"));
  return lines.slice(top + 2, end < 0 ? undefined : end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const code = (name: string | number) => `\`${name}\``;

test("the page's table of reject codes is that of the code", () => {
  expect(tableOf(page, "reject")).toEqual(
    Object.entries(REJECTS).map(([name, { retry, when }]) => [code(name), retry ? "yes" : "no", when]),
  );
});

test("the page's table of close codes is that of the code", () => {
  expect(tableOf(page, "close")).toEqual(
    Object.entries(CLOSES).map(([number, { name, again, when }]) => [code(number), name, code(again), when]),
  );
});

test("the page's table of RUN_ERROR codes is that of the code", () => {
  expect(tableOf(page, "RUN_ERROR")).toEqual(
    Object.entries(RUN_ERRORS).map(([name, when]) => [code(name), when]),
  );
});

test("the page's table of acks has the fields of the schemas", () => {
  const rows = tableOf(page, "request").flatMap(([requests = "", fields = ""]) => {
    const list = fields === "none" ? [] : fields.replaceAll("`", "").split(", ");
    return requests.split(", ").map((request) => [request, list] as const);
  });
  const fieldsOf = (shape: Record<string, { safeParse(value: unknown): { success: boolean } }>) =>
    Object.entries(shape).map(([name, field]) => (field.safeParse(undefined).success ? `${name}?` : name));
  const expected = Object.entries(Acks).map(([request, schema]) => [code(request), fieldsOf(schema.shape)]);
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected));
});

test("a table ends where its lines end", () => {
  const text = "| a | b |\n|---|---|\n| `x` | y z |\n| 2 | |\n\n| c | d |\n|---|---|\n| 3 | 4 |";
  expect(tableOf(text, "a")).toEqual([
    ["`x`", "y z"],
    ["2", ""],
  ]);
  expect(tableOf(text, "c")).toEqual([["3", "4"]]);
});
