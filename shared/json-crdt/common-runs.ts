import sequences from "@jest/diff-sequences";

/**
 * Finds what two sequences have in common, as runs in order (Myers, linear space).
 * @param aLength how many items the first has; `bLength` the second
 * @param isCommon whether the items at two indexes are equal
 * @param found told of each run: its length, and where it begins in both
 */
export const commonRuns = sequences as unknown as (
  aLength: number,
  bLength: number,
  isCommon: (a: number, b: number) => boolean,
  found: (length: number, a: number, b: number) => void,
) => void;
