/** So many characters without a break are no word any more. */
const RUN = /\S{1000}/;

/**
 * The class for what shows a text: in a long run without a break every line a browser lays out makes it measure
 * the whole rest again if letters are kerned, and a key press then takes seconds.
 */
export function unbrokenClass(text: string): string | undefined {
  return RUN.test(text) ? "unbroken" : undefined;
}
