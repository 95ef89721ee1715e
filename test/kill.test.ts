import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openStore } from "../server/store/open.ts";
import type { Cursor, DownFrame, Entry } from "../shared/protocol/index.ts";
import { RawClient } from "./kit/raw-client.ts";
import { startServer } from "./kit/server-process.ts";

const SOAK = process.env.COTHREAD_SOAK !== undefined;
const ROUNDS = SOAK ? 200 : 25;
const THREADS = ["alpha", "beta", "gamma"];
const folder = mkdtempSync(join(tmpdir(), "cothread-kill-"));
const store = `sqlite:${folder}/threads.db`;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What clients saw, over all rounds: nothing in it may ever be missing or different. */
class Witness {
  readonly entries = new Map<string, Map<number, string>>();
  readonly acked: { thread: string; inputId: string; note: boolean }[] = [];
  readonly cursors = new Map<string, Cursor>();

  see(frame: DownFrame): void {
    if (frame.type === "joined" && !frame.recovered) this.cursors.set(frame.thread, at(frame));
    if (frame.type !== "entries") return;
    const log = this.entries.get(frame.thread) ?? new Map<number, string>();
    this.entries.set(frame.thread, log);
    for (const entry of frame.items) log.set(entry.seq, JSON.stringify(entry));
    const { epoch = "" } = this.cursors.get(frame.thread) ?? {};
    this.cursors.set(frame.thread, { epoch, seq: frame.seq, mark: frame.mark });
  }
}

const at = ({ epoch, seq, mark }: Cursor): Cursor => ({ epoch, seq, mark });

/** Joins, submits runs and notes, and goes on until the server is killed under it. */
async function work(url: string, name: string, round: number, witness: Witness, random: () => number) {
  const client = await RawClient.hello(url, name);
  client.socket.on("message", (data) => witness.see(JSON.parse(String(data)) as DownFrame));
  const requests: Promise<unknown>[] = [];
  for (const thread of THREADS) {
    // Not awaited one by one: the kill may come at any of these points.
    requests.push(
      client.join(thread, { cursor: witness.cursors.get(thread) }).then(({ joined, contents }) => {
        if (witness.cursors.has(thread) && round > 0 && name === "Ana")
          expect(joined?.recovered, `${thread}: a cursor from before the kill is still good`).toBe(true);
        if (contents?.type === "snapshot") witness.cursors.set(thread, at(contents));
        for (let n = 0; n < 3; n += 1) {
          const note = random() < 0.4;
          const inputId = `${name}-${round}-${thread}-${n}`;
          const message = { id: `${inputId}-m`, role: "user", content: `Plan number ${n} for ${thread}` };
          const frame = {
            type: "submit",
            thread,
            inputId,
            messages: [message],
            ...(note && { start: false }),
          };
          const agent = random() < 0.5 ? "echo" : "planner";
          void client.ask({ ...frame, ...(!note && { agent }) }).then((answer) => {
            if (answer.type === "ack") witness.acked.push({ thread, inputId, note });
          });
        }
      }),
    );
  }
  void Promise.allSettled(requests);
  return client;
}

/** Reads the whole log straight from the file, as no client could prettify it. */
async function logOf(thread: string): Promise<Entry[]> {
  const opened = await openStore(store);
  try {
    const entries: Entry[] = [];
    for (;;) {
      const page = await opened.read({ tenant: "default", thread }, entries.length, 1_000);
      if (page.length === 0) return entries;
      entries.push(...page);
    }
  } finally {
    await opened.close();
  }
}

function check(thread: string, log: Entry[], witness: Witness): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1));
  for (const [seq, json] of witness.entries.get(thread) ?? []) {
    expect(JSON.stringify(log[seq - 1]), `${thread} ${seq}: an entry that a client saw`).toBe(json);
  }
  for (const { inputId, note } of witness.acked.filter((ack) => ack.thread === thread)) {
    const found = log.filter(
      (entry) =>
        (entry.kind === "message" && entry.turn === inputId) ||
        (entry.kind === "input" && entry.inputId === inputId),
    );
    expect(found.length, `${thread}: acknowledged ${note ? "note" : "input"} ${inputId}`).toBeGreaterThan(0);
  }
}

/** Every run that began, or failed before it could, has exactly one terminal event. */
function checkRuns(thread: string, log: Entry[]): number {
  const terminals = new Map<string, number>();
  for (const entry of log) {
    if (entry.kind !== "event") continue;
    const type = entry.event.type as string;
    if (type === "RUN_STARTED") terminals.set(entry.run, terminals.get(entry.run) ?? 0);
    if (type === "RUN_FINISHED" || type === "RUN_ERROR")
      terminals.set(entry.run, (terminals.get(entry.run) ?? 0) + 1);
  }
  for (const [run, count] of terminals) expect(count, `${thread}: terminals of run ${run}`).toBe(1);
  return terminals.size;
}

test(
  `[L3] [R5] kill -9 at random points, ${ROUNDS} rounds: nothing acknowledged or seen is lost, every run ends once`,
  async () => {
    const seed = Number(process.env.COTHREAD_SEED ?? Date.now() % 1_000_000);
    console.log(`kill -9: seed ${seed} (set COTHREAD_SEED to repeat the same waits)`);
    let state = seed;
    const random = () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
    const witness = new Witness();
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await startServer(["--store", store, "--demo-speed", "40"]);
      const clients = [
        await work(server.url, "Ana", round, witness, random),
        await work(server.url, "Ben", round, witness, random),
      ];
      await new Promise((resolve) => setTimeout(resolve, 10 + random() * 350));
      await server.kill();
      await Promise.all(clients.map((client) => client.closed));
      for (const thread of THREADS) check(thread, await logOf(thread), witness);
    }

    // One last start: what was left running is ended, what was queued runs, without any client.
    const server = await startServer(["--store", store, "--demo-speed", "0"]);
    const client = await RawClient.hello(server.url, "Chi");
    for (const thread of THREADS) {
      const { contents } = await client.join(thread);
      let { inputs = [], runs = [] } = (contents?.type === "snapshot" ? contents : {}) as {
        inputs?: unknown[];
        runs?: unknown[];
      };
      while (inputs.length + runs.length > 0) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        const again = await client.join(thread);
        ({ inputs = [], runs = [] } = again.contents?.type === "snapshot" ? again.contents : {});
      }
    }
    expect(await server.stop()).toBe(0);
    let runs = 0;
    for (const thread of THREADS) {
      const log = await logOf(thread);
      check(thread, log, witness);
      runs += checkRuns(thread, log);
    }
    const seen = [...witness.entries.values()].reduce((sum, log) => sum + log.size, 0);
    console.log(
      `kill -9: ${ROUNDS} rounds, ${witness.acked.length} acks and ${seen} entries seen, ${runs} runs; none lost`,
    );
    expect(runs).toBeGreaterThan(0);
  },
  SOAK ? 900_000 : 150_000,
);
