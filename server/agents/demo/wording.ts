/** One line: control characters and runs of white space become one space. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

/** At most `length` characters of one line, cut at a word where there is one, with an ellipsis where cut. */
export function clip(text: string, length: number): string {
  const line = oneLine(text);
  // by code point, so that no emoji is cut in half
  const points = Array.from(line);
  if (points.length <= length) return line;
  const cut = points.slice(0, length - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${(space > cut.length / 2 ? cut.slice(0, space) : cut).replace(/[\s,;:.–-]+$/, "")}…`;
}

/** What a person wrote, so that it reads as text inside Markdown, table cells included. */
export function inMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>|~#&$!]/g, "\\$&");
}

/** The text with its first letter in upper case. */
export function capital(text: string): string {
  const [first = "", ...rest] = Array.from(text);
  return first.toUpperCase() + rest.join("");
}

/** "a", "a and b", "a, b and c". */
export function series(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** A count as prose writes it: words up to twelve, digits from there. */
export function count(n: number): string {
  const words = "no one two three four five six seven eight nine ten eleven twelve".split(" ");
  return words[n] ?? String(n);
}

/** How far something is, as a clause: "two of six steps are done". */
export function progressOf(done: number, all: number): string {
  if (all === 1) return done === 1 ? "its only step is done" : "its only step is open";
  if (done === all) return `all ${count(all)} steps are done`;
  return `${done === 0 ? "none" : count(done)} of ${count(all)} steps ${done < 2 ? "is" : "are"} done`;
}

/** The sentence spoken to somebody: "Ana, here is …"; unchanged without a name. */
export function addressed(name: string | undefined, sentence: string): string {
  if (!name) return sentence;
  const keeps = /^(?:I\b|\p{Lu}{2}|[^\p{L}])/u.test(sentence);
  const rest = keeps ? sentence : sentence.charAt(0).toLowerCase() + sentence.slice(1);
  return `${inMarkdown(name)}, ${rest}`;
}
