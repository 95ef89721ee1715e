import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The checkout's root folder, with a slash at its end. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The text of a file, by its path from {@link ROOT}. */
export const textOf = (path: string): string => readFileSync(ROOT + path, "utf8");

/** Every `.ts` and `.tsx` file below the given folders, as sorted paths from {@link ROOT}. */
export function sourcesUnder(...folders: string[]): string[] {
  const found: string[] = [];
  for (const folder of folders) {
    if (!existsSync(ROOT + folder)) continue;
    for (const name of readdirSync(ROOT + folder, { recursive: true, encoding: "utf8" })) {
      const path = `${folder}/${name.replaceAll("\\", "/")}`;
      if (/\.tsx?$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path)) found.push(path);
    }
  }
  return found.sort();
}

/**
 * The files that git tracks, and the new ones it would track, as paths from {@link ROOT}; `null` where there
 * is no git or no repository.
 */
export function trackedFiles(): string[] | null {
  let list: string;
  try {
    list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return null;
  }
  // A file that is deleted but not yet committed as such is still listed.
  const isFile = (path: string) => path !== "" && statSync(ROOT + path, { throwIfNoEntry: false })?.isFile();
  return [...new Set(list.split("\0"))].filter(isFile).sort();
}
