/** A JSON Pointer that is not one, or that leads nowhere. */
export class PointerError extends Error {
  override name = "PointerError";
}

// Keys that reach an object's prototype when they are assigned. They are refused wherever they appear, so
// that no later code has to think of them.
const RESERVED = /^(__proto__|constructor|prototype)$/;

/** Whether a key is one of `__proto__`, `constructor` and `prototype`, which no shared state may have. */
export function isReservedKey(key: string): boolean {
  return RESERVED.test(key);
}

/**
 * Splits an RFC 6901 pointer into its unescaped tokens.
 * @param pointer `""` or a string that begins with `/`
 * @returns the tokens; none for the whole document
 * @throws PointerError when a `~` is not followed by 0 or 1, the first character is not `/`, or a token is
 *   `__proto__`, `constructor` or `prototype`
 */
export function parsePointer(pointer: string): string[] {
  if (pointer === "") return [];
  if (pointer[0] !== "/") throw new PointerError('a JSON Pointer must begin with "/"');
  if (/~(?![01])/.test(pointer)) throw new PointerError('a "~" must be "~0" or "~1"');
  return pointer
    .slice(1)
    .split("/")
    .map((token) => {
      const plain = token.includes("~") ? token.replaceAll("~1", "/").replaceAll("~0", "~") : token;
      if (isReservedKey(plain)) throw new PointerError(`"${plain}" is a reserved key`);
      return plain;
    });
}

/** Whether a pointer leads to what another one does, or to something within that. */
export function isWithin(pointer: string, holder: string): boolean {
  return `${pointer}/`.startsWith(`${holder}/`);
}

/**
 * Joins tokens into an RFC 6901 pointer; the inverse of {@link parsePointer}.
 * @param tokens keys and indexes from the root
 */
export function formatPointer(tokens: readonly (string | number)[]): string {
  return tokens.map((t) => `/${String(t).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/**
 * Reads an array index token as RFC 6901 writes it: no sign, no leading zero.
 * @returns the index; `length` for `-` (the place behind the last element)
 * @throws PointerError for anything else
 */
export function parseIndex(token: string, length: number): number {
  if (token === "-") return length;
  if (!/^(0|[1-9][0-9]*)$/.test(token)) throw new PointerError(`"${token}" is not an array index`);
  return Number(token);
}
