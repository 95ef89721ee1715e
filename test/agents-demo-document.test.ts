import { type BaseEvent, EventType, type Message, type RunAgentInput } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { demoAgent } from "../server/agents/demo.ts";
import { applyPatch } from "../shared/json-crdt/patch.ts";
import type { Json, JsonPatch } from "../shared/protocol/index.ts";
import { TestRooms } from "./kit/server.ts";

type State = { document?: string; title?: string; plan?: { title: string; status: string }[] };

const said = (content: string): Message => ({ id: `u-${content}`, role: "user", content, name: "Ana" });

async function run(content: string, state?: unknown) {
  const input: RunAgentInput = {
    threadId: "t",
    runId: "r1",
    messages: [said(content)],
    tools: [],
    context: [],
    ...(state !== undefined && { state }),
  };
  const events: BaseEvent[] = [];
  const signal = new AbortController().signal;
  for await (const event of demoAgent({ speed: 0 })(input, { signal })) events.push(event as BaseEvent);
  let now = (state ?? {}) as Json;
  const documents: string[] = [];
  for (const event of events) {
    if (event.type === EventType.STATE_SNAPSHOT) now = event.snapshot as Json;
    if (event.type !== EventType.STATE_DELTA) continue;
    now = applyPatch(now, event.delta as JsonPatch);
    if ((event.delta as JsonPatch)[0]?.path === "/document") documents.push((now as State).document ?? "");
  }
  const answer = events
    .filter(({ type }) => type === EventType.TEXT_MESSAGE_CONTENT)
    .map(({ delta }) => delta)
    .join("");
  return { state: now as State, documents, answer };
}

const OPENING = "We begin on Monday. Nobody has to hurry.";
const WRITTEN = `# Our page\n\n${OPENING}\n\n## Who\n\nAna and Ben, *nobody else*.\n\n## When\n\nSoon.\n`;

describe("the document that Planner drafts", () => {
  test("a plan comes with one that fits it, and people see it grow", async () => {
    const { state, documents, answer } = await run("Plan the launch of our mobile app");
    expect(documents.length).toBeGreaterThanOrEqual(12);
    expect(documents.length).toBeLessThanOrEqual(25);
    for (const [i, text] of documents.entries())
      if (i > 0) expect(text.startsWith(documents[i - 1]!)).toBe(true);
    expect(state.document).toMatch(/^# Mobile app: announcement\n\n.+\n\n## What is new\n/);
    const step = state.plan!.find(({ title }) => /announcement/.test(title));
    expect(step?.status).toBe("done");
    expect(answer).toContain("Document");
  });

  test.each([
    ["draft the announcement for the release", "# ", "What is new"],
    ["write the itinerary for our trip to Rome", "# ", "Day by day"],
    ["write a one-page brief", "# ", "What done looks like"],
  ])("%s: one is drafted without a plan", async (text, begins, heading) => {
    const { state, answer } = await run(text, {});
    expect(state.document?.startsWith(begins)).toBe(true);
    expect(state.document).toContain(`## ${heading}`);
    expect(state.plan).toBeUndefined();
    expect(answer).toContain("**Document**");
  });

  test("what people wrote stays when a plan is asked for", async () => {
    const { state, documents } = await run("Plan the office move", { document: WRITTEN });
    expect([state.document, documents]).toEqual([WRITTEN, []]);
  });

  test("the opening is rewritten, and every other paragraph stays as it is", async () => {
    const { state, documents } = await run("rewrite the opening", { document: WRITTEN });
    expect(documents.length).toBeGreaterThan(1);
    const [title, opening, ...rest] = state.document!.split("\n\n");
    expect(title).toBe("# Our page");
    expect(opening).not.toBe(OPENING);
    expect(rest.join("\n\n")).toBe(WRITTEN.split("\n\n").slice(2).join("\n\n"));
  });

  test("it is made shorter, and a section is added where there was none", async () => {
    expect((await run("make it shorter", { document: WRITTEN })).state.document).toBe(
      WRITTEN.replace(OPENING, "We begin on Monday."),
    );
    const more = await run("add a section about risks", { document: WRITTEN });
    expect(more.state.document?.startsWith(WRITTEN)).toBe(true);
    expect(more.state.document).toMatch(/\n\n## Risks\n\n- It grows while we work: /);
    expect(more.answer).toContain("**Risks**");
  });

  test("started over, it is another one", async () => {
    const { state } = await run("write a new document from scratch about the launch", { document: WRITTEN });
    expect(state.document).not.toContain("Ana and Ben");
    expect(state.document).toContain("## What is new");
  });

  test.each([
    ["no text", { document: { of: "somebody" } }],
    ["a megabyte", { document: "x".repeat(1_000_000) }],
    ["a list", ["document"]],
    ["a number", 7],
  ])("where %s stands it leaves it alone and says so", async (_what, state) => {
    const after = await run("rewrite the opening of the document", state);
    expect(after.state).toEqual(state);
    expect(after.answer).toContain("I left it alone");
    await run("Plan the launch", state);
  });

  test("without a state there is one afterwards", async () => {
    expect((await run("draft the announcement")).state.document).toContain("## What is new");
  });

  test("what somebody types into another paragraph while it is rewritten stays", async () => {
    let typed = () => {};
    const typing = new Promise<void>((resolve) => {
      typed = resolve;
    });
    const planner = demoAgent({ speed: 0 });
    const rooms = new TestRooms({
      agents: {
        async *planner(input, context) {
          for await (const event of planner(input, context)) {
            yield event;
            if (event.type === EventType.STATE_DELTA) await typing;
          }
        },
      },
    });
    const ana = await rooms.join("t");
    const patch = (key: string, value: string, base: number) =>
      ana.ask({ type: "patch", key, base, patch: [{ op: "add", path: "/document", value }] });
    await patch("k1", WRITTEN, 0);
    await ana.submit("rewrite the opening");
    const { seq } = await ana.entry(
      ({ kind, ...entry }) => kind === "text" && "run" in entry && entry.run !== null,
    );
    await patch("k2", WRITTEN.replace("Soon.", "Soon, she wrote."), seq - 2);
    typed();
    await ana.terminal();
    const { catchUp } = (await rooms.join("t", "Ben")).reply;
    const { document } = (catchUp.kind === "snapshot" ? catchUp.snapshot.state : {}) as State;
    expect(document).not.toContain("We begin on Monday");
    expect(document).toContain("Ana and Ben, *nobody else*.");
    expect(document).toContain("Soon, she wrote.");
  });
});
