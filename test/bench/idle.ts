import { setTimeout } from "node:timers/promises";
import type { IdleClients } from "./idle-clients.ts";
import type { Memory } from "./idle-server.ts";
import { besidePeer } from "./line.ts";
import { withParts } from "./part-process.ts";
import type { Bench, BenchRun } from "./runner.ts";
import type { Pair } from "./statistics.ts";
import { withTempFolder } from "./temp-folder.ts";

const CLIENT_PROCESSES = 4;
const THREADS = 100;
/** Connections that come and go before memory is looked at first: code and buffers all servers need. */
const WARM_UP = 200;

/**
 * Resident memory a connection costs that has joined a thread and is silent: what the server has grown by,
 * after garbage collection, through the number of connections; beside a bare `ws` server with as many.
 */
export const idle: Bench = async (run) => {
  const connections = run.quick ? 400 : 5_000;
  const pairs = { rss: [] as Pair[], heap: [] as Pair[] };
  for (let i = 1; i <= run.runs; i += 1) {
    const ours = await measure("ours", connections, run);
    const theirs = await measure("bare", connections, run);
    for (const of of ["rss", "heap"] as const) pairs[of].push({ ours: ours[of], theirs: theirs[of] });
    run.say(`run ${i} of ${run.runs}, KB a connection: ${told(ours)}; bare ws ${told(theirs)}`);
  }
  const many = connections.toLocaleString("en-US");
  const named = { bench: "idle", unit: "KB", peer: "bare ws with as many", better: "lower" as const };
  const of = `per connection, ${many} that joined one of ${THREADS} threads`;
  return [
    besidePeer({ ...named, case: `resident memory ${of}`, pairs: pairs.rss, bound: { atMost: 1.5 } }),
    besidePeer({ ...named, case: `JavaScript heap ${of}`, pairs: pairs.heap }),
  ];
};

function told({ rss, heap }: Memory): string {
  return `${rss.toFixed(1)} resident, ${heap.toFixed(1)} heap`;
}

/** @returns KB (1,000 bytes) a connection */
async function measure(kind: "ours" | "bare", connections: number, run: BenchRun): Promise<Memory> {
  return withTempFolder((folder) =>
    withParts(async (start) => {
      const server = await start("idle-server", run.profile);
      const url = await server.call<string>(kind, { store: `sqlite:${folder}/idle.db` });
      const threads = kind === "ours" ? THREADS : 0;
      const parts = await Promise.all(Array.from({ length: CLIENT_PROCESSES }, () => start("idle-clients")));
      const open = (count: number) =>
        Promise.all(
          parts.map((part, i) => {
            const share = Math.ceil(count / CLIENT_PROCESSES);
            return part.call("open", { url, first: i * share, count: share, threads } satisfies IdleClients);
          }),
        );
      await open(WARM_UP);
      await Promise.all(parts.map((part) => part.call("close")));
      await setTimeout(1_000);
      const before = await server.call<Memory>("memory");
      await open(connections);
      // Who is here is still being told for a moment.
      await setTimeout(2_000);
      const after = await server.call<Memory>("memory");
      const alive = await Promise.all(parts.map((part) => part.call<number>("alive")));
      const held = alive.reduce((sum, n) => sum + n, 0);
      if (held < connections) throw new Error(`only ${held} of ${connections} connections stayed open`);
      const each = (of: keyof Memory) => (after[of] - before[of]) / 1000 / connections;
      return { rss: each("rss"), heap: each("heap") };
    }),
  );
}
