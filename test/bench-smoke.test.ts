import { expect, test } from "vitest";
import { CATALOGUE } from "./bench/catalogue.ts";
import { againstBound, besidePeer, forInformation, holds, type Line } from "./bench/line.ts";
import { BenchUsageError, parseBenchOptions } from "./bench/options.ts";
import { jsonLine, table } from "./bench/output.ts";
import { type Catalogue, runBenches } from "./bench/runner.ts";
import { median, medianPair, percentile } from "./bench/statistics.ts";

const KEYS = ["bench", "case", "unit", "ours", "peer", "theirs", "ratio", "bound", "pass"];
const named = { bench: "fanout", case: "100 readers", unit: "deliveries/s" };

test("the median is the value in the middle, or between the two", () => {
  expect(median([5, 1, 3])).toBe(3);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([10, 9, 100])).toBe(10);
  expect(() => median([])).toThrow(RangeError);
});

test("percentiles are values that were measured", () => {
  const values = Array.from({ length: 200 }, (_, i) => 200 - i);
  expect([percentile(values, 50), percentile(values, 99), percentile(values, 100)]).toEqual([100, 198, 200]);
  expect(percentile([7], 1)).toBe(7);
});

test("the median pair is one that was measured, by its ratio", () => {
  const slow = { ours: 10, theirs: 20 };
  const middle = { ours: 300, theirs: 400 };
  const fast = { ours: 99, theirs: 100 };
  expect(medianPair([fast, slow, middle], "higher")).toBe(middle);
  expect(medianPair([fast, slow], "higher")).toBe(slow);
  expect(medianPair([fast, slow], "lower")).toBe(fast);
  expect(() => medianPair([], "higher")).toThrow(RangeError);
});

test("bounds hold in their direction, and the bound itself is within", () => {
  expect([0.79, 0.8, 0.81].map((ratio) => holds(ratio, { atLeast: 0.8 }))).toEqual([false, true, true]);
  expect([1.49, 1.5, 1.51].map((ratio) => holds(ratio, { atMost: 1.5 }))).toEqual([true, true, false]);
});

test("a figure beside a peer's has the ratio ours / theirs", () => {
  const pairs = [{ ours: 90, theirs: 100 }];
  const peer = { ...named, peer: "bare ws", pairs, better: "higher" as const };
  expect(besidePeer({ ...peer, bound: { atLeast: 0.8 } })).toEqual({
    ...named,
    ours: 90,
    peer: "bare ws",
    theirs: 100,
    ratio: 0.9,
    bound: 0.8,
    pass: true,
  });
  expect(besidePeer(peer)).toMatchObject({ ratio: 0.9, bound: null, pass: null });
});

test("whether a bound holds is judged before figures are rounded", () => {
  const pairs = [{ ours: 0.79999, theirs: 1 }];
  const line = besidePeer({ ...named, peer: "p", pairs, better: "higher", bound: { atLeast: 0.8 } });
  expect(line).toMatchObject({ ratio: 0.8, pass: false });
});

test("a figure with an absolute bound has the ratio ours / bound and no peer", () => {
  const line = againstBound({ ...named, values: [3, 1, 2], atMost: 4 });
  expect(line).toMatchObject({ ours: 2, peer: null, theirs: null, ratio: 0.5, bound: 4, pass: true });
  expect(againstBound({ ...named, values: [5], atMost: 4 })).toMatchObject({ ratio: 1.25, pass: false });
});

test("a line of JSON has all fields in order, and nothing else", () => {
  const line = { ...forInformation({ ...named, values: [2] }), more: 1 } as Line;
  const text = jsonLine(line);
  expect(text).not.toContain("\n");
  expect(Object.keys(JSON.parse(text))).toEqual(KEYS);
});

test("the table has a row for each figure, names each bench once and marks what was missed", () => {
  const other = { bench: "size", case: "client", unit: "KB" };
  const lines = table([
    againstBound({ ...named, values: [1], atMost: 2 }),
    againstBound({ ...named, case: "1,000 readers", values: [3], atMost: 2 }),
    forInformation({ ...other, values: [12_340] }),
  ]).split("\n");
  expect(lines).toHaveLength(4);
  expect(lines.filter((line) => line.startsWith("fanout"))).toHaveLength(1);
  expect(lines[1]).toMatch(/ok$/);
  expect(lines[2]).toMatch(/MISSED$/);
  expect(lines[3]).toMatch(/^size .*12,340/);
});

test("without names every bench runs; a name given twice runs once", () => {
  const known = Object.keys(CATALOGUE);
  expect(known).toEqual([
    "fanout",
    "ingest",
    "join",
    "latency",
    "idle",
    "start",
    "state",
    "trace",
    "hostile",
    "yjs",
    "size",
  ]);
  const all = { names: known, json: false, runs: 3, quick: false, profile: undefined };
  expect(parseBenchOptions([], known)).toEqual(all);
  expect(parseBenchOptions(["size", "--json", "size", "--runs", "5"], known)).toMatchObject({
    names: ["size"],
    json: true,
    runs: 5,
  });
  expect(parseBenchOptions(["--quick"], known)).toMatchObject({ quick: true, runs: 1 });
});

test("what is wrong with the command line is told in one sentence", () => {
  for (const argv of [["fan"], ["--runs", "2"], ["--runs", "many"], ["--fast"], ["size", "--runs"]]) {
    const wrong = () => parseBenchOptions(argv, Object.keys(CATALOGUE));
    expect(wrong, argv.join(" ")).toThrow(BenchUsageError);
    expect(wrong, argv.join(" ")).toThrow(/^[^\n]+\.$/);
  }
});

/** Runs the runner over benches that measure nothing. */
async function run(argv: string[], catalogue: Catalogue) {
  const out: string[] = [];
  const told: string[] = [];
  const push = (to: string[]) => (line: string) => void to.push(line);
  const status = await runBenches(argv, catalogue, push(out), push(told));
  return { status, out, told };
}

const missed = againstBound({ ...named, values: [9], atMost: 1 });
const fakes: Catalogue = {
  missed:
    async () =>
    async ({ say }) => {
      say("half way");
      return [missed, missed];
    },
  broken: async () => async () => {
    throw new Error("there is no dist");
  },
};

test("an unknown name ends with one sentence and status 1, and nothing runs", async () => {
  const { status, out, told } = await run(["missed", "nosuch", "--json"], fakes);
  expect({ status, out }).toEqual({ status: 1, out: [] });
  expect(told).toEqual(['There is no bench "nosuch"; there are missed, broken.']);
});

test("a missed bound is a figure like any other: status 0, progress apart from figures", async () => {
  const { status, out, told } = await run(["missed", "--json"], fakes);
  expect(status).toBe(0);
  expect(out).toEqual([jsonLine(missed), jsonLine(missed)]);
  expect(told).toEqual(["missed: half way"]);
});

test("a bench that cannot be run is named, the others run, and the status is 1", async () => {
  const { status, out, told } = await run(["broken", "missed"], fakes);
  expect(status).toBe(1);
  expect(out).toEqual([table([missed, missed])]);
  expect(told[0]).toBe("broken could not be measured: there is no dist");
});
