const FENCE = /^(\s*)(`{3,}|~{3,})(.*)$/;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const INDENTED = /^(?: {2,}|\t)\S/;
/** Definitions of links and footnotes, which count for the whole text. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/;
/** HTML that goes on over blank lines. */
const RAW = /^ {0,3}<(?:!|\?|(?:pre|script|style|textarea)\b)/i;
/** A line that may begin HTML up to the next blank line, in which nothing is Markdown. */
const TAG = /^ {0,3}<\/?[a-z]/i;
const BLANK = /^\s*$/;

/** Something that blank lines do not end. */
type Open = { indent: number; mark: string; length: number };

/**
 * Cuts Markdown into blocks that mean alone what they mean together: text grows at its end, so every block but
 * the last stays as it is and need not be rendered again. What cannot be told stays in one block. Text that
 * defines links or footnotes is one block.
 */
export function markdownBlocks(text: string): string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let open: Open | null = null;
  let gap = 0;
  let html = false;
  for (const line of text.split("\n")) {
    if (open === null && DEFINITION.test(line)) return [text];
    // What looks like the fence of a code may be HTML, and the code begin where it seems to end.
    if (open === null && html && FENCE.test(line)) return [text];
    html = open === null && !BLANK.test(line) && (html || TAG.test(line));
    if (open === null && BLANK.test(line)) {
      if (lines.length > 0) gap += 1;
      continue;
    }
    if (gap > 0) {
      if (continues(lines, line)) lines.push(...Array<string>(gap).fill(""));
      else {
        blocks.push(lines.join("\n"));
        lines = [];
      }
      gap = 0;
    }
    lines.push(line);
    open = openBehind(open, line);
  }
  if (lines.length > 0) blocks.push(lines.join("\n"));
  return blocks;
}

/** Whether a line behind blank ones belongs to the list or the indented text before it. */
function continues(lines: readonly string[], line: string): boolean {
  if (INDENTED.test(line)) return true;
  return ITEM.test(line) && lines.some((each) => ITEM.test(each));
}

function openBehind(open: Open | null, line: string): Open | null {
  const [, spaces = "", run = "", rest = ""] = FENCE.exec(line) ?? [];
  const mark = run.charAt(0);
  const indent = spaces.length;
  if (!open) {
    if (RAW.test(line)) return { indent: 0, mark: "<", length: 0 };
    // Behind backticks there may be none: it is code within a line then.
    const opens = run !== "" && !(mark === "`" && rest.includes("`"));
    return opens ? { indent, mark, length: run.length } : null;
  }
  const closes = mark === open.mark && run.length >= open.length && rest.trim() === "";
  // Further left or right it may belong to something else.
  return closes && Math.abs(indent - open.indent) <= 3 ? null : open;
}

const LONE_MARKS = /(?:^|\n)[ \t]*(?:[-*+=#>|~`]+|\d{1,9}[.)]?)[ \t]*$/;
/** The beginning of a link whose address is not complete. */
const HALF_LINK = /!?\[([^\]\n]*)(?:\](?:\([^)\s]*)?)?$/;
const HALF_EMPHASIS = /(?:^|[\s(])\*(?=[^\s*])[^*\n]*$/;

/**
 * The last block of a text that is still being written, so that it does not change its shape with every
 * character: what only becomes something with what follows is held back, what was opened is closed.
 */
export function settledTail(block: string): string {
  if (block.split("\n").reduce(openBehind, null as Open | null) !== null) return block;
  const text = withoutHeadOfTable(block.replace(LONE_MARKS, "")).replace(HALF_LINK, "$1");
  const last = text.slice(text.lastIndexOf("\n\n") + 1);
  if (count(last, /`/g) % 2 === 1) return `${text}\``;
  // Marks with nothing behind them yet.
  const bare = text.replace(/(^|\s)(?:\*{1,3}|_{1,2}|~~)$/, "$1");
  if (bare !== text) return bare;
  const prose = last.replace(/`[^`]*`/g, "");
  if (count(prose, /\*\*/g) % 2 === 1) return `${text.replace(/(?<!\*)\*$|\s+$/, "")}**`;
  if (count(prose, /~~/g) % 2 === 1) return `${text.replace(/\s+$/, "")}~~`;
  return HALF_EMPHASIS.test(prose.replaceAll("**", "")) ? `${text.replace(/\s+$/, "")}*` : text;
}

/** A table is one only with its second line; until then its first would show as text full of bars. */
function withoutHeadOfTable(text: string): string {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => /^\s*\|/.test(line));
  if (first < 0 || lines.length - first > 2) return text;
  const rule = lines[first + 1];
  const columns = (line = "") => line.trim().split(/(?<!\\)\|/).length;
  const whole = rule !== undefined && /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/.test(rule);
  return whole && columns(rule) === columns(lines[first]) ? text : lines.slice(0, first).join("\n");
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;
