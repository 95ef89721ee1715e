import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as Y from "yjs";
import { diffText, type TextDiffOptions } from "../shared/json-crdt/text-diff.ts";
import {
  applyTextEdits,
  deltaOfEdits,
  editsOfDelta,
  invertTextEdits,
  moveTextEdits,
  type TextEdit,
  TextEditError,
} from "../shared/json-crdt/text-edits.ts";
import { within } from "./kit/within.ts";

const LETTERS = ["a", "b", "c", " ", "\n", "😀", "😁", "𝄞", "é"];
const text = (maxLength: number) =>
  fc.array(fc.constantFrom(...LETTERS), { maxLength, size: "max" }).map((letters) => letters.join(""));

/** Edits that fit a text, made from chance: each is cut to the text that the ones before leave. */
function fitting(base: string, chances: readonly [number, number, string][]): TextEdit[] {
  const edits: TextEdit[] = [];
  let at = base;
  for (const [where, length, ins] of chances) {
    const letters = [...at];
    const start = where % (letters.length + 1);
    const before = letters.slice(0, start).join("");
    const edit: TextEdit = [before.length, letters.slice(start, start + length).join("").length, ins];
    edits.push(edit);
    at = before + ins + letters.slice(start + length).join("");
  }
  return edits;
}

const chances = fc.array(fc.tuple(fc.nat(40), fc.nat(4), text(3)), { maxLength: 6 });
const edited = fc.tuple(text(20), chances).map(([base, of]) => ({ base, edits: fitting(base, of) }));
const twice = fc
  .tuple(text(20), chances, chances)
  .map(([base, a, b]) => ({ base, edits: fitting(base, a), over: fitting(base, b) }));

describe("edits of a text", () => {
  test.each<[string, string, TextEdit[], string]>([
    ["none", "abc", [], "abc"],
    ["an insertion at the start", "abc", [[0, 0, "x"]], "xabc"],
    ["an insertion at the end", "abc", [[3, 0, "x"]], "abcx"],
    ["a replacement", "abc", [[1, 1, "xyz"]], "axyzc"],
    [
      "each on the result of the one before",
      "abc",
      [
        [0, 0, "xx"],
        [1, 1, ""],
        [4, 0, "!"],
      ],
      "xabc!",
    ],
    [
      "into what was put in before",
      "ac",
      [
        [1, 0, "xz"],
        [2, 0, "y"],
      ],
      "axyzc",
    ],
    [
      "back and forth",
      "abcdef",
      [
        [4, 1, "E"],
        [0, 1, "A"],
        [5, 1, "F"],
        [1, 2, ""],
      ],
      "AdEF",
    ],
    [
      "whole surrogate pairs",
      "a😀b😀",
      [
        [1, 2, "😁"],
        [6, 0, "𝄞"],
        [4, 2, ""],
      ],
      "a😁b𝄞",
    ],
  ])("%s", (_what, before, edits, after) => {
    expect(applyTextEdits(before, edits)).toBe(after);
    expect(applyTextEdits(after, invertTextEdits(before, edits))).toBe(before);
  });

  test.each<[string, string, TextEdit[], string]>([
    ["behind the end", "abc", [[4, 0, "x"]], "Edit 0 reaches behind the end of the text."],
    ["a deletion behind the end", "abc", [[2, 2, ""]], "Edit 0 reaches behind the end of the text."],
    [
      "a text that is shorter by then",
      "abc",
      [
        [0, 3, ""],
        [1, 0, ""],
      ],
      "Edit 1 reaches behind the end of the text.",
    ],
    ["inside a pair", "a😀", [[2, 0, "x"]], "Edit 0 begins or ends inside a surrogate pair."],
    ["a deletion into a pair", "a😀", [[0, 2, ""]], "Edit 0 begins or ends inside a surrogate pair."],
    ["a deletion out of a pair", "a😀b", [[2, 2, ""]], "Edit 0 begins or ends inside a surrogate pair."],
    [
      "inside a pair put in before",
      "a",
      [
        [0, 0, "😀"],
        [1, 0, "x"],
      ],
      "Edit 1 begins or ends inside a surrogate pair.",
    ],
    ["half a pair", "a", [[0, 0, "\ud83d"]], "Edit 0 inserts half a surrogate pair."],
    [
      "two halves in two edits",
      "a",
      [
        [0, 0, "\ude00"],
        [0, 0, "\ud83d"],
      ],
      "Edit 0 inserts half a surrogate pair.",
    ],
    [
      "a negative offset",
      "a",
      [[-1, 0, ""]],
      "Edit 0 has an offset or a length that is not a whole number from 0.",
    ],
    [
      "half a character",
      "abc",
      [[0, 0.5, ""]],
      "Edit 0 has an offset or a length that is not a whole number from 0.",
    ],
    [
      "NaN",
      "abc",
      [[Number.NaN, 0, ""]],
      "Edit 0 has an offset or a length that is not a whole number from 0.",
    ],
    ["no edit", "abc", [[0, 0] as never], "Edit 0 is not [at, del, ins]."],
    ["nothing", "abc", [null as never], "Edit 0 is not [at, del, ins]."],
  ])("refuses %s", (_what, before, edits, message) => {
    expect(() => applyTextEdits(before, edits)).toThrow(
      new TextEditError(message.slice(7, -1), Number(message[5])),
    );
    expect(() => invertTextEdits(before, edits)).toThrow(TextEditError);
  });

  test("do what they do one by one, and their inverse undoes it", () => {
    fc.assert(
      fc.property(edited, ({ base, edits }) => {
        let after = base;
        for (const [at, del, ins] of edits) after = after.slice(0, at) + ins + after.slice(at + del);
        expect(applyTextEdits(base, edits)).toBe(after);
        const inverse = invertTextEdits(base, edits);
        expect(applyTextEdits(after, inverse)).toBe(base);
        expect(applyTextEdits(base, invertTextEdits(after, inverse))).toBe(after);
      }),
      { numRuns: 1_000 },
    );
  });

  test("many in a large text take one pass", () => {
    const base = "line of text\n".repeat(80_000);
    const edits = Array.from({ length: 40_000 }, (_, i): TextEdit => [i * 26, 1, "L"]);
    expect(within(200, () => applyTextEdits(base, edits))).toHaveLength(base.length);
    expect(within(200, () => invertTextEdits(base, edits))).toHaveLength(40_000);
    expect(within(200, () => moveTextEdits(edits, edits))).toHaveLength(40_000);
  });
});

