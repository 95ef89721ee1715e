import { PointerError, parsePointer } from "./pointer.ts";

/** Which places of the state are text fields. */
export type TextPaths = {
  /** Whether the value at this path is a text field when it is a string. */
  matches(path: readonly string[]): boolean;
  /** Whether a text field may lie at this path or anywhere below it. */
  mayLie(path: readonly string[]): boolean;
};

/**
 * Reads the patterns that name text fields.
 * @param patterns JSON Pointers such as `/document`, or with `*` between `/sections/` and `/body`: it stands
 *   for any one key or index, also for the key `*` itself
 * @returns what tells text fields from other values
 * @throws PointerError with a sentence that names a pattern that is none
 */
export function compileTextPaths(patterns: readonly string[]): TextPaths {
  const compiled = patterns.map(tokensOf);
  const fits = (tokens: string[], path: readonly string[]) =>
    path.every((token, i) => tokens[i] === "*" || tokens[i] === token);
  return {
    matches: (path) => compiled.some((tokens) => tokens.length === path.length && fits(tokens, path)),
    mayLie: (path) => compiled.some((tokens) => tokens.length >= path.length && fits(tokens, path)),
  };
}

function tokensOf(pattern: string): string[] {
  if (typeof pattern !== "string") throw new PointerError("A text path must be a string.");
  if (pattern === "")
    throw new PointerError('The text path "" names the whole state; a text field lies inside it.');
  try {
    return parsePointer(pattern);
  } catch (error) {
    throw new PointerError(
      `The text path ${JSON.stringify(pattern)} is not valid: ${(error as Error).message}.`,
    );
  }
}

/** No text fields at all: every string is a scalar. */
export const NO_TEXTS: TextPaths = { matches: () => false, mayLie: () => false };
