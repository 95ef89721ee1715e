import type { InputContent, Mention } from "../react/index.ts";

/** Somebody who can be mentioned, under the name that is written. */
export type Named = Mention & { name: string };

/** What is being written behind an `@`: its place in the text, the `@` included, and the part of a name. */
export type Asked = { from: number; to: number; query: string };

/** So many names are offered at once. */
const OFFERED = 8;
/** An `@` within a word is part of an address. */
const BEGUN = /(?:^|[^\p{L}\p{N}_@.])@([^\s@]*)$/u;
const AT = /(?<![\p{L}\p{N}_@.])@/gu;
const GOES_ON = /^[\p{L}\p{N}_]/u;

/** The mention that is being written at a place of a text; `null` when there is none. */
export function askedAt(text: string, place: number): Asked | null {
  const query = BEGUN.exec(text.slice(0, place))?.[1];
  return query === undefined ? null : { from: place - query.length - 1, to: place, query };
}

/** Those whose name, or a word of it, begins as what is written; nobody where a name is written out. */
export function offered(names: readonly Named[], query: string): Named[] {
  const begun = query.toLowerCase();
  const found = names.filter(({ name }) =>
    [name, ...name.split(/\s+/)].some((word) => word.toLowerCase().startsWith(begun)),
  );
  if (found.length === 1 && found[0]?.name.toLowerCase() === begun) return [];
  return found.slice(0, OFFERED);
}

/** Whom a text mentions, in its order and each once; the longest name that fits is the one that is meant. */
export function mentionsIn(text: string, names: readonly Named[]): Mention[] {
  const found = new Map<string, Mention>();
  const longest = [...names].sort((a, b) => b.name.length - a.name.length);
  for (const { index } of text.matchAll(AT)) {
    const written = text.slice(index + 1).toLowerCase();
    const meant = longest.find(({ name }) => {
      const begins = name !== "" && written.startsWith(name.toLowerCase());
      return begins && !GOES_ON.test(written.slice(name.length));
    });
    if (meant) found.set(`${meant.kind} ${meant.id}`, { kind: meant.kind, id: meant.id });
  }
  return [...found.values()];
}

/** A text as a message that says whom it mentions. */
export function mentioning(text: string, mentions: readonly Mention[]): InputContent {
  return mentions.length === 0 ? text : { content: text, metadata: { cothread: { mentions } } };
}
