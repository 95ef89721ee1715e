import type { Line } from "./line.ts";

/** A figure as one line of JSON. */
export function jsonLine(line: Line): string {
  const { bench, case: name, unit, ours, peer, theirs, ratio, bound, pass } = line;
  return JSON.stringify({ bench, case: name, unit, ours, peer, theirs, ratio, bound, pass });
}

const HEAD = ["", "case", "ours", "theirs", "unit", "ratio", "bound", ""];

/** Figures as a table for people, benches one below the other. */
export function table(lines: readonly Line[]): string {
  const rows = lines.map((line, i) => [
    line.bench === lines[i - 1]?.bench ? "" : line.bench,
    line.peer === null ? line.case : `${line.case}; against ${line.peer}`,
    figure(line.ours),
    figure(line.theirs),
    line.unit,
    line.ratio === null ? "" : String(line.ratio),
    line.bound === null ? "" : String(line.bound),
    line.pass === null ? "" : line.pass ? "ok" : "MISSED",
  ]);
  const all = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => (row[column] as string).length)));
  const right = new Set([2, 3, 5, 6]);
  return all
    .map((row) =>
      row
        .map((cell, i) =>
          right.has(i) ? cell.padStart(widths[i] as number) : cell.padEnd(widths[i] as number),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function figure(value: number | null): string {
  return value === null ? "" : value.toLocaleString("en-US", { maximumFractionDigits: 3 });
}
