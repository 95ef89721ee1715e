import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout's root folder, with a slash at its end; sources and compiled files lie at different depths. */
export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(folder: string): string {
  if (existsSync(join(folder, "package.json"))) return `${folder}/`;
  const above = dirname(folder);
  if (above === folder) throw new Error("There is no package.json above the benches.");
  return findRoot(above);
}
