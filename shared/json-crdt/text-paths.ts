import { parsePointer } from "./pointer.ts";

/** Where text fields lie. */
export type TextPaths = {
  /** Whether a string at this path is a text field. */
  matches(path: readonly string[]): boolean;
  /** Whether a text field may lie at this path or below it. */
  mayLie(path: readonly string[]): boolean;
};

/**
 * Reads the patterns that say which strings of the state people edit as text.
 * @param patterns JSON Pointers such as `/document` and `/sections/*\/body`; `*` stands for any one token
 * @throws PointerError naming a pattern that is not one
 */
export function compileTextPaths(patterns: readonly string[]): TextPaths {
  const compiled = patterns.map((pattern) => parsePointer(pattern));
  const fits = (pattern: readonly string[], path: readonly string[]) =>
    path.every((token, i) => pattern[i] === "*" || pattern[i] === token);
  return {
    matches: (path) => compiled.some((pattern) => pattern.length === path.length && fits(pattern, path)),
    mayLie: (path) => compiled.some((pattern) => pattern.length >= path.length && fits(pattern, path)),
  };
}
