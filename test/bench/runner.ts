import type { Line } from "./line.ts";
import { type BenchOptions, BenchUsageError, parseBenchOptions } from "./options.ts";
import { jsonLine, table } from "./output.ts";

/** What a bench gets. */
export type BenchRun = Pick<BenchOptions, "runs" | "quick" | "profile"> & {
  /** Tells people how far it is. */
  say(progress: string): void;
};

/** Measures, and gives its figures; throws when something keeps it from measuring. */
export type Bench = (run: BenchRun) => Promise<Line[]>;

/** The benches there are, by name, in the order in which they run; loaded when they are wanted. */
export type Catalogue = Record<string, () => Promise<Bench>>;

/**
 * Runs benches as the command line says and prints their figures.
 * @param print one line for standard output
 * @param tell one line for standard error
 * @returns the exit status: 0 when everything was measured, whether bounds were held or missed; 1 when the
 *   command line is wrong or a bench could not be run
 */
export async function runBenches(
  argv: readonly string[],
  catalogue: Catalogue,
  print: (line: string) => void,
  tell: (line: string) => void,
): Promise<number> {
  let options: BenchOptions;
  try {
    options = parseBenchOptions(argv, Object.keys(catalogue));
  } catch (error) {
    if (!(error instanceof BenchUsageError)) throw error;
    tell(error.message);
    return 1;
  }
  const { names, json, runs, quick, profile } = options;
  const measured: Line[] = [];
  let status = 0;
  for (const name of names) {
    try {
      const bench = await (catalogue[name] as Catalogue[string])();
      const say = (progress: string) => tell(`${name}: ${progress}`);
      const lines = await bench({ runs, quick, profile, say });
      if (json) for (const line of lines) print(jsonLine(line));
      measured.push(...lines);
    } catch (error) {
      status = 1;
      tell(`${name} could not be measured: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (!json && measured.length > 0) print(table(measured));
  return status;
}
