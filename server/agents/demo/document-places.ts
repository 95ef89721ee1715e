/** A paragraph of prose, by its place in the text (UTF-16 units, `end` not included), and the heading above it. */
export type Paragraph = { start: number; end: number; text: string; heading: string };

/** A heading, without its marks. */
export type Heading = { level: number; title: string };

/** What a Markdown text is made of, as far as Planner changes any of it. */
export type Places = { paragraphs: Paragraph[]; headings: Heading[] };

const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const UNDERLINE = /^ {0,3}(=+|-+)\s*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** Lists, quotes, tables, HTML, indented code, images, rules: not prose that could be cut at a sentence. */
const NO_PROSE = /^(?:\s*(?:[-*+]|\d+[.)])\s| {0,3}[>|<]|\t| {4}|!\[|\s*(?:[-*_]\s*){3,}$)/;

/** Finds headings and paragraphs of prose; code, lists, tables and quotes are neither. */
export function placesIn(text: string): Places {
  const paragraphs: Paragraph[] = [];
  const headings: Heading[] = [];
  let open: { start: number; end: number } | undefined;
  let fence = "";
  let prose = true;
  const close = () => {
    if (open && prose) {
      const heading = headings.at(-1)?.title ?? "";
      paragraphs.push({ ...open, text: text.slice(open.start, open.end), heading });
    }
    open = undefined;
    prose = true;
  };
  let start = 0;
  for (const raw of text.split("\n")) {
    const line = raw.replace(/\r$/, "");
    const end = start + line.length;
    const mark = FENCE.exec(line)?.[1] ?? "";
    const heading = HEADING.exec(line);
    const underline = open && prose ? UNDERLINE.exec(line)?.[1] : undefined;
    if (fence !== "") {
      if (mark.startsWith(fence)) fence = "";
    } else if (mark !== "") {
      close();
      fence = mark;
    } else if (heading) {
      close();
      headings.push({ level: heading[1]!.length, title: heading[2] ?? "" });
    } else if (open && underline) {
      const title = text.slice(open.start, open.end).trim();
      headings.push({ level: underline.startsWith("=") ? 1 : 2, title });
      open = undefined;
    } else if (line.trim() === "") {
      close();
    } else if (open) {
      open.end = end;
    } else {
      prose = !NO_PROSE.test(line);
      open = { start, end };
    }
    start += raw.length + 1;
  }
  close();
  return { paragraphs, headings };
}

const bare = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Whether a heading says what somebody calls it, in these words, more of them or fewer. */
export function isCalled(title: string, name: string): boolean {
  const [has, asked] = [bare(title), bare(name)];
  if (asked === "" || has === "") return false;
  return ` ${has} `.includes(` ${asked} `) || ` ${asked} `.includes(` ${has} `);
}

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });

/** The sentences of a paragraph, without the space around them. */
export function sentencesOf(paragraph: string): string[] {
  // a line break inside a paragraph ends no sentence
  const flat = paragraph.replace(/[\r\n]/g, " ");
  return Array.from(SENTENCES.segment(flat), ({ index, segment }) =>
    paragraph.slice(index, index + segment.length).trim(),
  ).filter((sentence) => sentence !== "");
}
