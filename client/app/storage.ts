/** What the app keeps in a browser: for this window, or for all of them. */
export type Shelf = "window" | "browser";

// Frames of one page share the storage of their window; a name tells them apart.
const PREFIX = window.parent === window ? "cothread." : `cothread.${window.name}.`;

// A browser may forbid its storage or have no room left; the app then forgets, and works.
const open = (shelf: Shelf) => (shelf === "window" ? window.sessionStorage : window.localStorage);

/** Reads a text that {@link keep} put there; `null` when there is none. */
export function kept(shelf: Shelf, key: string): string | null {
  try {
    return open(shelf).getItem(PREFIX + key);
  } catch {
    return null;
  }
}

/** Keeps a text; `null` or nothing removes it. */
export function keep(shelf: Shelf, key: string, text: string | null): void {
  try {
    if (text) open(shelf).setItem(PREFIX + key, text);
    else open(shelf).removeItem(PREFIX + key);
  } catch {
    // See above.
  }
}
