import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The command line program as users run it; there once the tests' global setup has run. */
export const CLI = `${ROOT}dist/server/cli.js`;

/** The environment of a program that a test starts, without what this run of tests put there for itself. */
export function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("COTHREAD_")));
}

/**
 * Compiles the server when `dist/` is older than the sources: tests that start real processes run what
 * users run. Global setup of the projects that need it.
 */
export function setup(): void {
  const newest = Math.max(...["server", "shared", "client"].map((folder) => newestIn(`${ROOT}${folder}`)));
  if (existsSync(CLI) && statSync(CLI).mtimeMs > newest) return;
  try {
    execFileSync("npx", ["tsc", "-p", "tsconfig.build.json"], { cwd: ROOT, stdio: "pipe" });
  } catch (error) {
    // Types are checked by `npm run check`; somebody who works on one test may have errors elsewhere.
    console.warn("dist/ was built in spite of type errors; see npm run check");
    if (!existsSync(CLI)) throw error;
  }
}

function newestIn(folder: string): number {
  return Math.max(
    0,
    ...readdirSync(folder, { withFileTypes: true }).map((item) =>
      item.isDirectory() ? newestIn(`${folder}/${item.name}`) : statSync(`${folder}/${item.name}`).mtimeMs,
    ),
  );
}
