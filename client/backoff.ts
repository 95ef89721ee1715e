/** Bounds of the waits between attempts, in ms. */
export type Backoff = {
  /** The first wait is at most this long. */
  minMs: number;
  /** No wait is longer than this. */
  maxMs: number;
};

/** What {@link Backoff} is unless the client is given another. */
export const BACKOFF: Backoff = { minMs: 500, maxMs: 20_000 };

/**
 * How long to wait before the next attempt: anywhere in [0, min(maxMs, minMs · 2^attempt)), so that clients
 * cut off together do not come back together.
 * @param attempt how many attempts in a row have failed before, from 0
 * @param random gives numbers in [0, 1)
 * @returns ms
 */
export function backoffMs(backoff: Backoff, attempt: number, random: () => number): number {
  return random() * Math.min(backoff.maxMs, backoff.minMs * 2 ** attempt);
}