describe("deltas of Y.Text", () => {
  test("and edits say the same", () => {
    fc.assert(
      fc.property(edited, ({ base, edits }) => {
        const after = applyTextEdits(base, edits);
        const delta = deltaOfEdits(edits);
        const doc = new Y.Doc();
        const shared = doc.getText("t");
        shared.insert(0, base);
        let seen: TextEdit[] = [];
        shared.observe((event) => {
          seen = editsOfDelta(event.delta);
        });
        shared.applyDelta(delta);
        expect(shared.toString()).toBe(after);
        expect(applyTextEdits(base, seen)).toBe(after);
        expect(applyTextEdits(base, editsOfDelta(delta))).toBe(after);
        expect(deltaOfEdits(editsOfDelta(delta))).toEqual(delta);
      }),
      { numRuns: 1_000 },
    );
  });

  test("leave out formatting, and refuse what is not text", () => {
    const bold = { attributes: { bold: true } };
    expect(
      editsOfDelta([{ retain: 2, ...bold }, { insert: "x", ...bold }, { retain: 1 }, { delete: 2 }]),
    ).toEqual([
      [2, 0, "x"],
      [4, 2, ""],
    ]);
    expect(() => editsOfDelta([{ retain: 1 }, { insert: { image: "x" } }])).toThrow(
      "Edit 1 inserts what is not text.",
    );
    expect(deltaOfEdits([])).toEqual([]);
    expect(
      deltaOfEdits([
        [3, 0, ""],
        [2, 0, "x"],
        [2, 1, ""],
      ]),
    ).toEqual([]);
    expect(() => deltaOfEdits([[-1, 0, "x"]])).toThrow(TextEditError);
  });
});

