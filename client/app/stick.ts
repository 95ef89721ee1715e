/** Where a scrolling box stands, px. */
export type Box = { scrollTop: number; scrollHeight: number; clientHeight: number };

/** So near to the end counts as being there, px. */
export const NEAR_PX = 32;

/** How far the end is from what is seen, px. */
export function toEnd({ scrollTop, scrollHeight, clientHeight }: Box): number {
  return Math.max(0, scrollHeight - clientHeight - scrollTop);
}

/**
 * Whether a box follows its end after it was scrolled. Going up lets go at once, however little it is and
 * whatever grows meanwhile: whoever reads must not be pulled back. A box that was pushed up because what is in
 * it shrank stands at its end. Coming near the end takes hold again.
 */
export function followsAfterScroll(followed: boolean, before: Box, now: Box): boolean {
  if (now.scrollTop < before.scrollTop) return toEnd(now) < 1;
  return followed || toEnd(now) <= NEAR_PX;
}

/** Something in the box that stays where it is seen, and how far its top is below that of the box, px. */
export type Anchor<T> = { item: T; offset: number };

/** One thing in the box: its top and bottom, measured from the top of the box, px. */
export type Placed<T> = { item: T; top: number; bottom: number };

/** The first thing that is seen. */
export function anchorOf<T>(items: Iterable<Placed<T>>): Anchor<T> | null {
  for (const { item, top, bottom } of items) if (bottom > 0) return { item, offset: top };
  return null;
}

/**
 * How far to scroll so that the anchor is where it was, px.
 * @param top where its top is now; `undefined` when it is gone
 */
export function scrollBack(anchor: Anchor<unknown> | null, top: number | undefined): number {
  return anchor && top !== undefined ? top - anchor.offset : 0;
}
