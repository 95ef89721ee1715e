/** One paired run: what we measured, and what the peer did right beside it. */
export type Pair = { ours: number; theirs: number };

/**
 * The value in the middle; between the two middle ones of an even number.
 * @throws RangeError without values
 */
export function median(values: readonly number[]): number {
  const sorted = inOrder(values);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] as number) + (sorted[Math.floor(half)] as number)) / 2;
}

/**
 * The pair whose ratio ours / theirs is the middle one; of an even number, the worse of the two middle ones.
 * A pair is kept whole because machines have better and worse minutes: both sides of one pair had the same.
 * @param better whether a `higher` or a `lower` ratio is the better one
 * @throws RangeError without pairs
 */
export function medianPair(pairs: readonly Pair[], better: "higher" | "lower"): Pair {
  const ratio = ({ ours, theirs }: Pair) => ours / theirs;
  const sorted = [...pairs].sort((a, b) => ratio(a) - ratio(b));
  const half = sorted.length / 2;
  const middle = sorted[better === "higher" ? Math.ceil(half) - 1 : Math.floor(half)];
  if (!middle) throw new RangeError("There is no median of nothing.");
  return middle;
}

/**
 * The smallest value that at least `percent` % of the values do not exceed.
 * @throws RangeError without values
 */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = inOrder(values);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] as number;
}

function inOrder(values: readonly number[]): number[] {
  if (values.length === 0) throw new RangeError("There is no median of nothing.");
  return [...values].sort((a, b) => a - b);
}
