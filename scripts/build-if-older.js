// Builds dist/ when the sources are newer than it, and else leaves it as it is: a server may be running from
// it. Says so on stderr, and lets the build print nowhere else, so that stdout belongs to the program.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = ["server", "shared", "client", "package.json", "tsconfig.json", "tsconfig.build.json"];
// The page is written last: a build that broke off leaves it old or absent.
const BUILT = ["dist/server/cli.js", "dist/app/index.html"];

/** When a file, or the last thing in a folder, was changed; a deleted file changes its folder. */
function changedAt(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => changedAt(`${path}/${name}`)));
}

const sources = SOURCES.map((name) => ROOT + name).filter((path) => existsSync(path));
const newest = Math.max(...sources.map(changedAt));
const fresh = BUILT.every((name) => existsSync(ROOT + name)) && statSync(ROOT + BUILT[1]).mtimeMs >= newest;
if (!fresh) {
  console.error("building…");
  // npm names its own program; it is no executable by itself on every system.
  const { npm_execpath } = process.env;
  const [program, first] = npm_execpath ? [process.execPath, [npm_execpath]] : ["npm", []];
  const built = spawnSync(program, [...first, "run", "-s", "build"], { cwd: ROOT, stdio: ["ignore", 2, 2] });
  process.exitCode = built.status ?? 1;
}
