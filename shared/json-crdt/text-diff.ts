import { cleanupSemantic, makeDiff } from "@sanity/diff-match-patch";
import { commonRuns } from "./common-runs.ts";
import { isInPair, type TextEdit } from "./text-edits.ts";

/** Time for finding out what a rewritten text has kept, ms. */
const BUDGET_MS = 20;

/** A change of a text: the units from `start` to `end` become `ins`. */
type Change = { start: number; end: number; ins: string };

/**
 * What has become of a text, as few small edits ([H8]): lines first, then words and letters within changed lines.
 * What an agent writes anew as a whole leaves alone what somebody types in the next paragraph.
 * @param budgetMs beyond it, changed lines are replaced whole
 */
export function diffText(
  from: string,
  to: string,
  budgetMs = BUDGET_MS,
  now = () => performance.now(),
): TextEdit[] {
  if (from === to) return [];
  const end = now() + budgetMs;
  const edits: TextEdit[] = [];
  let shift = 0;
  for (const block of changedLines(from, to)) {
    const left = end - now();
    for (const change of left > 0 ? within(block, from, left) : [block]) {
      const { start, end: stop, ins } = whole(change, from);
      edits.push([start + shift, stop - start, ins]);
      shift += ins.length - (stop - start);
    }
  }
  return edits;
}

function changedLines(from: string, to: string): Change[] {
  const [a, b] = [linesOf(from), linesOf(to)];
  const changes: Change[] = [];
  let [ai, bi, at] = [0, 0, 0];
  const gap = (aEnd: number, bEnd: number) => {
    const start = at;
    for (; ai < aEnd; ai += 1) at += (a[ai] as string).length;
    if (at > start || bi < bEnd) changes.push({ start, end: at, ins: b.slice(bi, bEnd).join("") });
    bi = bEnd;
  };
  commonRuns(
    a.length,
    b.length,
    (i, j) => a[i] === b[j],
    (length, aStart, bStart) => {
      gap(aStart, bStart);
      for (let i = 0; i < length; i += 1) at += (a[ai + i] as string).length;
      ai += length;
      bi += length;
    },
  );
  gap(a.length, b.length);
  return changes;
}

function within({ start, end, ins }: Change, from: string, budgetMs: number): Change[] {
  if (start === end || ins === "") return [{ start, end, ins }];
  const changes: Change[] = [];
  let at = start;
  let open: Change | null = null;
  for (const [kind, text] of cleanupSemantic(
    makeDiff(from.slice(start, end), ins, { timeout: budgetMs / 1_000 }),
  )) {
    if (kind === 0) {
      at += text.length;
      open = null;
      continue;
    }
    if (!open) {
      open = { start: at, end: at, ins: "" };
      changes.push(open);
    }
    if (kind < 0) {
      at += text.length;
      open.end = at;
    } else open.ins += text;
  }
  return changes;
}

/** Widened so that no character is cut in half. */
function whole({ start, end, ins }: Change, from: string): Change {
  const before = isInPair(from, start) ? 1 : 0;
  const behind = isInPair(from, end) ? 1 : 0;
  const text = from.slice(start - before, start) + ins + from.slice(end, end + behind);
  return { start: start - before, end: end + behind, ins: text };
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