describe("edits moved over others", () => {
  test.each<[string, TextEdit[], TextEdit[], TextEdit[]]>([
    ["behind an insertion before", [[3, 1, "x"]], [[0, 0, "ab"]], [[5, 1, "x"]]],
    ["not by one behind", [[3, 1, "x"]], [[7, 0, "ab"]], [[3, 1, "x"]]],
    ["behind one at the same place", [[3, 0, "x"]], [[3, 0, "ab"]], [[5, 0, "x"]]],
    ["by a deletion before", [[5, 0, "x"]], [[1, 2, ""]], [[3, 0, "x"]]],
    ["to where what was around it is deleted", [[5, 0, "x"]], [[3, 4, "y"]], [[4, 0, "x"]]],
    ["with less to delete", [[3, 4, ""]], [[5, 4, ""]], [[3, 2, ""]]],
    ["with nothing left to do", [[3, 2, ""]], [[2, 4, "x"]], []],
    [
      "around what was put into its deletion",
      [[3, 4, "n"]],
      [[5, 0, "xy"]],
      [
        [3, 2, "n"],
        [6, 2, ""],
      ],
    ],
    [
      "several, each on the one before",
      [
        [0, 0, "a"],
        [6, 1, "b"],
      ],
      [
        [0, 0, "xx"],
        [4, 1, ""],
      ],
      [
        [2, 0, "a"],
        [7, 1, "b"],
      ],
    ],
  ])("%s", (_what, edits, over, moved) => {
    expect(moveTextEdits(edits, over)).toEqual(moved);
  });

  test("keep what both put in, and delete what either deletes", () => {
    fc.assert(
      fc.property(twice, ({ base, edits, over }) => {
        // Each letter of the base becomes one of its own; what the two put in are other letters.
        const marked = Array.from(base, (_, i) => String.fromCharCode(0x4e00 + i)).join("");
        const bare = fitting(marked, toChances(edits, base, "A"));
        const bareOver = fitting(marked, toChances(over, base, "B"));
        const one = applyTextEdits(marked, bare);
        const other = applyTextEdits(marked, bareOver);
        const both = applyTextEdits(other, moveTextEdits(bare, bareOver));
        const letters = (of: string, pattern: RegExp) => of.match(pattern)?.join("") ?? "";
        expect(letters(both, /A/g)).toBe(letters(one, /A/g));
        expect(letters(both, /B/g)).toBe(letters(other, /B/g));
        const kept = [...marked].filter((mark) => one.includes(mark) && other.includes(mark)).join("");
        expect(letters(both, /[^AB]/g)).toBe(kept);
      }),
      { numRuns: 2_000 },
    );
  });

  test("converge: whichever side is applied first, both end with the same text", () => {
    fc.assert(
      fc.property(twice, ({ base, edits, over }) => {
        const late = applyTextEdits(applyTextEdits(base, over), moveTextEdits(edits, over, "behind"));
        const early = applyTextEdits(applyTextEdits(base, edits), moveTextEdits(over, edits, "ahead"));
        expect(late).toBe(early);
      }),
      { numRuns: 2_000 },
    );
  });

  /** The same places again, in letters of a base of the same number of letters. */
  function toChances(edits: readonly TextEdit[], base: string, mark: string): [number, number, string][] {
    let at = base;
    return edits.map(([start, del, ins]) => {
      const where = [...at.slice(0, start)].length;
      const count = [...at.slice(start, start + del)].length;
      at = at.slice(0, start) + ins + at.slice(start + del);
      return [where, count, mark.repeat([...ins].length)];
    });
  }
});

