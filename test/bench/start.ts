import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { openStore } from "../../server/store/open.ts";
import { againstBound } from "./line.ts";
import { monotonicMs } from "./monotonic.ts";
import { ROOT } from "./root.ts";
import type { Bench } from "./runner.ts";
import { withTempFolder } from "./temp-folder.ts";

const CLI = `${ROOT}dist/server/cli.js`;

/** From starting the process to the line that says where it listens, with a database that is there already. */
export const start: Bench = async (run) => {
  if (!existsSync(CLI)) throw new Error("there is no dist/server/cli.js; run `npm run -s build` first.");
  return withTempFolder(async (folder) => {
    const lines = [];
    for (const threads of [5, run.quick ? 50 : 1_000]) {
      const file = `${folder}/${threads}.db`;
      await fill(file, threads);
      const values: number[] = [];
      // One more: the first one finds nothing in the caches of the machine.
      for (let i = 0; i <= run.runs; i += 1) {
        const seconds = await startOnce(file);
        run.say(`${threads} threads, ${seconds.toFixed(2)} s${i === 0 ? " (not counted)" : ""}`);
        if (i > 0) values.push(seconds);
      }
      const what = `cothread serve to "listening on", database of ${threads.toLocaleString("en-US")} threads`;
      lines.push(againstBound({ bench: "start", case: what, unit: "s", values, atMost: 1 }));
    }
    return lines;
  });
};

/** A database as a server leaves it: idle threads of a few entries. */
async function fill(file: string, threads: number): Promise<void> {
  const store = await openStore(`sqlite:${file}`);
  for (let i = 0; i < threads; i += 1) {
    const at = Date.now();
    const message = { id: `m${i}`, role: "user", content: "Hello there." };
    const entry = {
      seq: 1,
      at,
      kind: "message",
      by: { kind: "user", id: "guest:ana" },
      turn: `i${i}`,
      message,
    };
    const [result] = await store.commit([
      {
        key: { tenant: "default", thread: `thread-${i}` },
        ownerEpoch: 1,
        mark: `mark-${i}`,
        after: 0,
        entries: [{ seq: 1, json: JSON.stringify(entry) }],
        create: { epoch: `epoch-${i}`, at },
        info: { title: `Thread ${i}`, updatedAt: at, lastMessage: "Hello there." },
      },
    ]);
    if (!result?.ok) throw result?.error;
  }
  await store.close();
}

/** @returns seconds */
function startOnce(file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const startMs = monotonicMs();
    const args = [CLI, "serve", "--port", "0", "--store", `sqlite:${file}`, "--log-level", "silent"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    let seconds: number | undefined;
    child.stdout.on("data", (data) => {
      printed += data;
      if (seconds !== undefined || !printed.includes("listening on")) return;
      seconds = (monotonicMs() - startMs) / 1000;
      child.kill("SIGTERM");
    });
    child.once("exit", (status) => {
      if (seconds === undefined) reject(new Error(`the server ended with status ${status}: ${printed}`));
      else resolve(seconds);
    });
  });
}
