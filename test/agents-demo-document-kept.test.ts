import { type BaseEvent, EventType, type RunAgentInput } from "@ag-ui/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { placesIn } from "../server/agents/demo/document-places.ts";
import { demoAgent } from "../server/agents/demo.ts";
import { applyPatch } from "../shared/json-crdt/patch.ts";
import type { Json, JsonPatch } from "../shared/protocol/index.ts";

type State = { document?: string; title?: string; plan?: { title: string; status: string }[] };

/** A run that is asked one thing: the state after it, the document after every change of it, and what was said. */
async function run(content: string, state: unknown) {
  const messages = [{ id: "u", role: "user" as const, content, name: "Ana" }];
  const input: RunAgentInput = { threadId: "t", runId: "r1", messages, tools: [], context: [], state };
  let now = state as Json;
  const documents: string[] = [];
  let answer = "";
  for await (const each of demoAgent({ speed: 0 })(input, { signal: new AbortController().signal })) {
    const event: BaseEvent = each;
    if (event.type === EventType.TEXT_MESSAGE_CONTENT) answer += event.delta;
    if (event.type === EventType.STATE_SNAPSHOT) now = event.snapshot as Json;
    if (event.type !== EventType.STATE_DELTA) continue;
    now = applyPatch(now, event.delta as JsonPatch);
    if ((event.delta as JsonPatch)[0]?.path === "/document") documents.push((now as State).document ?? "");
  }
  return { state: now as State, documents, answer };
}

const WRITTEN =
  "# Our page\n\nWe begin on Monday. Nobody has to hurry.\n\n## Who\n\nAna and Ben, *nobody else*.\n\n## When\n\nSoon.\n";

test.each([
  ["add a section about the new page", "\n## New page\n"],
  ["add a section about starting over from scratch", "\n## Starting over from scratch\n"],
  ["add a paragraph about food", "\n## Food\n"],
  ["write a new section on a different document", "\n## A different document\n"],
  ["Please add a section about our *budget*.", "\n## \\\\\\*budget\\\\\\*\n\nThis section is yours"],
  ["draft the document", "\n## What done looks like\n"],
  ["continue the document", "\n## What done looks like\n"],
  ["make it longer", "\n## What done looks like\n"],
])("%s: what people wrote stays, and the text goes on behind it", async (text, added) => {
  const { state, documents } = await run(text, { document: WRITTEN });
  for (const one of documents) expect(one.startsWith(WRITTEN)).toBe(true);
  expect(state.document!.slice(WRITTEN.length)).toMatch(new RegExp(`^${added}`));
});

test.each([
  ["rewrite the section about when", "the opening only"],
  ["add a section about who", "already"],
  ["shorten the section about when", "no more than one sentence"],
  ["make the When section shorter", "no more than one sentence"],
  ["shorten the section about money", "no section called **money**"],
  ["extend the section about who", "nothing of my own"],
])("%s: what cannot be done is said, and nothing is changed", async (text, said) => {
  const { state, documents, answer } = await run(text, { document: WRITTEN });
  expect([state.document, documents]).toEqual([WRITTEN, []]);
  expect(answer).toContain(said);
  expect(answer).not.toMatch(/\bI (?:cut|rewrote|added|drafted)\b/);
});

test("where there is nothing yet to rewrite or shorten, nothing is begun", async () => {
  for (const text of ["make it shorter", "rewrite the intro"]) {
    const { state, answer } = await run(text, { document: " \n" });
    expect(state).toEqual({ document: " \n" });
    expect(answer).toContain("no document yet");
  }
});

