import { spawn, spawnSync } from "node:child_process";
import { renderUnicodeCompact } from "uqr";
import { expect, onTestFinished, test } from "vitest";
import { CLI } from "./kit/build.ts";

// util-linux; it gives a program a terminal.
const hasTerminal = spawnSync("script", ["--version"]).status === 0;

/** What a server with --share prints until it takes guests. */
function printed(command: string, args: string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  onTestFinished(() => {
    process.kill(-(child.pid as number), "SIGKILL");
  });
  let text = "";
  return new Promise((resolve, reject) => {
    child.stdout.on("data", (data) => {
      text += data;
      if (/#join=\S+/.test(text)) setTimeout(() => resolve(text), 200);
    });
    child.on("exit", () => reject(new Error(`it ended: ${text}`)));
  });
}

const serve = [CLI, "serve", "--share", "--port", "0", "--store", "memory:"];

test.skipIf(!hasTerminal)("on a terminal --share shows the link as a code for the second phone", async () => {
  const quoted = [process.execPath, ...serve].map((word) => `'${word}'`).join(" ");
  const text = (await printed("script", ["-qefc", quoted, "/dev/null"])).replaceAll("\r", "");
  const link = /http\S+#join=\S+/.exec(text)?.[0] as string;
  expect(text).toContain(renderUnicodeCompact(link, { border: 2 }));
});

test("in a log there is the link alone", async () => {
  const text = await printed(process.execPath, serve);
  expect(text).not.toMatch(/[█▀▄]/);
});
