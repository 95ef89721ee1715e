import { median, medianPair, type Pair } from "./statistics.ts";

/** What a figure is held to. */
export type Bound = { atLeast: number } | { atMost: number };

/**
 * One figure, as `--json` prints it. `ratio` is ours / theirs, or ours / bound where the bound is an absolute
 * one; `ratio`, `bound` and `pass` are `null` where there is nothing to compare with or to hold.
 */
export type Line = {
  bench: string;
  case: string;
  unit: string;
  ours: number;
  peer: string | null;
  theirs: number | null;
  ratio: number | null;
  bound: number | null;
  pass: boolean | null;
};

type Named = { bench: string; case: string; unit: string };

/** A figure beside a peer's: the pair with the middle ratio, held to `bound` when there is one. */
export function besidePeer(
  named: Named & { peer: string; pairs: readonly Pair[]; better: "higher" | "lower"; bound?: Bound },
): Line {
  const { peer, pairs, better, bound, ...rest } = named;
  const { ours, theirs } = medianPair(pairs, better);
  const ratio = ours / theirs;
  return {
    ...rest,
    ours: short(ours),
    peer,
    theirs: short(theirs),
    ratio: short(ratio),
    bound: bound ? limitOf(bound) : null,
    pass: bound ? holds(ratio, bound) : null,
  };
}

/** A figure held to an absolute bound: the median of the runs. */
export function againstBound(named: Named & { values: readonly number[]; atMost: number }): Line {
  const { values, atMost, ...rest } = named;
  const ours = median(values);
  const ratio = short(ours / atMost);
  return {
    ...rest,
    ours: short(ours),
    peer: null,
    theirs: null,
    ratio,
    bound: atMost,
    pass: holds(ours, { atMost }),
  };
}

/** A figure that says something and is held to nothing: the median of the runs. */
export function forInformation(named: Named & { values: readonly number[] }): Line {
  const { values, ...rest } = named;
  return {
    ...rest,
    ours: short(median(values)),
    peer: null,
    theirs: null,
    ratio: null,
    bound: null,
    pass: null,
  };
}

/** Whether a value is within a bound; the bound itself is. */
export function holds(value: number, bound: Bound): boolean {
  return "atLeast" in bound ? value >= bound.atLeast : value <= bound.atMost;
}

function limitOf(bound: Bound): number {
  return "atLeast" in bound ? bound.atLeast : bound.atMost;
}

/** Four digits: more would be noise. */
function short(value: number): number {
  return Number(value.toPrecision(4));
}
