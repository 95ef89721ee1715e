/** How many different sentences are told; who connects chooses what stands in them. */
const MOST = 100;

/**
 * Tells each sentence once, so that a page that tries again for ever fills no log, and a hundred at most.
 * @returns gives a sentence; false when it is not told
 */
export function toldOnce(tell: (sentence: string) => void): (sentence: string) => boolean {
  const told = new Set<string>();
  return (sentence) => {
    if (told.has(sentence) || told.size >= MOST) return false;
    told.add(sentence);
    tell(sentence);
    return true;
  };
}
