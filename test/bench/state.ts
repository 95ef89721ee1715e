import { SharedState } from "../../server/room/shared-state.ts";
import { diffJson } from "../../shared/json-crdt/diff.ts";
import { compileTextPaths } from "../../shared/json-crdt/text-paths.ts";
import type { AGUIEvent, Author, Entry, Json, JsonPatch, NewEntry } from "../../shared/protocol/index.ts";
import { Timeline } from "../../shared/timeline/index.ts";
import { besidePeer, forInformation, type Line } from "./line.ts";
import type { Bench } from "./runner.ts";
import { words } from "./sample-events.ts";
import { median, type Pair } from "./statistics.ts";

const TEXTS = compileTextPaths(["/document"]);
const ANA: Author = { kind: "user", id: "ana", name: "Ana" };
const LIMITS = { characters: 40_000_000, values: 5_000_000 };
const KB = 1_000;

/** A log in memory and the shared state over it. */
class StateBench {
  readonly timeline = new Timeline();
  readonly shared: SharedState;
  private runs = 0;

  constructor(state: Json) {
    this.log({ kind: "state", run: null, patch: [{ op: "replace", path: "", value: state }], via: "patch" });
    this.shared = new SharedState(
      TEXTS,
      0,
      null,
      () => this.timeline.state,
      [],
      this.timeline.seq,
      undefined,
      LIMITS,
    );
    this.shared.take(true);
  }

  log(entry: NewEntry): void {
    this.timeline.apply({ seq: this.timeline.seq + 1, at: 1, ...entry } as Entry);
  }

  begin(): string {
    this.runs += 1;
    const run = `r${this.runs}`;
    this.shared.begin(run, "planner", {}, false);
    return run;
  }

  person(...patch: JsonPatch): void {
    this.shared.patch(this, ANA, patch, this.timeline.seq, "ana");
  }

  agent(run: string, ...delta: JsonPatch): void {
    this.shared.event(this, run, run, { type: "STATE_DELTA", delta } as unknown as AGUIEvent);
  }
}

type Operation = (bench: StateBench, value: number) => JsonPatch;
const SHAPES: { name: string; make: (bytes: number) => Json; change: Operation; isSearch?: true }[] = [
  {
    name: "a member of a map",
    make: (bytes) => ({ map: Object.fromEntries(rows(bytes).map((row) => [row.id, row])) }),
    change: (_bench, value) => [{ op: "replace", path: "/map/i3/n", value }],
  },
  {
    name: "the head of an array",
    make: (bytes) => ({ list: rows(bytes) }),
    change: (_bench, value) => [{ op: "replace", path: "/list/0/n", value }],
  },
  {
    name: "the tail of an array",
    make: (bytes) => ({ list: rows(bytes) }),
    change: ({ timeline }, value) => {
      const { list } = timeline.state as { list: unknown[] };
      return [{ op: "replace", path: `/list/${list.length - 1}/n`, value }];
    },
    isSearch: true,
  },
];

/** Rows of 120 characters of JSON or so, with the key they have in a map. */
function rows(bytes: number) {
  return Array.from({ length: Math.round(bytes / 120) }, (_, i) => ({ id: `i${i}`, n: 0, title: words(70) }));
}

/** Milliseconds that one of many calls takes. */
function each(times: number, work: (i: number) => void): number {
  const taken = Array.from({ length: times }, (_, i) => {
    const start = performance.now();
    work(i);
    return performance.now() - start;
  });
  return median(taken);
}

/**
 * What one operation on the shared state costs: a person's patch, an agent's delta through its replica, the start
 * of a run, and a difference of lists. In process, without a store.
 */
export const state: Bench = async (run) => {
  const times = run.quick ? 20 : 200;
  const lines: Line[] = [];
  const sizes = [10, 100, 1_000, 10_000].map((kb) => kb * KB);
  const info = (name: string, values: number[]) =>
    lines.push(forInformation({ bench: "state", case: name, unit: "ms", values }));

  for (const { name, make, change, isSearch } of SHAPES) {
    for (const who of ["a person's patch", "an agent's delta"]) {
      const values = new Map<number, number[]>(sizes.map((size) => [size, []]));
      for (let i = 0; i < run.runs; i += 1) {
        run.say(`${name}, ${who}, run ${i + 1} of ${run.runs}`);
        for (const size of sizes) {
          const bench = new StateBench(make(size));
          const id = bench.begin();
          const one = (n: number) =>
            who === "a person's patch"
              ? bench.person(...change(bench, n + 1))
              : bench.agent(id, ...change(bench, n + 1));
          // The first one finds the state's size, and the run's replica parts from the document.
          each(5, (n) => one(-10 - n));
          values.get(size)?.push(each(times, one));
        }
      }
      const at = (size: number) => values.get(size) as number[];
      for (const size of sizes.slice(0, 3)) info(`${who}, ${name}, ${size / KB} KB`, at(size));
      const pairs: Pair[] = at(10_000 * KB).map((ours, i) => ({ ours, theirs: at(100 * KB)[i] as number }));
      lines.push(
        besidePeer({
          bench: "state",
          case: `${who}, ${name}, 10,000 KB`,
          unit: "ms",
          peer: "the same at 100 KB",
          pairs,
          better: "lower",
          ...(!isSearch && { bound: { atMost: 2 } }),
        }),
      );
    }
  }

  for (const size of [1, 10, 100, 1_000].map((kb) => kb * KB)) {
    const values = repeat(run.runs, () => {
      const bench = new StateBench({ document: words(size) });
      const text = () => (bench.timeline.state as { document: string }).document;
      const half = Math.floor(size / 2);
      return each(times, () => {
        const now = text();
        bench.person({ op: "replace", path: "/document", value: `${now.slice(0, half)}x${now.slice(half)}` });
      });
    });
    info(`a keystroke as a person's patch, a text of ${size / KB} KB`, values);
  }

  for (const size of sizes) {
    run.say(`the start of a run, ${size / KB} KB`);
    const first: number[] = [];
    const later: number[] = [];
    for (let i = 0; i < run.runs; i += 1) {
      const bench = new StateBench({ list: rows(size) });
      first.push(each(1, () => bench.shared.end(bench.begin())));
      later.push(
        each(5, (n) => {
          bench.person({ op: "replace", path: "/list/0/n", value: n + 1 });
          bench.shared.end(bench.begin());
        }),
      );
    }
    info(`the first run of a thread, ${size / KB} KB`, first);
    info(`a later run, its replica standing, one patch since, ${size / KB} KB`, later);
  }

  const items = rows(120 * KB);
  const changed = items.flatMap((row, i) => (i % 100 === 7 ? [] : [i % 50 === 0 ? { ...row, n: 1 } : row]));
  info(
    "a keyed difference of 1,000 items, 10 removed and 20 changed",
    repeat(run.runs, () => each(times, () => diffJson({ items }, { items: changed }))),
  );
  return lines;
};

function repeat(runs: number, measure: () => number): number[] {
  return Array.from({ length: runs }, measure);
}
