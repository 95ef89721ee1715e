/** How long after the last key somebody still counts as typing, ms. */
export const STILL_MS = 3_000;
/** How often it is said anew while it goes on, ms. The others forget it after six seconds. */
const AGAIN_MS = 2_000;

/** Tells the others that somebody is typing, not more often than needed. */
export interface Typing {
  /** A key was pressed, and there is something to send. */
  pressed(): void;
  /** It was sent, deleted or left. */
  ended(): void;
}

/** Makes a {@link Typing}. @param tell tells the others */
export function createTyping(tell: (typing: boolean) => void): Typing {
  let still: ReturnType<typeof setTimeout> | undefined;
  let told = 0;
  const ended = () => {
    clearTimeout(still);
    if (told > 0) tell(false);
    told = 0;
  };
  return {
    pressed() {
      clearTimeout(still);
      still = setTimeout(ended, STILL_MS);
      const now = Date.now();
      if (now - told < AGAIN_MS) return;
      told = now;
      tell(true);
    },
    ended,
  };
}
