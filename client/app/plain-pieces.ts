/** A piece of what somebody wrote. */
export type Piece = { kind: "text" | "link" | "code"; text: string; language?: string };

const CODE = /^```([\w+#.-]*)[ \t]*\n([\s\S]*?)^```[ \t]*$\n?/gm;
const LINK = /\bhttps?:\/\/[^\s<>"]+/g;
/** What ends a sentence rather than an address. */
const TAIL = /[.,;:!?'"”’]+$/;

/** Takes a plain text apart: addresses become links, what stands between lines of three backticks is code. */
export function plainPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(CODE)) {
    pieces.push(...withLinks(text.slice(at, match.index).replace(/\n$/, "")));
    pieces.push({ kind: "code", text: (match[2] ?? "").replace(/\n$/, ""), language: match[1] ?? "" });
    at = match.index + match[0].length;
  }
  return [...pieces, ...withLinks(text.slice(at))];
}

function withLinks(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(LINK)) {
    const link = trimmed(found);
    if (index > at) pieces.push(plain(text.slice(at, index)));
    pieces.push({ kind: "link", text: link });
    at = index + link.length;
  }
  if (at < text.length) pieces.push(plain(text.slice(at)));
  return pieces;
}

/** A wall of empty lines says no more than two. */
function plain(text: string): Piece {
  return { kind: "text", text: text.replace(/\n(?:[ \t]*\n){3,}/g, "\n\n\n") };
}

/** Without the marks of the sentence it stands in; a bracket stays when it was opened in the address. */
function trimmed(address: string): string {
  let link = address;
  for (;;) {
    const shorter = link.replace(TAIL, "").replace(/\)+$/, (closing) => {
      const open = link.split("(").length - (link.split(")").length - closing.length);
      return closing.slice(0, Math.max(0, open));
    });
    if (shorter === link) return link;
    link = shorter;
  }
}
