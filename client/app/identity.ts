import { newId } from "./new-id.ts";
import { keep, kept } from "./storage.ts";

/** A guest: the name others see, and an id of its own when this window is somebody else than the browser. */
export type Me = { name: string; id?: string };

const NAME = "name";
const OTHER = "someone-else";

/** Longest name, in characters. */
export const NAME_MAX = 40;

// Control characters, and those that turn the direction of the text around them.
const UNSEEN = /[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu;

/** The name of whoever uses this browser, whatever this window is. */
export function browserName(): string | null {
  return kept("browser", NAME);
}

/** Who this window is: `null` when it has to be asked. `other` when it is not who the browser is. */
export function readMe(): { me: Me | null; other: boolean } {
  const other = parse(kept("window", OTHER));
  if (other) return { me: other.name === "" ? null : other, other: true };
  const name = browserName();
  return { me: name ? { name } : null, other: false };
}

/** Gives whoever this window is a name. */
export function nameMe(given: string): Me {
  const name = cleanName(given);
  const other = parse(kept("window", OTHER));
  if (!other) {
    keep("browser", NAME, name);
    return { name };
  }
  const me = { ...other, name };
  keep("window", OTHER, JSON.stringify(me));
  return me;
}

/**
 * Makes this window, and only this one, somebody else; without a name they are asked for it.
 * @param id whom exactly; default: somebody new
 */
export function becomeSomeoneElse(name = "", id = newId()): void {
  keep("window", OTHER, JSON.stringify({ id, name: cleanName(name) }));
}

/** Makes this window who the browser is again. */
export function becomeMyself(): void {
  keep("window", OTHER, null);
}

/** One line, without what cannot be seen, at most {@link NAME_MAX} characters. */
export function cleanName(name: string): string {
  return Array.from(name.replace(UNSEEN, " ").trim()).slice(0, NAME_MAX).join("");
}

function parse(text: string | null): (Me & { id: string }) | null {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    const { id, name } = (value ?? {}) as { id?: unknown; name?: unknown };
    return typeof id === "string" && typeof name === "string" ? { id, name } : null;
  } catch {
    return null;
  }
}
