/** One change of a text: so many UTF-16 units deleted at a place, and what stands there instead. */
export type Splice = { at: number; deleted: number; inserted: string };

/** What leads from one text to another, as one change. */
export function spliceOf(from: string, to: string): Splice {
  const most = Math.min(from.length, to.length);
  let at = 0;
  while (at < most && from[at] === to[at]) at += 1;
  if (isInsidePair(from, at) || isInsidePair(to, at)) at -= 1;
  let end = 0;
  while (end < most - at && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  if (isInsidePair(from, from.length - end) || isInsidePair(to, to.length - end)) end -= 1;
  return { at, deleted: from.length - end - at, inserted: to.slice(at, to.length - end) };
}

/**
 * Puts what two people made of one text together. Where both changed the same place, what both wrote stands.
 * @param base what both began with
 * @param mine what one of them has now
 * @param theirs what the other has
 */
export function mergeTexts(base: string, mine: string, theirs: string): string {
  if (mine === base || mine === theirs) return theirs;
  if (theirs === base) return mine;
  const a = spliceOf(base, theirs);
  const b = spliceOf(base, mine);
  const [first, last] = a.at <= b.at ? [a, b] : [b, a];
  if (first.at + first.deleted <= last.at)
    return (
      base.slice(0, first.at) +
      first.inserted +
      base.slice(first.at + first.deleted, last.at) +
      last.inserted +
      base.slice(last.at + last.deleted)
    );
  const end = Math.max(a.at + a.deleted, b.at + b.deleted);
  return base.slice(0, first.at) + a.inserted + b.inserted + base.slice(end);
}

/** Where a caret stands after a text became another one around it. */
export function movedCaret(caret: number, from: string, to: string): number {
  const { at, deleted, inserted } = spliceOf(from, to);
  if (caret <= at) return caret;
  return caret >= at + deleted ? caret + inserted.length - deleted : at + inserted.length;
}

/** Whether a place lies between the halves of one character. */
function isInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}
