import { useRef, useState } from "react";
import { type Asked, askedAt, type Named, offered } from "./mentions.ts";

/** What a field tells of where one writes in it, and asks before it takes a key itself. */
export type MentionEvents = {
  /** @param place of the caret; `null` when nobody writes there */
  caret(text: string, place: number | null): void;
  /** @returns whether the key was for the list of names */
  key(key: string): boolean;
};

/** The names that are offered to who writes an `@`. */
export type Mentioning = MentionEvents & {
  items: readonly Named[];
  /** Place among the items. */
  active: number;
  choose(item: Named): void;
};

const NONE: readonly never[] = [];

/**
 * Completes what is written behind an `@`.
 * @param put writes a text in the place of another one
 */
export function useMentions(
  names: readonly Named[],
  put: (from: number, to: number, text: string) => void,
): Mentioning {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [at, setAt] = useState(0);
  /** Where the `@` stands whose list was closed. */
  const closed = useRef<number | null>(null);
  const items = asked ? offered(names, asked.query) : NONE;
  const active = Math.min(at, Math.max(0, items.length - 1));

  const choose = ({ name }: Named) => {
    if (!asked) return;
    setAsked(null);
    put(asked.from, asked.to, `@${name} `);
  };
  return {
    items,
    active,
    choose,
    caret(text, place) {
      const now = place === null ? null : askedAt(text, place);
      if (now === null) closed.current = null;
      const isOpen = now !== null && now.from !== closed.current;
      if (now?.query !== asked?.query) setAt(0);
      setAsked(isOpen ? now : null);
    },
    key(key) {
      const item = items[active];
      if (!asked || !item) return false;
      if (key === "ArrowDown") setAt((active + 1) % items.length);
      else if (key === "ArrowUp") setAt((active + items.length - 1) % items.length);
      else if (key === "Enter" || key === "Tab") choose(item);
      else if (key === "Escape") {
        closed.current = asked.from;
        setAsked(null);
      } else return false;
      return true;
    },
  };
}
