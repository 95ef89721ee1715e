import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The version of this package, as `package.json` says. */
export const VERSION: string = readVersion();

// From `server/` as from `dist/server/` the package's root is found by looking upwards.
function readVersion(): string {
  for (const up of ["..", "../.."]) {
    try {
      const path = fileURLToPath(new URL(`${up}/package.json`, import.meta.url));
      const found = JSON.parse(readFileSync(path, "utf8")) as { name?: string; version?: string };
      if (found.name === "cothread" && found.version) return found.version;
    } catch {
      // Not there: look further up.
    }
  }
  return "0.0.0";
}
