import { besidePeer, type Line } from "./line.ts";
import type { PartProcess } from "./part-process.ts";
import { withParts } from "./part-process.ts";
import type { Bench } from "./runner.ts";
import { withTempFolder } from "./temp-folder.ts";
import type { Typed, Typing, Way } from "./yjs-editors.ts";
import type { YjsServerStart } from "./yjs-servers.ts";

type Measured = Typed & { perSecond: number; perCpuSecond: number };

/**
 * One document that many people type into at once, by our document lane and our door, beside Hocuspocus 4. Ours checks
 * and stores every update before it hands it on; Hocuspocus as it is started here stores nothing.
 */
export const yjs: Bench = async (run) => {
  const lines: Line[] = [];
  await withTempFolder((folder) =>
    withParts(async (start) => {
      const servers: Record<YjsServerStart["kind"], PartProcess> = {
        ours: await start("yjs-server", run.profile),
        hocuspocus: await start("yjs-server"),
      };
      const store = `sqlite:${folder}/yjs.db`;
      const url: Record<string, string> = {};
      for (const kind of ["ours", "hocuspocus"] as const)
        url[kind] = await servers[kind].call<string>("start", { kind, store } satisfies YjsServerStart);
      const editors = await start("yjs-editors");

      const measure = async (way: Way, count: number, name: string): Promise<Measured> => {
        const kind = way === "hocuspocus" ? "hocuspocus" : "ours";
        const keys = run.quick ? 20 : count > 50 ? 100 : 300;
        const typing = {
          way,
          url: url[kind] as string,
          name,
          editors: count,
          keys,
          everyMs: count > 50 ? 50 : 20,
        };
        const before = await servers[kind].call<number>("cpuMs");
        const typed = await editors.call<Typed>("type", typing satisfies Typing);
        const cpu = (await servers[kind].call<number>("cpuMs")) - before;
        const perSecond = typed.delivered / (typed.ms / 1_000);
        const perCpuSecond = typed.delivered / (cpu / 1_000);
        run.say(
          `${name}: ${Math.round(perSecond)} updates/s, ${Math.round(perCpuSecond)} per CPU second, caret p50 ${typed.p50.toFixed(1)} p99 ${typed.p99.toFixed(1)} ms`,
        );
        return { ...typed, perSecond, perCpuSecond };
      };

      for (const count of run.quick ? [5] : [20, 100]) {
        const runs: Record<Way, Measured>[] = [];
        for (let i = 1; i <= run.runs; i += 1) {
          const measured = {} as Record<Way, Measured>;
          for (const way of ["lane", "door", "hocuspocus"] as const)
            measured[way] = await measure(way, count, `${way}-${count}-${i}`);
          runs.push(measured);
        }
        for (const way of ["lane", "door"] as const) lines.push(...told(way, count, runs));
      }
    }),
  );
  return lines;
};

function told(way: "lane" | "door", count: number, runs: Record<Way, Measured>[]): Line[] {
  const named = { bench: "yjs", peer: "Hocuspocus 4" };
  const what = `${way}, ${count} editors`;
  const pairs = (of: keyof Measured) =>
    runs.map((run) => ({ ours: run[way][of], theirs: run.hocuspocus[of] }));
  return [
    besidePeer({
      ...named,
      case: `${what}: updates delivered`,
      unit: "1/s",
      pairs: pairs("perSecond"),
      better: "higher",
    }),
    besidePeer({
      ...named,
      case: `${what}: updates delivered per server CPU second`,
      unit: "1/s",
      pairs: pairs("perCpuSecond"),
      better: "higher",
      bound: { atLeast: 1.5 },
    }),
    besidePeer({ ...named, case: `${what}: caret p50`, unit: "ms", pairs: pairs("p50"), better: "lower" }),
    besidePeer({ ...named, case: `${what}: caret p99`, unit: "ms", pairs: pairs("p99"), better: "lower" }),
  ];
}
