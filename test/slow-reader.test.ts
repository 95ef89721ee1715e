import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { AGUIEvent, DownFrame } from "../shared/protocol/index.ts";
import { fromSnapshot, type Timeline } from "../shared/timeline/index.ts";
import { RawClient } from "./kit/raw-client.ts";
import { recordedAgent } from "./kit/recorded-agent.ts";
import { startServer } from "./kit/server-process.ts";

const ENTRIES = 100_000;
const HARD_BOUND = 16 * 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "cothread-slow-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A run of `n` entries in many messages, so that what it leaves in memory is small beside what it sends. */
function flood(n: number): AGUIEvent[] {
  const events: object[] = [{ type: "RUN_STARTED", threadId: "t", runId: "r" }];
  for (let i = 0; events.length < n - 1; i += 1) {
    events.push({ type: "CUSTOM", name: "progress", value: { step: i, note: "x".repeat(120) } });
  }
  events.push({ type: "RUN_FINISHED", threadId: "t", runId: "r" });
  return events as unknown as AGUIEvent[];
}

const rss = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

/** Follows the frames of a thread as a client does, and notes how it was brought up to date. */
class Follower {
  timeline: Timeline | null = null;
  seq = 0;
  snapshots = 0;
  gaps = 0;
  take(frame: DownFrame): void {
    if (frame.type === "snapshot") {
      this.timeline = fromSnapshot(frame);
      this.seq = frame.seq;
      this.snapshots += 1;
    } else if (frame.type === "entries") {
      if (frame.after !== this.seq) this.gaps += 1;
      for (const entry of frame.items) this.timeline?.apply(entry);
      this.seq = frame.seq;
    }
  }
}

let tries = 0;

test.runIf(process.platform === "linux")(
  `[B1] [B3] a client that stops reading while ${ENTRIES} entries pass costs no memory, stalls nobody and catches up`,
  // What the process has of the machine's memory also grows when V8, on a busy machine, puts its collection off.
  { timeout: 120_000, retry: 2 },
  async () => {
    const agent = await recordedAgent(flood(ENTRIES));
    tries += 1;
    const server = await startServer([
      "--store",
      `sqlite:${folder}/${tries}.db`,
      "--agent",
      `flood=${agent.url}`,
    ]);
    const ask = (client: RawClient, thread: string, n: number) =>
      client.ask({
        type: "submit",
        thread,
        inputId: `i${n}-${thread}`,
        messages: [{ id: `m${n}-${thread}`, role: "user", content: "go" }],
      });
    const finished = (client: RawClient, thread: string, inputId: string) =>
      client.find(
        (frame) =>
          frame.type === "entries" &&
          frame.thread === thread &&
          frame.items.some((e) => e.kind === "input" && e.inputId === inputId && e.status === "done"),
      );

    // Once without a slow reader: what the server's heap grows to by itself.
    const warm = await RawClient.hello(server.url, "Warm");
    for (const thread of ["warm-up", "warm"]) {
      await warm.join(thread);
      await ask(warm, thread, 0);
      await finished(warm, thread, `i0-${thread}`);
    }
    warm.close();
    const before = rss(server.pid);

    const fast = await RawClient.hello(server.url, "Fast");
    const slow = await RawClient.hello(server.url, "Slow");
    const follower = new Follower();
    slow.socket.on("message", (data) => follower.take(JSON.parse(String(data)) as DownFrame));
    await fast.join("t");
    await slow.join("t");
    slow.socket.pause();
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, rss(server.pid));
    }, 20);
    await ask(fast, "t", 1);
    await finished(fast, "t", "i1-t");
    clearInterval(watch);
    const last = fast.frames.findLast((frame) => frame.type === "entries");
    const grown = peak - before;
    console.log(
      `slow reader: server grew by ${(grown / 1024 / 1024).toFixed(1)} MiB while ${ENTRIES} entries passed`,
    );
    expect(grown).toBeLessThan(HARD_BOUND + 10 * 1024 * 1024);
    expect(follower.seq).toBeLessThan(last?.type === "entries" ? last.seq : 0);

    slow.socket.resume();
    while (follower.seq < (last?.type === "entries" ? last.seq : 0))
      await new Promise<void>((resolve) => slow.socket.once("message", () => setImmediate(resolve)));
    expect(follower.gaps, "never entries that do not follow what it has").toBe(0);
    expect(follower.timeline?.list.map((m) => m.id)).toEqual(["m1-t"]);
    // It is a live reader again.
    await fast.ask({
      type: "submit",
      thread: "t",
      inputId: "after",
      start: false,
      messages: [{ id: "after", role: "user", content: "still there?" }],
    });
    await slow.entry((entry) => entry.kind === "message" && entry.message.id === "after");
    await server.stop();
    await agent.close();
  },
);
