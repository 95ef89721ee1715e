import { parseArgs } from "node:util";

/** What the command line asks for. */
export type BenchOptions = {
  /** Names of benches, in the order of the command line; all of them when none was named. */
  names: string[];
  json: boolean;
  /** Paired runs per figure; at least 3 unless `quick`. */
  runs: number;
  /** Small sizes: shows that everything works, says nothing about speed. */
  quick: boolean;
  /** Folder for CPU profiles of the processes that are measured; `undefined` = none. */
  profile: string | undefined;
};

/** What is wrong with the command line, as one sentence. */
export class BenchUsageError extends Error {
  override name = "BenchUsageError";
}

/**
 * Reads the command line.
 * @param known the benches there are
 * @throws BenchUsageError
 */
export function parseBenchOptions(argv: readonly string[], known: readonly string[]): BenchOptions {
  const { values, positionals } = parse(argv);
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new BenchUsageError(`There is no bench "${unknown}"; there are ${known.join(", ")}.`);
  const quick = values.quick === true;
  const least = quick ? 1 : 3;
  const runs = values.runs === undefined ? least : Number(values.runs);
  if (!Number.isInteger(runs) || runs < least)
    throw new BenchUsageError(
      quick
        ? "--runs takes a whole number from 1."
        : "--runs takes a whole number from 3; fewer say nothing.",
    );
  return {
    names: positionals.length > 0 ? [...new Set(positionals)] : [...known],
    json: values.json === true,
    runs,
    quick,
    profile: values.profile,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        json: { type: "boolean" },
        quick: { type: "boolean" },
        runs: { type: "string" },
        profile: { type: "string" },
      },
    });
  } catch (error) {
    const sentence = (error as Error).message.split(". ")[0] ?? "";
    throw new BenchUsageError(`${sentence.replace(/\.$/, "")}.`);
  }
}
