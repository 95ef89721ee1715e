import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openStore } from "../server/store/open.ts";
import type { DownFrame, Entry } from "../shared/protocol/index.ts";
import { type Acknowledged, type Change, checkRuns, KillWitness } from "./kit/kill-witness.ts";
import { RawClient } from "./kit/raw-client.ts";
import { startServer } from "./kit/server-process.ts";

const SOAK = process.env.COTHREAD_SOAK !== undefined;
const ROUNDS = Number(process.env.COTHREAD_ROUNDS ?? (SOAK ? 200 : 25));
const THREADS = ["alpha", "beta", "gamma"];
const KEY = { tenant: "default" };
const folder = mkdtempSync(join(tmpdir(), "cothread-kill-"));
const store = `sqlite:${folder}/threads.db`;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the clients of one round share. */
type Round = { round: number; witness: KillWitness; random: () => number; failures: unknown[] };

/**
 * Joins, submits runs and notes, withdraws, cancels and renames, and goes on until the server is killed under
 * it. Nothing is awaited by the test: the kill may come at any of these points. What fails goes to `failures`.
 */
async function work(url: string, name: string, { round, witness, random, failures }: Round) {
  const client = await RawClient.hello(url, name);
  const away = (promise: Promise<unknown>) => void promise.catch((error) => failures.push(error));
  const ask = async (frame: Change) => {
    const answer = await client.ask({ ...frame });
    witness.answered(name, frame, answer);
    return answer;
  };
  let n = 0;
  const fresh = (thread: string) => `${name}-${round}-${thread}-${n++}`;

  client.socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as DownFrame;
    witness.see(frame);
    if (frame.type !== "entries") return;
    for (const entry of frame.items) {
      if (entry.kind !== "event" || (entry.event.type as string) !== "STEP_STARTED") continue;
      if (random() < 0.1)
        away(ask({ type: "cancel", thread: frame.thread, key: fresh(frame.thread), runId: entry.run }));
    }
  });

  const submit = async (thread: string) => {
    const inputId = fresh(thread);
    const message = { id: `${inputId}-m`, role: "user", content: `Plan ${inputId} for ${thread}` };
    const note = random() < 0.3;
    const start = note ? { start: false } : { agent: random() < 0.5 ? "echo" : "planner" };
    const answer = await ask({ type: "submit", thread, inputId, messages: [message], ...start });
    // One that began meanwhile is refused as gone; one that waits is taken back.
    if (answer.type === "ack" && answer.status === "queued" && random() < 0.4)
      await ask({ type: "withdraw", thread, key: fresh(thread), inputId });
  };
  const rename = (thread: string) => {
    const title = fresh(thread);
    witness.titles.add(title);
    return ask({ type: "update", thread, key: title, title });
  };
  const visit = async (thread: string) => {
    const cursor = witness.cursors.get(thread);
    const { joined } = await client.join(thread, { cursor });
    if (cursor)
      expect(joined?.recovered, `${thread}: a cursor from before the kill is still good`).toBe(true);
    for (let i = 0; i < 4; i += 1) {
      away(submit(thread));
      if (random() < 0.3) away(rename(thread));
    }
  };
  for (const thread of THREADS) away(visit(thread));
  return client;
}

/** Reads the whole log straight from the file, as no client could prettify it, and the title beside it. */
async function logOf(thread: string): Promise<{ log: Entry[]; title: string | undefined }> {
  const opened = await openStore(store);
  try {
    const log: Entry[] = [];
    for (;;) {
      const page = await opened.read({ ...KEY, thread }, log.length, 1_000);
      if (page.length === 0) break;
      log.push(...page);
    }
    const [row] = await opened.threads({ ...KEY, ids: [thread], limit: 1 });
    return { log, title: row?.title };
  } finally {
    await opened.close();
  }
}

async function check(thread: string, witness: KillWitness): Promise<Entry[]> {
  const { log, title } = await logOf(thread);
  witness.check(thread, log);
  const named = log.findLast((entry) => entry.kind === "thread" && entry.title !== undefined);
  if (named) expect(title, `${thread}: the title in lists`).toBe((named as { title?: string }).title);
  return log;
}

/** [D1] Sends what was acknowledged once more, as whoever sent it, and compares the answers. */
async function sendAgain(url: string, user: string, acked: Acknowledged[]): Promise<void> {
  const client = await RawClient.hello(url, user);
  for (const thread of THREADS) await client.join(thread);
  for (const { frame, fields } of acked) {
    const { ref: _ref, ...answer } = await client.ask({ ...frame });
    expect(answer, `the same ${frame.type} again`).toEqual({ type: "ack", ...fields, duplicate: true });
  }
  client.close();
}

test(
  `[L1] [L3] [R5] [D1] kill -9 at random points, ${ROUNDS} rounds: nothing acknowledged or seen is lost, every run ends once`,
  async () => {
    const seed = Number(process.env.COTHREAD_SEED ?? Date.now() % 1_000_000);
    console.log(`kill -9: seed ${seed} (set COTHREAD_SEED to repeat the same waits)`);
    let state = seed;
    const random = () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
    const witness = new KillWitness();
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await startServer(["--store", store, "--demo-speed", "40"]);
      const failures: unknown[] = [];
      const shared = { round, witness, random, failures };
      const clients = [await work(server.url, "Ana", shared), await work(server.url, "Ben", shared)];
      await new Promise((resolve) => setTimeout(resolve, 10 + random() * 350));
      await server.kill();
      await Promise.all(clients.map((client) => client.closed));
      for (const thread of THREADS) await check(thread, witness);
      if (failures.length > 0) throw new AggregateError(failures, `round ${round}: ${failures[0]}`);
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
    for (const user of ["Ana", "Ben"])
      await sendAgain(
        server.url,
        user,
        witness.acked.filter((acked) => acked.user === user),
      );
    expect(await server.stop()).toBe(0);
    const total = { runs: 0, cancelled: 0 };
    for (const thread of THREADS) {
      const log = await check(thread, witness);
      witness.checkEnded(thread, log);
      const { runs, cancelled } = checkRuns(thread, log);
      total.runs += runs;
      total.cancelled += cancelled;
    }
    const seen = [...witness.entries.values()].reduce((sum, log) => sum + log.size, 0);
    const counts = (["submit", "withdraw", "cancel", "update"] as const)
      .map((type) => `${witness.count(type)} ${type}`)
      .join(", ");
    console.log(
      `kill -9: ${ROUNDS} rounds, acks: ${counts}; ${seen} entries seen, ` +
        `${total.runs} runs, ${total.cancelled} cancelled; none lost`,
    );
    expect(total.runs).toBeGreaterThan(0);
    // A round may be killed before anything happened; all of them together must not say nothing.
    if (ROUNDS >= 25) {
      expect(total.cancelled).toBeGreaterThan(0);
      for (const type of ["submit", "withdraw", "cancel", "update"] as const)
        expect(witness.count(type), `acknowledged ${type} requests`).toBeGreaterThan(0);
    }
  },
  SOAK ? 900_000 : 150_000,
);
