import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { parseConfig } from "../server/config.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const README = readFileSync(join(ROOT, "README.md"), "utf8");

test("every ts and tsx snippet of the README type-checks against the built package", {
  timeout: 60_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "cothread-readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const snippets = [...README.matchAll(/^```(tsx?)\n(.*?)^```$/gms)];
  expect(snippets.map(([, kind]) => kind)).toEqual(expect.arrayContaining(["ts", "tsx"]));
  for (const [i, [, kind, text]] of snippets.entries())
    writeFileSync(join(folder, `snippet-${i + 1}.${kind}`), text as string);
  // What `npm install` of the packed file and of what the snippets name would put there.
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules/cothread"));
  for (const name of ["@ag-ui", "@types", "react", "ws"])
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const options = ["--strict", "--module", "nodenext", "--noEmit", "--jsx", "react-jsx", "--types", "node"];
  const files = snippets.map(([, kind], i) => `snippet-${i + 1}.${kind}`);
  let errors = "";
  try {
    execFileSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), ...options, ...files], {
      cwd: folder,
      encoding: "utf8",
    });
  } catch (error) {
    errors = (error as { stdout: string }).stdout;
  }
  expect(errors).toBe("");
});

test("the configuration file of the README is one", () => {
  const files = [...README.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text]) => JSON.parse(text as string));
  expect(files).toHaveLength(1);
  expect(parseConfig(files[0]).agent).toEqual([
    "planner=http://127.0.0.1:8000/agent",
    "writer=http://127.0.0.1:8001/agent",
  ]);
});
