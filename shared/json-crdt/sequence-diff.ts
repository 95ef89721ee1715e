import imported from "@jest/diff-sequences";

// The package's types describe its CommonJS build, whose default export is one level deeper.
const diffSequences = imported as unknown as typeof imported.default;

/** Comparisons between two looks at the clock. */
const STRIDE = 512;

/**
 * Time for work that can be cut short. Only that work is measured: what has to be done anyway, and pauses
 * between, take nothing off.
 */
export class TimeBudget {
  private rest: number;
  private readonly now: () => number;
  private since: number | null = null;

  /**
   * @param milliseconds how much there is
   * @param now a clock in milliseconds; default `performance.now`
   */
  constructor(milliseconds: number, now: () => number = () => performance.now()) {
    this.rest = milliseconds;
    this.now = now;
  }

  /** What is left, in milliseconds; 0 or less when it is spent. */
  get left(): number {
    return this.since === null ? this.rest : this.rest - (this.now() - this.since);
  }

  /** Does work, and takes the time that it took off. */
  spend<T>(work: () => T): T {
    const start = this.now();
    this.since = start;
    try {
      return work();
    } finally {
      this.since = null;
      this.rest -= this.now() - start;
    }
  }
}

class OutOfTime extends Error {}

/**
 * A longest common subsequence of two lists.
 *
 * What stands on one side only cannot be part of it and is left out beforehand: two lists that share little
 * are the slowest for the algorithm, and the most frequent when a list was written anew.
 *
 * @param from numbers or texts that stand for the elements; equal elements have equal ones
 * @param to the same of the other list
 * @param budget time for the search
 * @returns pairs of indexes in `from` and `to`, both ascending; `null` when time ran out
 */
export function commonSequence(
  from: readonly unknown[],
  to: readonly unknown[],
  budget: TimeBudget,
): [number, number][] | null {
  const inFrom = new Set(from);
  const inTo = new Set(to);
  const left = [...from.keys()].filter((i) => inTo.has(from[i]));
  const right = [...to.keys()].filter((j) => inFrom.has(to[j]));
  const pairs: [number, number][] = [];
  let comparisons = 0;
  const isCommon = (i: number, j: number) => {
    comparisons += 1;
    if (comparisons % STRIDE === 0 && budget.left <= 0) throw new OutOfTime();
    return from[left[i]!] === to[right[j]!];
  };
  try {
    budget.spend(() =>
      diffSequences(left.length, right.length, isCommon, (length, i, j) => {
        for (let k = 0; k < length; k++) pairs.push([left[i + k]!, right[j + k]!]);
      }),
    );
  } catch (error) {
    if (error instanceof OutOfTime) return null;
    throw error;
  }
  return pairs;
}