test("the opening is found behind headings, lists and code, and not inside of them", async () => {
  const before = "Soon.\n=====\n\n- Soon.\n\n```\nSoon.\n\n# Soon.\n```\n\n## Soon.\n";
  const after = "\n\n> Soon. And later.\n\nSoon. And then?\r\n\r\nEnd.";
  const short = `${before}Version 1.2 is soon\nout.${after}`;
  const shortened = await run("shorten the opening", {
    document: `${before}Version 1.2 is soon\nout. Soon.${after}`,
  });
  expect(shortened.state.document).toBe(short);
  const rewritten = (await run("rewrite the opening", { document: short })).state.document!;
  expect([rewritten.startsWith(before), rewritten.endsWith(after)]).toEqual([true, true]);
  expect(rewritten).not.toContain("Version");
  const longer = await run("extend the intro", { document: short });
  expect(longer.documents).toHaveLength(1);
  expect(longer.state.document!.startsWith(short.slice(0, -after.length))).toBe(true);
  expect(longer.state.document!.endsWith(after)).toBe(true);
});

test("an opening that says the same as its heading is rewritten, and the heading stays", async () => {
  const after = "\n\n## Our page\n\nEnd.";
  const { documents } = await run("rewrite the opening", { document: `# Our page\n\nOur page${after}` });
  expect(documents.length).toBeGreaterThan(0);
  for (const one of documents) {
    expect([one.startsWith("# Our page\n\n"), one.endsWith(after)]).toEqual([true, true]);
    expect(one.slice(12, -after.length)).not.toContain("Our page");
  }
});

test("any text that stands there is kept but for one paragraph, or goes on at its end", async () => {
  const known = fc.constantFrom("# T", "## A", "One. Two.", "- a\n- b", "```\nx\n\ny", "a | b", "\r\n", "");
  const piece = fc.oneof(known, fc.string({ unit: "grapheme", maxLength: 20 }));
  const texts = fc.array(piece, { minLength: 1, maxLength: 8 }).map((parts) => parts.join("\n\n"));
  const requests = fc.constantFrom(
    "rewrite the opening",
    "make it shorter",
    "extend the intro",
    "continue the document",
    "draft the announcement",
    "add a section about risks",
  );
  await fc.assert(
    fc.asyncProperty(texts, requests, async (document, request) => {
      if (document.trim() === "") return;
      const { state } = await run(request, { document });
      const end = document.length;
      const places = [{ start: end, end }, ...placesIn(document).paragraphs];
      const kept = places.some(
        ({ start, end }) =>
          state.document!.startsWith(document.slice(0, start)) &&
          state.document!.endsWith(document.slice(end)),
      );
      expect(kept).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test("a rewrite speaks of what the document is about, not of the rewriting", async () => {
  const trip = await run("rewrite the opening", { document: "# Rome: itinerary\n\nWe go." });
  expect(trip.state.document).toMatch(/everyone needs on the way/);
  const plain = await run("rewrite the opening", { document: "# Ours\n\nWe go." });
  expect(plain.state.document).toMatch(/what we are about to do/i);
});

test("drafted beside a plan there is, it ticks the step that asks for it, and no other", async () => {
  const titles = ["Write down the phone number", "Write the announcement", "Announce it"];
  const plan = titles.map((title, n) => ({ id: `${n}`, title, status: "pending" }));
  const { state, answer } = await run("draft the announcement", { title: "Launch plan", plan });
  expect(state.plan!.map(({ status }) => status)).toEqual(["pending", "done", "pending"]);
  expect(state.document).toMatch(/^# Launch: announcement\n/);
  expect(answer).toMatch(/the announcement/i);
  const later = await run("add the announcement to the plan", { title: "Launch plan", plan });
  expect(later.state.plan).toHaveLength(4);
  expect(later.state.document).toBeUndefined();
});

test("a new plan leaves the document, and says how to have a new one too", async () => {
  const { state, answer } = await run("Start over with a new plan for the offsite", { document: WRITTEN });
  expect(state.document).toBe(WRITTEN);
  expect(answer).toContain("*start the document over*");
  const after = await run("start the document over", state);
  expect(after.state.document).toMatch(/^# Offsite: running order\n/);
});
