import { clip } from "./wording.ts";

/** Two things side by side, ready to be told. */
export type Comparison = {
  sides: readonly [string, string];
  short: string;
  rows: readonly (readonly [question: string, first: string, second: string])[];
  pick: string;
};

type Known = Comparison & { words: readonly [RegExp, RegExp] };

const KNOWN: readonly Known[] = [
  {
    words: [/\bweb ?sockets?\b/i, /\b(?:sse|server-sent events?|event-?source)\b/i],
    sides: ["WebSocket", "Server-sent events"],
    short: "both keep a connection open; the difference is who may speak on it.",
    rows: [
      ["Who speaks", "both ends", "the server only"],
      ["Carries", "text and binary", "text"],
      ["After a cut", "you reconnect yourself", "the browser does, with `Last-Event-ID`"],
      ["Proxies", "need the upgrade", "plain HTTP"],
    ],
    pick: "take server-sent events for a feed, WebSocket as soon as people write back.",
  },
  {
    words: [/\bsqlite\b/i, /\bpostgres(?:ql)?\b/i],
    sides: ["SQLite", "Postgres"],
    short: "one is a library inside your process, the other a server beside it.",
    rows: [
      ["Runs", "in the process", "as a server"],
      ["Writers", "one at a time", "many at once"],
      ["Backup", "one file", "`pg_dump` or a replica"],
      ["Grows to", "one machine", "several nodes that share it"],
    ],
    pick: "start with SQLite on one machine; change when a second machine must write.",
  },
  {
    words: [/\bcrdts?\b/i, /\b(?:ot|operational transform(?:ation)?s?|locks?|locking)\b/i],
    sides: ["CRDT", "Operational transformation"],
    short: "both let people edit at once; they differ in who settles the order.",
    rows: [
      ["Order", "follows from the data", "a server decides"],
      ["Offline", "merges later", "hard to do well"],
      ["Cost", "metadata in the document", "a transform for each pair of operations"],
    ],
    pick: "take a CRDT when people work offline or no single server should decide.",
  },
  {
    words: [/\bmonoliths?\b/i, /\bmicro-?services?\b/i],
    sides: ["Monolith", "Microservices"],
    short: "it is less about size than about how many teams release on their own.",
    rows: [
      ["Release", "all at once", "each on its own"],
      ["A call", "a function", "a request that can fail"],
      ["Local set-up", "one command", "a small fleet"],
    ],
    pick: "keep one program until two teams really wait for each other.",
  },
];

const tidy = (side: string) =>
  clip(
    side
      .replace(/^(?:the|a|an|our|my|using|to use|between)\s+/i, "")
      .replace(/\s+(?:for|in|when|if|with|on|at|as)\s.*$/i, ""),
    24,
  );

/** The two things a question holds against each other, as it names them; null when it names no two. */
export function sidesOf(text: string): [string, string] | null {
  const found =
    /\b(?:compare|between|comparison of|pros and cons of)\s+([^.?!;]{1,60}?)\s+(?:and|with|to|vs\.?|versus|or|against)\s+([^.?!,;]{1,60})/i.exec(
      text,
    ) ??
    /((?:[^\s.?!,;:]+\s+){1,2})(?:vs\.?|versus)\s+([^.?!,;]{1,60})/i.exec(text) ??
    /\b(?:use|choose|pick|take|prefer|better[,:]?|with)\s+([^.?!;]{1,40}?),?\s+or\s+([^.?!,;]{1,60})/i.exec(
      text,
    );
  if (!found) return null;
  const sides: [string, string] = [tidy(found[1]!.trim()), tidy(found[2]!.trim())];
  return sides[0] === "" || sides[1] === "" ? null : sides;
}

/** The comparison a question asks for: a known one with facts, else a frame to sort the two; null without two. */
export function comparisonOf(text: string): Comparison | null {
  const known = KNOWN.find(({ words }) => words.every((word) => word.test(text)));
  if (known) return known;
  const sides = sidesOf(text);
  if (!sides) return null;
  return {
    sides,
    short: "begin with the one that is easier to undo, unless the other saves work for years.",
    rows: [
      ["Take it when", "it can be tried this week", "it saves work for years"],
      ["Ask first", "what happens if it is wrong?", "who has to learn it?"],
      ["Way back", "how long does it take?", "how long does it take?"],
    ],
    pick: "write down now what would change your mind later. I work from a script and know neither, so the table only sorts the question.",
  };
}
