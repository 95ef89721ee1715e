/** A source of choices that gives the same choices again for the same seed. */
export type Random = {
  /** The next number, 0 ≤ n < 1. */
  next(): number;
  /** The next number, `low` ≤ n < `high`. */
  between(low: number, high: number): number;
  /** One element of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
};

/**
 * A repeatable {@link Random}: an xorshift generator whose state is the FNV-1a hash of the seed. Good enough
 * to vary prose and pauses, not for anything that must not be guessed.
 */
export function seededRandom(seed: string): Random {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  // xorshift never leaves zero
  state ||= 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  // seeds that differ in their last character only start close together
  for (let i = 0; i < 8; i++) next();
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    pick: <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T,
  };
}
