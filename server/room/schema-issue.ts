/** The part of a schema error that is told to people. */
export type SchemaIssue = { path: PropertyKey[]; message: string };

/**
 * Says what a schema found, without the value: `content: it is missing`.
 * @param issue the first of the error's issues
 * @param whole what an issue that names no field is about
 */
export function describeIssue(issue: SchemaIssue | undefined, whole: string): string {
  const message = issue?.message ?? "it is not valid";
  const plain = message
    .replace(/^Invalid input: expected \w+, received undefined$/, "it is missing")
    .replace(/^Invalid input: expected (\w+), received .*$/, "it is no $1")
    .replace(/^(Invalid|Too|Unrecognized)/, (word) => word.toLowerCase());
  return `${issue?.path.map(String).join(".") || whole}: ${plain}`;
}
