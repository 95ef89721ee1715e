import imported from "@jest/diff-sequences";

// The package's types describe its CommonJS build, whose default export is one level deeper.
const diffSequences = imported as unknown as typeof imported.default;

/** Comparisons between two looks at the clock. */
const STRIDE = 512;

/** A moment after which work is cut short. */
export type Deadline = { isOver(): boolean };

/**
 * A deadline some time from now.
 * @param milliseconds how long
 * @param now a clock in milliseconds
 */
export function deadlineIn(milliseconds: number, now: () => number): Deadline {
  const end = now() + milliseconds;
  return { isOver: () => now() > end };
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
 * @param deadline when to give up
 * @returns pairs of indexes in `from` and `to`, both ascending; `null` when time ran out
 */
export function commonSequence(
  from: readonly unknown[],
  to: readonly unknown[],
  deadline: Deadline,
): [number, number][] | null {
  const inFrom = new Set(from);
  const inTo = new Set(to);
  const left = [...from.keys()].filter((i) => inTo.has(from[i]));
  const right = [...to.keys()].filter((j) => inFrom.has(to[j]));
  const pairs: [number, number][] = [];
  let comparisons = 0;
  const isCommon = (i: number, j: number) => {
    comparisons += 1;
    if (comparisons % STRIDE === 0 && deadline.isOver()) throw new OutOfTime();
    return from[left[i]!] === to[right[j]!];
  };
  try {
    diffSequences(left.length, right.length, isCommon, (length, i, j) => {
      for (let k = 0; k < length; k++) pairs.push([left[i + k]!, right[j + k]!]);
    });
  } catch (error) {
    if (error instanceof OutOfTime) return null;
    throw error;
  }
  return pairs;
}
