/** Largest number of letters that may differ. */
const FAR = 2;

/**
 * What somebody may have meant by a word that does not exist: the most similar of those that do, with at most
 * two letters added, left out or changed. Case, dashes and underscores do not count.
 * @returns `undefined` when none is similar enough
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = FAR + 1;
  for (const candidate of known) {
    const d = distance(plain(word), plain(candidate));
    if (d < least && d < plain(candidate).length) [best, least] = [candidate, d];
  }
  return best;
}

const plain = (word: string) => word.replaceAll(/[-_]/g, "").toLowerCase();

/** Levenshtein's distance, one row at a time. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > FAR) return FAR + 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
