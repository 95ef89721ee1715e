// @vitest-environment jsdom

import fc from "fast-check";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { markdownBlocks, settledTail } from "../client/app/markdown-blocks.ts";
import { Markdown, MarkdownBlock } from "../client/app/parts/markdown.tsx";

const PIECES = [
  "A paragraph with **bold**, `code` and a [link](https://example.com).",
  "Two lines\nof one paragraph",
  "# Title",
  "### Smaller",
  "- one\n- two",
  "- one\n\n- two, loose",
  "1. first\n2. second\n\n   more of the second",
  "- outer\n  - inner\n\n  more of the outer",
  "* other mark",
  "- [x] done\n- [ ] open",
  "```js\nconst a = 1;\n\nconst b = 2;\n```",
  "~~~\n```\n\nstill code\n~~~",
  "````md\n```js\n\n```\n````",
  "- item\n\n  ```sh\n  ls\n\n  ls -l\n  ```",
  "```\nnever closed\n\nstill code",
  "> quoted\n> twice\n\n> another one",
  "> ```\n> quoted code\n\nbehind it",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  "---",
  "Setext\n======",
  "    indented code\n\n    goes on",
  "<div>\n\nnot HTML here\n\n</div>",
  "<!-- hidden\n\nstill hidden -->",
  "<script>\n\nalert(1)\n\n</script>",
  "text[^1] and [ref]\n\n[^1]: the note\n\n[ref]: https://example.com",
  "line  \nbreak",
  "1) another mark",
  "\\# no title",
];

// White space between blocks shows nowhere.
const plain = (html: string) => html.replace(/\s*\n\s*(?=<)|(?<=>)\s*\n\s*/g, "").trim();
const whole = (text: string) => plain(renderToStaticMarkup(<MarkdownBlock text={text} />));
const cut = (text: string) =>
  plain(
    markdownBlocks(text)
      .map((block) => renderToStaticMarkup(<MarkdownBlock text={block} />))
      .join("\n"),
  );

test("blocks mean alone what they mean together", () => {
  for (const piece of PIECES) expect(cut(piece), piece).toBe(whole(piece));
  const inHtml = "<div>\n\nx\n\n</div>\n```js\n1\n\n2\n```\n\n**bold**";
  expect(cut(inHtml)).toBe(whole(inHtml));
  const pieces = fc.array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom("\n\n", "\n", "\n\n\n")), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(pieces, (list) => {
      const text = list.map(([piece, gap]) => piece + gap).join("");
      expect(cut(text)).toBe(whole(text));
    }),
    { numRuns: 200 },
  );
});

test("text is cut at all: paragraphs, lists, code and tables are blocks of their own", () => {
  const text = ["One", "- a\n- b", "```\nx\n\ny\n```", "| a |\n|---|\n| 1 |", "Two"].join("\n\n");
  expect(markdownBlocks(text)).toEqual(["One", "- a\n- b", "```\nx\n\ny\n```", "| a |\n|---|\n| 1 |", "Two"]);
  expect(markdownBlocks("")).toEqual([]);
  expect(markdownBlocks("\n\n  \n")).toEqual([]);
});

test("a growing text renders only its last block anew", async () => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  const host = document.createElement("div");
  const root = createRoot(host);
  const text = "First **paragraph**.\n\n- a\n- b\n\n```js\nlet a;\n```\n\nThe last one.";
  let kept: Element[] = [];
  for (let end = 1; end <= text.length; end++) {
    await act(async () => root.render(<Markdown text={text.slice(0, end)} streaming />));
    const children = [...(host.firstElementChild?.children ?? [])];
    // Elements of finished blocks stay the same ones, so nothing above the last block can move.
    for (const [i, child] of kept.slice(0, -1).entries()) expect(children[i] === child).toBe(true);
    kept = children;
  }
  expect(kept.map(({ tagName }) => tagName)).toEqual(["P", "UL", "DIV", "P"]);
  await act(async () => root.unmount());
});

test.each([
  ["**bo", "**bo**"],
  ["a **bold** and **mo", "a **bold** and **mo**"],
  ["half **bold*", "half **bold**"],
  ["say `co", "say `co`"],
  ["an *em", "an *em*"],
  ["~~gone", "~~gone~~"],
  ["2 * 3 = 6", "2 * 3 = 6"],
  ["see [the page](https://exa", "see the page"],
  ["see [the pa", "see the pa"],
  ["![a picture](https://x", "a picture"],
  ["text\n-", "text"],
  ["text\n==", "text"],
  ["- one\n- ", "- one"],
  ["text\n##", "text"],
  ["1.", ""],
  ["| Risk | What", ""],
  ["Before\n| Risk | What we do |\n|---|", "Before"],
  ["| a | b |\n|---|---|\n| 1", "| a | b |\n|---|---|\n| 1"],
  ["```js\nconst a = **", "```js\nconst a = **"],
  ["and **", "and "],
  ["done.", "done."],
])("while it is written, %j shows as %j", (text, shown) => {
  expect(settledTail(text)).toBe(shown);
});

test("the tail of a text never holds back more than its last line or the head of a table", () => {
  const text = "A **bold** claim with `code`:\n\n- one\n- two *em* three\n\nThe end [link](https://e.com).";
  for (let end = 0; end <= text.length; end++) {
    const block = text.slice(0, end);
    const words = (markdown: string) => markdown.replace(/[^A-Za-z ]/g, "");
    const shown = words(settledTail(block).replace(/https:\/\/.*/, ""));
    expect(words(block).startsWith(shown.trimEnd()), block).toBe(true);
  }
});

test("what agents write cannot run, cannot fetch, and opens elsewhere", () => {
  const html = renderToStaticMarkup(
    <Markdown
      text={[
        "<img src=x onerror=alert(1)> <script>alert(2)</script>",
        "[bad](javascript:alert(3)) [data](data:text/html,x) [good](https://example.com)",
        "![pixel](https://example.com/p.png?secret=1)",
        "<iframe src=https://example.com></iframe>",
        "auto https://example.com/x",
      ].join("\n\n")}
    />,
  );
  const page = new DOMParser().parseFromString(html, "text/html");
  expect(page.querySelectorAll("img, script, iframe, [onerror]")).toHaveLength(0);
  const links = [...page.querySelectorAll("a")];
  expect(links.map((link) => link.getAttribute("href"))).toEqual([
    "https://example.com",
    "https://example.com/p.png?secret=1",
    "https://example.com/x",
  ]);
  for (const link of links) {
    expect(link.target).toBe("_blank");
    expect(link.rel.split(" ")).toContain("noopener");
  }
  expect(page.body.textContent).toContain("Picture: pixel");
});

test("headings of a message stand below that of the page", () => {
  const html = renderToStaticMarkup(<Markdown text={"# One\n\n## Two\n\n### Three"} />);
  expect(html).not.toMatch(/<h[12]/);
});
