/** Characters that turn the direction of the text around them. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Marks of emphasis, code and tables; an escaped one is itself. */
const MARKS = /\\([\\`*_[\]<>|~#&$!])|[*`~|]{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)/g;

/** Elements of HTML as people paste them; `List<string>` is none. */
const TAGS =
  /<\/?(?:a|b|big|blockquote|br|button|center|code|del|details|div|em|font|form|h[1-6]|hr|i|iframe|img|input|ins|kbd|li|ol|p|pre|s|script|small|span|strong|style|sub|summary|sup|svg|table|tbody|td|th|thead|tr|u|ul|video)(?:\s[^<>]*|\/)?>/gi;

/** A title as it is shown: a line of plain text, or as it is where nothing else is in it. */
export function plainTitle(title: string): string {
  return plainLine(title) || title;
}

/** Markdown as a line of plain text, for lists. It may be a line already, so that only its beginning is sure. */
export function plainLine(markdown: string): string {
  return markdown
    .replace(/```[\w+#.-]*/g, " ")
    .replace(/!?\[([^\]]*)\]\([^)]*\)?/g, "$1")
    .replace(/(^|\s)(?:[-*+]\s+)?\[[ x]\]\s/gi, "$1")
    .replace(/^\s*(?:#{1,6}|>|[-*+])\s|(?<=\s)#{2,6}\s/gm, "")
    .replace(/(^|\s)\|?(?:\s*:?-{3,}:?\s*\|?)+/g, "$1")
    .replace(TAGS, " ")
    .replace(MARKS, "$1")
    .replace(TURNS, "")
    .replace(/\s+/g, " ")
    .trim();
}
