import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

// What is built does not matter here: a build writes the two files that are looked at.
const BUILD = `
  const { appendFileSync, mkdirSync, writeFileSync, existsSync } = require("node:fs");
  appendFileSync("builds", "x");
  console.log("from the build");
  for (const name of ["server/cli.js", existsSync("broken") ? "server/other.js" : "app/index.html"]) {
    mkdirSync("dist/" + name.split("/")[0], { recursive: true });
    writeFileSync("dist/" + name, "");
  }
  process.exit(existsSync("broken") ? 1 : 0);
`;

test("dist/ is built when the sources are newer, and left alone when they are not", {
  timeout: 60_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "cothread-build-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string) => join(folder, name);
  for (const name of ["server/deep", "shared", "client/app", "scripts"])
    mkdirSync(at(name), { recursive: true });
  cpSync(join(ROOT, "scripts/build-if-older.js"), at("scripts/build-if-older.js"));
  for (const name of ["server/deep/a.ts", "server/deep/b.ts", "client/app/page.css"])
    writeFileSync(at(name), "");
  writeFileSync(at("build.cjs"), BUILD);
  writeFileSync(at("package.json"), JSON.stringify({ type: "module", scripts: { build: "node build.cjs" } }));
  const run = () => {
    const { status, stdout, stderr } = spawnSync("node", ["scripts/build-if-older.js"], { cwd: folder });
    return {
      status,
      out: String(stdout),
      err: String(stderr),
      builds: readFileSync(at("builds"), "utf8").length,
    };
  };
  const later = (name: string, seconds: number) => {
    const when = Date.now() / 1_000 + seconds;
    utimesSync(at(name), when, when);
  };
  const building = { out: "", err: expect.stringMatching(/^building…\n/) };
  expect(run()).toMatchObject({ status: 0, builds: 1, ...building });
  expect(run()).toEqual({ status: 0, builds: 1, out: "", err: "" });
  later("dist/app/index.html", 100);
  for (const [i, name] of ["server/deep/a.ts", "client/app/page.css"].entries()) {
    later(name, 200);
    expect(run()).toMatchObject({ status: 0, builds: 2 + i, ...building });
    later(name, -100);
    later("dist/app/index.html", 100);
    expect(run()).toMatchObject({ status: 0, builds: 2 + i, err: "" });
  }
  // A file that is gone has changed its folder.
  later("dist/app/index.html", -50);
  for (const name of ["server", "server/deep", "shared", "client", "client/app", "package.json"])
    later(name, -100);
  for (const name of ["server/deep/a.ts", "server/deep/b.ts", "client/app/page.css"]) later(name, -100);
  expect(run()).toMatchObject({ builds: 3, err: "" });
  rmSync(at("server/deep/b.ts"));
  expect(run()).toMatchObject({ builds: 4 });

  // A build that failed is no build, and is what the program then ends with.
  writeFileSync(at("broken"), "");
  later("server/deep/a.ts", 200);
  expect(run()).toMatchObject({ status: 1, builds: 5, ...building });
  expect(run()).toMatchObject({ status: 1, builds: 6 });
  expect(existsSync(at("dist/server/cli.js"))).toBe(true);
});
