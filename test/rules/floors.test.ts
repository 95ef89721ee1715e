import { expect, test } from "vitest";
import { floorBreaches } from "./floors.ts";
import { sourcesUnder, textOf } from "./source-tree.ts";

const manifest = JSON.parse(textOf("package.json")) as Record<string, Record<string, string> | undefined>;
const shipped = new Set([
  ...Object.keys(manifest.dependencies ?? {}),
  ...Object.keys(manifest.peerDependencies ?? {}),
]);

test("every import of server/, client/ and shared/ keeps to the floors", () => {
  const paths = sourcesUnder("server", "client", "shared");
  expect(paths).toContain("shared/protocol/index.ts");
  const breaches = floorBreaches(new Map(paths.map((path) => [path, textOf(path)])), shipped);
  if (breaches.length > 0) expect.fail(breaches.join("\n"));
});
