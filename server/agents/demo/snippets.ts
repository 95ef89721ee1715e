/** A small program Planner can show. */
export type Snippet = {
  words: RegExp;
  /** What it does, as a noun phrase in lower case. */
  what: string;
  language: string;
  file: string;
  code: string;
  notes: readonly [string, string];
};

const RETRY: Snippet = {
  words: /(?:)/,
  what: "a function that tries again with growing pauses",
  language: "ts",
  file: "retry.ts",
  code: `/** Calls \`work\` up to \`times\` times; each pause is twice as long as the one before. */
export async function retry<T>(work: () => Promise<T>, times = 4, pause = 200): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await work();
    } catch (error) {
      if (n >= times) throw error;
      const wait = pause * 2 ** (n - 1) * (0.5 + Math.random());
      await new Promise((done) => setTimeout(done, wait));
    }
  }
}`,
  notes: [
    "The **random factor** keeps many clients from coming back in the same moment.",
    "The last error is thrown as it is, so the caller sees the real cause.",
  ],
};

const SNIPPETS: readonly Snippet[] = [
  {
    words: /\b(?:sql|query|select|table|database)\b/i,
    what: "a query for the most active threads of the week",
    language: "sql",
    file: "active-threads.sql",
    code: `SELECT thread, COUNT(*) AS messages, MAX(sent_at) AS latest
FROM messages
WHERE sent_at >= CURRENT_DATE - INTERVAL '7 days'
GROUP BY thread
HAVING COUNT(*) > 1
ORDER BY messages DESC, latest DESC
LIMIT 20;`,
    notes: [
      "An index on `(sent_at, thread)` lets it read the last week only.",
      "The **second sort key** keeps the order stable when two threads are level.",
    ],
  },
  {
    words: /\b(?:regex|regexp|regular expression|pattern)\b/i,
    what: "a pattern for dates such as 2026-12-09",
    language: "ts",
    file: "iso-date.ts",
    code: `const DATE = /^(\\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$/;

export function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  // the pattern lets 30 February through, the calendar does not
  const date = new Date(\`\${text}T00:00:00Z\`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}`,
    notes: [
      "The pattern checks the **shape**, the calendar checks the day.",
      "Both anchors matter: without them any text that contains a date passes.",
    ],
  },
  {
    words: /\b(?:bash|shell|command|terminal|cron)\b/i,
    what: "a shell script that keeps the last seven backups",
    language: "sh",
    file: "backup.sh",
    code: `#!/bin/sh
set -eu
dir="\${1:?usage: backup.sh DIRECTORY}"
mkdir -p "$dir"
sqlite3 app.db ".backup '$dir/app-$(date +%F).db'"
ls -1 "$dir"/app-*.db | sort -r | tail -n +8 | while read -r old; do
  rm -- "$old"
done`,
    notes: [
      "`.backup` copies a database that is in use; a plain `cp` may not.",
      "Names sort by date, so **the newest seven** stay whatever the clock of the disk says.",
    ],
  },
  {
    words: /\b(?:python|pandas|csv)\b/i,
    what: "a Python function that adds up a CSV column by group",
    language: "python",
    file: "totals.py",
    code: `import csv
from collections import defaultdict


def totals(path, group, amount):
    """Sum of column \`amount\` for each value of column \`group\`."""
    sums = defaultdict(float)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            sums[row[group]] += float(row[amount] or 0)
    return dict(sums)`,
    notes: [
      "Rows are read **one at a time**, so the size of the file does not matter.",
      "An empty cell counts as zero; take out `or 0` to be told about it instead.",
    ],
  },
];

/** The snippet that fits a request; one that is useful anywhere when none does. */
export function snippetOf(text: string): Snippet {
  return SNIPPETS.find((snippet) => snippet.words.test(text)) ?? RETRY;
}
