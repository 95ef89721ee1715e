/** Brackets, quotes and the like before a word. */
const MARKS = /^[^\p{L}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}]+/u;

/** One or two characters that stand for a name: the first of the first and of the last word. */
export function initials(name: string): string {
  const plain = name.replace(/<[^>]*>/g, " ");
  const parts = (/[\p{L}\p{N}]/u.test(plain) ? plain : name).trim().split(/\s+/).filter(Boolean);
  const letters = [parts[0], parts.length > 1 ? parts.at(-1) : undefined].map((part) => firstOf(part ?? ""));
  return letters.join("").toLocaleUpperCase() || "?";
}

function firstOf(text: string): string {
  // What looks like one character may be several code points.
  const [first] = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(
    text.replace(MARKS, "") || text,
  );
  return first?.segment ?? "";
}
