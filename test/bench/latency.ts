import type { Pace } from "./latency-agent.ts";
import type { Delays, Reading } from "./latency-reader.ts";
import { againstBound, forInformation } from "./line.ts";
import { withParts } from "./part-process.ts";
import type { Bench } from "./runner.ts";
import { withTempFolder } from "./temp-folder.ts";

const EVERY_MS = 20;

/**
 * What the way through our server adds to an event's age: 20 threads at 50 events a second each, read from
 * the agent's SSE directly, then through HttpAgent, server, SQLite and WebSocket. Agent, server and reader
 * are three processes. An event's age is taken when it has been parsed, on the clock the machine's processes
 * share.
 */
export const latency: Bench = async (run) => {
  const threads = run.quick ? 4 : 20;
  const events = run.quick ? 100 : 600;
  const direct: Delays[] = [];
  const through: Delays[] = [];
  await withTempFolder((folder) =>
    withParts(async (start) => {
      const agent = await start("latency-agent");
      const agentUrl = await agent.call<string>("start", { events, everyMs: EVERY_MS } satisfies Pace);
      const server = await start("latency-server", run.profile);
      const url = await server.call<string>("start", { store: `sqlite:${folder}/latency.db`, agentUrl });
      const reader = await start("latency-reader");
      const read = (call: string, from: string, name: string) =>
        reader.call<Delays>(call, { url: from, threads, name } satisfies Reading);
      for (let i = 1; i <= run.runs; i += 1) {
        const plain = await read("direct", agentUrl, `direct-${i}`);
        const ours = await read("through", url, `through-${i}`);
        run.say(`run ${i} of ${run.runs}: direct ${told(plain)}; through the server ${told(ours)}`);
        direct.push(plain);
        through.push(ours);
      }
    }),
  );
  const named = { bench: "latency", unit: "ms" };
  const what = `${threads} threads × ${1000 / EVERY_MS} events/s`;
  const added = (of: "p50" | "p99") => through.map((delays, i) => delays[of] - (direct[i] as Delays)[of]);
  const whole = (name: string, of: Delays[], which: "p50" | "p99") =>
    forInformation({ ...named, case: `${what}: ${which} ${name}`, values: of.map((d) => d[which]) });
  return [
    againstBound({
      ...named,
      case: `${what}: p50 added to the agent's SSE`,
      values: added("p50"),
      atMost: 1,
    }),
    againstBound({
      ...named,
      case: `${what}: p99 added to the agent's SSE`,
      values: added("p99"),
      atMost: 5,
    }),
    whole("of the agent's SSE read directly", direct, "p50"),
    whole("of the agent's SSE read directly", direct, "p99"),
    whole("through the server", through, "p50"),
    whole("through the server", through, "p99"),
  ];
};

function told({ p50, p99, worst, events }: Delays): string {
  return `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}, worst ${worst.toFixed(1)} ms of ${events} events`;
}
