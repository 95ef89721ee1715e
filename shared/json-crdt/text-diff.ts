import { cleanupSemantic, DIFF_DELETE, DIFF_EQUAL, makeDiff } from "@sanity/diff-match-patch";
import { commonSequence, TimeBudget } from "./sequence-diff.ts";
import { splitsPair, type TextEdit } from "./text-edits.ts";

/** How {@link diffText} compares. */
export type TextDiffOptions = {
  /** Time for telling what stays, all blocks together, in milliseconds; default 20. */
  milliseconds?: number;
  /** A clock in milliseconds; default `performance.now`. */
  now?: () => number;
};

/** Most characters of a block, on either side, that are compared one by one: some blocks take quadratic time. */
const CHARACTERS = 4_000;
/** Most characters of a block, on either side, that are compared by word. */
const WORDS = 200_000;

/** A stretch of the old text and what stands in its place in the new one, as offsets. */
type Change = { from: number; fromEnd: number; to: number; toEnd: number };

/**
 * The edits that make one text of another, such that what others write meanwhile meets as few as possible:
 * lines that stay are found first, then in each changed block the words and characters that stay, tidied up
 * so that they make sense to a reader. When time is up, a changed block is replaced between its equal ends;
 * so is a block larger than can be compared in that time.
 *
 * @param from a text without half surrogate pairs
 * @param to another one
 * @returns edits in ascending order, none of which splits a surrogate pair; none when the texts are equal
 */
export function diffText(from: string, to: string, options: TextDiffOptions = {}): TextEdit[] {
  if (from === to) return [];
  const diff = new TextDiff(from, to, options);
  diff.tokens({ from: 0, fromEnd: from.length, to: 0, toEnd: to.length }, LINES, (block) =>
    diff.block(block),
  );
  return diff.edits();
}

const LINES = /[^\n]*\n|[^\n]+/g;
const WORD = /[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu;

class TextDiff {
  private readonly changes: Change[] = [];
  private readonly from: string;
  private readonly to: string;
  private readonly budget: TimeBudget;

  constructor(from: string, to: string, options: TextDiffOptions) {
    this.from = from;
    this.to = to;
    this.budget = new TimeBudget(options.milliseconds ?? 20, options.now);
  }

  /** Splits both sides of a change into tokens and hands on what lies between those that stay. */
  tokens(at: Change, pattern: RegExp, each: (gap: Change) => void): void {
    const one = this.from.slice(at.from, at.fromEnd).match(pattern) ?? [];
    const other = this.to.slice(at.to, at.toEnd).match(pattern) ?? [];
    const shorter = Math.min(one.length, other.length);
    let start = 0;
    while (start < shorter && one[start] === other[start]) start++;
    let tail = 0;
    while (tail < shorter - start && one.at(-1 - tail) === other.at(-1 - tail)) tail++;
    const before = one.slice(start, one.length - tail);
    const after = other.slice(start, other.length - tail);
    // Without a result in time there is one gap, all of it.
    const kept = commonSequence(before, after, this.budget) ?? [];
    const head = one.slice(0, start).reduce((sum, token) => sum + token.length, 0);
    let from = at.from + head;
    let to = at.to + head;
    let i = 0;
    let j = 0;
    for (const [nextI, nextJ] of [...kept, [before.length, after.length] as const]) {
      const gap = { from, fromEnd: from, to, toEnd: to };
      for (; i < nextI; i++) gap.fromEnd += before[i]!.length;
      for (; j < nextJ; j++) gap.toEnd += after[j]!.length;
      if (gap.fromEnd > from || gap.toEnd > to) each(gap);
      from = gap.fromEnd + (before[i++]?.length ?? 0);
      to = gap.toEnd + (after[j++]?.length ?? 0);
    }
  }

  /** Compares a block inside, in the finest way that its size and the time allow. */
  block(whole: Change): void {
    if (longer(whole) <= CHARACTERS) return this.characters(whole);
    const middle = this.trimmed(whole);
    if (longer(middle) <= CHARACTERS) this.characters(middle);
    else if (longer(middle) > WORDS || this.budget.left <= 0) this.changes.push(middle);
    else
      this.tokens(middle, WORD, (gap) => {
        if (longer(gap) <= CHARACTERS) this.characters(gap);
        else this.changes.push(gap);
      });
  }

  private characters(at: Change): void {
    const { left } = this.budget;
    if (left <= 0 || at.from === at.fromEnd || at.to === at.toEnd) {
      this.changes.push(this.trimmed(at));
      return;
    }
    const one = this.from.slice(at.from, at.fromEnd);
    const other = this.to.slice(at.to, at.toEnd);
    let { from, to } = at;
    const found = this.budget.spend(() =>
      cleanupSemantic(makeDiff(one, other, { timeout: left / 1_000, checkLines: false })),
    );
    for (const [type, text] of found) {
      const change = { from, fromEnd: from, to, toEnd: to };
      if (type !== DIFF_EQUAL) this.changes.push(change);
      if (type === DIFF_EQUAL || type === DIFF_DELETE) from += text.length;
      if (type !== DIFF_DELETE) to += text.length;
      change.fromEnd = from;
      change.toEnd = to;
    }
  }

  private trimmed(at: Change): Change {
    let { from, fromEnd, to, toEnd } = at;
    while (from < fromEnd && to < toEnd && this.from[from] === this.to[to]) {
      from++;
      to++;
    }
    while (from < fromEnd && to < toEnd && this.from[fromEnd - 1] === this.to[toEnd - 1]) {
      fromEnd--;
      toEnd--;
    }
    return { from, fromEnd, to, toEnd };
  }

  /** The changes as edits: no pair is split, and what touches is one edit. */
  edits(): TextEdit[] {
    // Only between changes that do not touch is the character beside one equal in both texts.
    const apart = merged(this.changes).map((change) => this.widened(change));
    return merged(apart).map((it) => [it.to, it.fromEnd - it.from, this.to.slice(it.to, it.toEnd)]);
  }

  private widened({ from, fromEnd, to, toEnd }: Change): Change {
    const before = splitsPair(this.from, from) || splitsPair(this.to, to) ? 1 : 0;
    const behind = splitsPair(this.from, fromEnd) || splitsPair(this.to, toEnd) ? 1 : 0;
    return { from: from - before, fromEnd: fromEnd + behind, to: to - before, toEnd: toEnd + behind };
  }
}

function longer(at: Change): number {
  return Math.max(at.fromEnd - at.from, at.toEnd - at.to);
}

/** Ascending changes with those that touch made one, and without those that change nothing. */
function merged(changes: readonly Change[]): Change[] {
  const apart: Change[] = [];
  for (const change of changes) {
    if (change.from === change.fromEnd && change.to === change.toEnd) continue;
    const last = apart.at(-1);
    if (last === undefined || change.from > last.fromEnd) apart.push({ ...change });
    else {
      last.fromEnd = change.fromEnd;
      last.toEnd = change.toEnd;
    }
  }
  return apart;
}
