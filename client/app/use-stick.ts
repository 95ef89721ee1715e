import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";
import { type Anchor, anchorOf, type Box, followsAfterScroll, NEAR_PX, scrollBack, toEnd } from "./stick.ts";

/**
 * A box that follows its end while whoever reads is there, and otherwise shows what it shows. Its functions are
 * the same ones for good.
 */
export type Stick = {
  box: RefObject<HTMLDivElement | null>;
  column: RefObject<HTMLDivElement | null>;
  following: boolean;
  onScroll(): void;
  /** Goes to the end and follows it. */
  follow(): void;
  /** What changes its size now leaves this element where it is, also at the end. */
  holdStill(element: Element): void;
};

/** Makes a {@link Stick}. What it keeps in place has the id of its message in `data-message`. */
export function useStick(): Stick {
  const box = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const follows = useRef(true);
  const last = useRef<Box>({ scrollTop: 0, scrollHeight: 0, clientHeight: 0 });
  const anchor = useRef<Anchor<Element | string> | null>(null);
  const held = useRef(false);

  const become = useCallback((now: boolean) => {
    follows.current = now;
    setFollowing(now);
  }, []);

  const remember = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    last.current = { scrollTop, scrollHeight, clientHeight };
    held.current = false;
    anchor.current = anchorOf(placedIn(element, column.current));
  }, []);

  const resized = useCallback(() => {
    const element = box.current;
    if (!element) return;
    if (follows.current && !held.current) element.scrollTop = element.scrollHeight;
    else {
      const item = found(column.current, anchor.current?.item);
      const top = item ? topIn(element, item) : undefined;
      const by = scrollBack(anchor.current, top);
      // A fraction of a pixel cannot be scrolled.
      if (Math.abs(by) >= 1) element.scrollTop += by;
      if (held.current) become(toEnd(element) <= NEAR_PX);
    }
    remember();
  }, [become, remember]);

  useLayoutEffect(() => {
    if (!box.current || !column.current) return;
    const observer = new ResizeObserver(resized);
    observer.observe(box.current);
    observer.observe(column.current);
    return () => observer.disconnect();
  }, [resized]);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    become(followsAfterScroll(follows.current, last.current, element));
    if (!held.current) remember();
  }, [become, remember]);

  const follow = useCallback(() => {
    become(true);
    held.current = false;
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
    remember();
  }, [become, remember]);

  const holdStill = useCallback((item: Element) => {
    if (!box.current) return;
    anchor.current = { item, offset: topIn(box.current, item) };
    held.current = true;
  }, []);

  return { box, column, following, onScroll, follow, holdStill };
}

const topIn = (box: Element, item: Element) =>
  item.getBoundingClientRect().top - box.getBoundingClientRect().top;

/** Messages are known by their ids: their elements may be made anew when others come before them. */
function* placedIn(box: Element, column: Element | null) {
  const base = box.getBoundingClientRect().top;
  for (const element of column?.querySelectorAll("[data-message]") ?? []) {
    const { top, bottom } = element.getBoundingClientRect();
    yield { item: element.getAttribute("data-message") ?? "", top: top - base, bottom: bottom - base };
  }
}

function found(column: Element | null, item: Element | string | undefined): Element | null {
  if (item === undefined) return null;
  if (typeof item === "string") return column?.querySelector(`[data-message="${CSS.escape(item)}"]`) ?? null;
  return item.isConnected ? item : null;
}
