import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setup } from "../kit/build.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BUILT = `${ROOT}dist/app/index.html`;

/** Builds server and web app when `dist/` is older than their sources: a browser sees what users see. */
export function buildApp(): void {
  setup();
  const sources = ["client", "shared"].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: "utf8" }).map(
      (name) => `${ROOT}${folder}/${name}`,
    ),
  );
  const newest = Math.max(...sources.map((path) => statSync(path).mtimeMs));
  if (existsSync(BUILT) && statSync(BUILT).mtimeMs > newest) return;
  execFileSync("npx", ["vite", "build", "client/app", "--logLevel", "warn"], { cwd: ROOT, stdio: "pipe" });
}