describe("the edits between two texts", () => {
  /** The edits, after a look that they make one text of the other. */
  function diff(from: string, to: string, options?: TextDiffOptions): TextEdit[] {
    const edits = diffText(from, to, options);
    expect(applyTextEdits(from, edits)).toBe(to);
    return edits;
  }
  const slow = { milliseconds: 2_000 };

  test.each<[string, string, string, TextEdit[]]>([
    ["equal texts", "a\nb", "a\nb", []],
    ["a new text", "", "a😀\nb", [[0, 0, "a😀\nb"]]],
    ["an emptied text", "a😀\nb", "", [[0, 5, ""]]],
    ["a line more", "a\nb\nc\n", "a\nx\nb\nc\n", [[2, 0, "x\n"]]],
    ["a line less", "a\nb\nc\n", "a\nc\n", [[2, 2, ""]]],
    ["a newline at the end", "a\nb", "a\nb\n", [[3, 0, "\n"]]],
    ["one word of a line", "a\nthe quick fox\nc", "a\nthe slow fox\nc", [[6, 5, "slow"]]],
    [
      "two lines far apart",
      "old\n2\n3\n4\nfive",
      "new\n2\n3\n4\nfives",
      [
        [0, 3, "new"],
        [14, 0, "s"],
      ],
    ],
    ["one emoji for another of the same first half", "a😀b", "a😁b", [[1, 2, "😁"]]],
    ["one emoji for another of the same last half", "a😀b", `a${"\ud83e\ude00"}b`, [[1, 2, "\ud83e\ude00"]]],
    ["an emoji before its like", "😀", "😁😀", [[0, 0, "😁"]]],
  ])("%s", (_what, from, to, edits) => expect(diff(from, to, slow)).toEqual(edits));

  test("any two texts: they fit and split no surrogate pair", () => {
    const options = fc.constantFrom<TextDiffOptions>({}, slow, { milliseconds: -1 });
    fc.assert(
      fc.property(text(60), text(60), options, (from, to, of) => {
        diff(from, to, of);
        expect(diff(from, from, of)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
    fc.assert(
      fc.property(edited, ({ base, edits }) => {
        diff(base, applyTextEdits(base, edits), slow);
      }),
      { numRuns: 2_000 },
    );
  });

  const LINES = Array.from(
    { length: 2_000 },
    (_, i) => `Line ${i} says something of its own, number ${i * 7}.`,
  );

  test("a rewrite touches the lines it changed only", () => {
    const to = LINES.map((line, i) => (i % 400 === 7 ? line.replace("something", "nothing") : line))
      .toSpliced(1_500, 3)
      .toSpliced(900, 0, "A new line.");
    const edits = diff(LINES.join("\n"), to.join("\n"), slow);
    expect(edits).toHaveLength(7);
    expect(edits.reduce((sum, [, del, ins]) => sum + del + ins.length, 0)).toBeLessThan(300);
  });

  test("a keystroke in a large text of one line is one small edit", () => {
    const from = "word ".repeat(100_000);
    expect(within(100, () => diff(from, `${from.slice(0, 250_002)}X${from.slice(250_002)}`))).toEqual([
      [250_002, 0, "X"],
    ]);
  });

  test("a long line with changes far apart is compared by word", () => {
    const words = Array.from({ length: 4_000 }, (_, i) => `w${i}`);
    const to = words.with(10, "first").with(3_900, "last");
    const edits = diff(words.join(" "), to.join(" "), slow);
    expect(edits.length).toBeGreaterThan(1);
    expect(edits.reduce((sum, [, del, ins]) => sum + del + ins.length, 0)).toBeLessThan(40);
  });

  test("beyond the time budget a changed block is replaced between its equal ends", () => {
    let clock = 0;
    const now = () => {
      clock += 25;
      return clock;
    };
    const from = "one\nthe quick brown fox\nthree\n";
    const to = "one\nthe slow browny fox\nthree\n";
    expect(diff(from, to, { now })).toEqual([[8, 11, "slow browny"]]);
    expect(diff(from, to, slow).length).toBeGreaterThan(1);
  });

  test.each<[string, string, string]>([
    ["one letter over and over", "a".repeat(200_000), `b${"a".repeat(180_000)}c`],
    ["two letters", "ab".repeat(100_000), `c${"ba".repeat(90_000)}d`],
    ["the same line over and over", "a\n".repeat(100_000), `b\n${"a\n".repeat(90_000)}c\n`],
    ["other lines", LINES.join("\n"), LINES.map((line) => `${line.slice(5)}!`).join("\n")],
    ["lines in another order", LINES.join("\n"), LINES.toReversed().join("\n")],
    ["words in another order", LINES.join(" "), LINES.toReversed().join(" ")],
    [
      "blocks just small enough",
      `${"a".repeat(3_999)}\n`.repeat(200),
      `b${"a".repeat(3_500)}c\n`.repeat(200),
    ],
  ])("hostile: %s", (_what, from, to) => {
    within(250, () => diff(from, to));
  });
});
