import { getEventListeners } from "node:events";
import {
  type AbstractAgent,
  defaultApplyEvents,
  enforceEvents,
  transformChunks,
  verifyEvents,
} from "@ag-ui/client";
import { type BaseEvent, EventType, type Message, type RunAgentInput } from "@ag-ui/core";
import fc from "fast-check";
import { from, lastValueFrom, toArray } from "rxjs";
import { describe, expect, test, vi } from "vitest";
import type { AgentFunction } from "../server/agents/agent.ts";
import { snippetOf } from "../server/agents/demo/snippets.ts";
import { demoAgent } from "../server/agents/demo.ts";
import { echoAgent } from "../server/agents/echo.ts";
import type { Clock } from "../shared/clock.ts";

type Events = BaseEvent[];
type Plan = { id: string; title: string; status: string }[];
type State = { title: string; plan: Plan } & Record<string, unknown>;
type Run = (input: RunAgentInput, context: { signal: AbortSignal }) => AsyncIterable<BaseEvent>;

function user(content: string, name?: string, id = `u-${content.slice(0, 20)}`): Message {
  return { id, role: "user", content, ...(name !== undefined && { name }) };
}

function inputOf(messages: Message[], state?: unknown, runId = "run-1"): RunAgentInput {
  return {
    threadId: "launch",
    runId,
    messages,
    tools: [],
    context: [],
    ...(state !== undefined && { state }),
  };
}

async function eventsOf(agent: Run, input: RunAgentInput): Promise<Events> {
  const events: Events = [];
  for await (const event of agent(input, { signal: new AbortController().signal })) events.push(event);
  return events;
}

/** Planner without pauses; `seed` 1 unless told. */
const plan = (input: RunAgentInput, seed = 1) => eventsOf(demoAgent({ seed, speed: 0 }), input);

/** What a stock client's checks let through, in order; rejects where they find a fault. */
const checked = (events: Events) =>
  lastValueFrom(from(events).pipe(enforceEvents(), transformChunks(), verifyEvents(), toArray()));

/** Messages and state of a stock client after the run; fails when it warned about a patch. */
async function applied(input: RunAgentInput, events: Events): Promise<{ messages: Message[]; state: State }> {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const agent = { messages: input.messages, state: input.state } as unknown as AbstractAgent;
  let messages = input.messages;
  let state = input.state as State;
  await defaultApplyEvents(input, from(events), agent, []).forEach((change) => {
    if (change.messages !== undefined) messages = change.messages;
    if (change.state !== undefined) state = change.state as State;
  });
  const warnings = warn.mock.calls;
  warn.mockRestore();
  expect(warnings).toEqual([]);
  return { messages, state };
}

const typesOf = (events: Events) => new Set(events.map((event) => event.type));

/** The run's assistant messages as one text, a blank line between them. */
function spoken(events: Events): string {
  const texts = new Map<unknown, string>();
  for (const { type, messageId, delta } of events) {
    if (type === EventType.TEXT_MESSAGE_CONTENT) texts.set(messageId, (texts.get(messageId) ?? "") + delta);
  }
  return [...texts.values()].join("\n\n");
}

/** A clock that jumps to the next timer when it is told to, and knows its open timers. */
class JumpingClock implements Clock {
  time = 0;
  readonly timers = new Set<{ at: number; run: () => void }>();
  now = () => this.time;
  after(ms: number, run: () => void): () => void {
    const timer = { at: this.time + ms, run };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }
  jump(): void {
    const [next] = [...this.timers].sort((a, b) => a.at - b.at);
    if (!next) return;
    this.timers.delete(next);
    this.time = next.at;
    next.run();
  }
}

/** Lets everything happen that needs no timer. */
const settled = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

/** Runs to the end on a jumping clock: the events and when each came, in ms. */
async function timed(agent: (clock: Clock) => Run, input: RunAgentInput) {
  const clock = new JumpingClock();
  const arrivals: { at: number; event: BaseEvent }[] = [];
  let over = false;
  const reading = (async () => {
    const events = agent(clock)(input, { signal: new AbortController().signal });
    for await (const event of events) arrivals.push({ at: clock.time, event });
    over = true;
  })();
  while (!over) {
    await settled();
    clock.jump();
  }
  await reading;
  return { arrivals, total: clock.time };
}

const LAUNCH = "Draft the launch plan for the mobile release, and check the date with marketing.";
const REQUESTS = [
  LAUNCH,
  "Plan the office move by Friday",
  "make a checklist for the conference in May",
  "start over with a new plan",
  "Also prepare the FAQ, please",
  "go on",
  "Compare SQLite and Postgres",
  "Should we use tabs or spaces?",
  "explain photosynthesis",
  "Write a SQL query for active threads",
  "can you implement a retry function?",
  "hi",
  "thanks, that helps",
  "what's left?",
  "who are you?",
  "bye",
  "???",
];

const texts = fc.oneof(fc.constantFrom(...REQUESTS), fc.string({ unit: "grapheme", maxLength: 200 }));
const messages = fc.array(
  fc.record({
    role: fc.constantFrom("user" as const, "user" as const, "assistant" as const),
    content: texts,
    name: fc.option(fc.oneof(fc.constantFrom("Ana", "Ben | *B*"), fc.string({ maxLength: 30 })), {
      nil: undefined,
    }),
  }),
  { maxLength: 4 },
);
const step = fc.record(
  {
    id: fc.oneof(fc.constantFrom("s1", "run-1-s1"), fc.string()),
    title: fc.oneof(fc.string(), fc.integer()),
    status: fc.oneof(fc.constantFrom("pending", "active", "done", "blocked"), fc.constant(null)),
    owner: fc.string(),
  },
  { requiredKeys: [] },
);
const jsonStates = fc.oneof(
  fc.constant(undefined),
  fc.record({ title: fc.string(), plan: fc.array(step, { maxLength: 16 }), document: fc.string() }),
  fc.record({ plan: fc.array(fc.oneof(step, fc.jsonValue({ maxDepth: 1 })), { maxLength: 6 }) }),
  fc.record({ plan: fc.jsonValue({ maxDepth: 2 }), title: fc.jsonValue({ maxDepth: 1 }) }),
  fc.jsonValue({ maxDepth: 2 }),
);
const inputs = fc
  .record({ messages, state: jsonStates, seed: fc.integer() })
  .map(({ messages, state, seed }) => {
    const list = messages.map(({ name, ...rest }, n) => ({
      id: `m${n}`,
      ...rest,
      ...(name !== undefined && { name }),
    }));
    return { seed, input: inputOf(list, state === null ? undefined : state) };
  });

describe("every run of the demo agent", () => {
  test("is a legal AG-UI stream of which a stock client strips nothing", async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async ({ seed, input }) => {
        const events = await plan(input, seed);
        expect(await checked(events)).toEqual(events);
        expect(events[0]).toMatchObject({ type: "RUN_STARTED", threadId: "launch", runId: "run-1" });
        expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", threadId: "launch", runId: "run-1" });
        expect([...typesOf(events)].filter((type) => type.endsWith("_CHUNK"))).toEqual([]);
        // its events are JSON: what a socket carries is what was sent
        expect(JSON.parse(JSON.stringify(events))).toEqual(events);
      }),
      { numRuns: 200 },
    );
  });

  test("applies in a stock client, owns its keys of the state and leaves the rest alone", async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async ({ seed, input }) => {
        const events = await plan(input, seed);
        const { messages, state } = await applied(input, events);
        expect(messages.slice(0, input.messages.length)).toEqual(input.messages);
        if (!typesOf(events).has(EventType.STATE_SNAPSHOT)) {
          expect(state).toEqual(input.state);
          return;
        }
        const before = typeof input.state === "object" && !Array.isArray(input.state) ? input.state : {};
        // a document is drafted where there is none; what stands there is somebody's
        const isFree = typeof (before.document ?? "") === "string" && (before.document ?? "").trim() === "";
        const own = { title: 0, plan: 0, ...(isFree && { document: 0 }) };
        expect({ ...state, ...own }).toEqual({ ...before, ...own });
        expect(state.title).toEqual(expect.stringMatching(/\S/));
        const active = (plan: Plan) =>
          plan.filter((item) => item?.status === "active").map((item) => item.id);
        const old: Plan = Array.isArray(before.plan) ? before.plan : [];
        // nothing is left spinning that this run had in hand
        const left = active(old);
        for (const id of active(state.plan)) expect(left).toContain(id);
        // what people put into a plan that is carried on stays, but for a status
        const snapshot = events.find((event) => event.type === EventType.STATE_SNAPSHOT)!.snapshot as State;
        if (snapshot.plan.length > 0) {
          expect(snapshot.plan).toEqual(old);
          const bare = (item: unknown) => (typeof item === "object" ? { ...item, status: 0 } : item);
          expect(state.plan.slice(0, old.length).map(bare)).toEqual(old.map(bare));
        }
      }),
      { numRuns: 60 },
    );
  });

  test("gives the same events for the same seed and input, and leaves the input as it was", async () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
      return value;
    };
    await fc.assert(
      fc.asyncProperty(inputs, async ({ seed, input }) => {
        const first = await plan(freeze(input), seed);
        expect(await plan(structuredClone(input), seed)).toEqual(first);
      }),
      { numRuns: 50 },
    );
  });

  test("differs between seeds and between runs in its words", async () => {
    const bySeed = new Set<string>();
    const byRun = new Set<string>();
    for (let n = 1; n <= 8; n++) {
      bySeed.add(spoken(await plan(inputOf([user(LAUNCH)]), n)));
      byRun.add(spoken(await plan(inputOf([user(LAUNCH)], undefined, `run-${n}`))));
    }
    expect(bySeed.size).toBeGreaterThan(4);
    expect(byRun.size).toBeGreaterThan(4);
  });

  test("derives its ids from the run's, none twice", async () => {
    const events = await plan(inputOf([user(LAUNCH)], undefined, "r/42"));
    const opened = events.flatMap((event) =>
      /_(?:START|SNAPSHOT|RESULT)$/.test(event.type) && event.type !== EventType.REASONING_START
        ? [event.type === EventType.TOOL_CALL_START ? event.toolCallId : (event.messageId ?? [])].flat()
        : [],
    );
    expect(opened.length).toBeGreaterThan(3);
    expect(new Set(opened).size).toBe(opened.length);
    for (const id of opened) expect(id).toMatch(/^r\/42-[mrta]\d$/);
  });
});

describe("a plan", () => {
  test("shows every kind of construct, in the order of somebody at work", async () => {
    const events = await plan(inputOf([user(LAUNCH, "Ana")]));
    const order = events.map((event) => event.type).filter((type, n, all) => type !== all[n - 1]);
    const wanted = [
      "RUN_STARTED",
      "STEP_STARTED",
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      "STEP_FINISHED",
      "STATE_SNAPSHOT",
      "STATE_DELTA",
      "ACTIVITY_SNAPSHOT",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "ACTIVITY_DELTA",
      "TOOL_CALL_RESULT",
      "ACTIVITY_DELTA",
      "STATE_DELTA",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "STATE_DELTA",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ];
    let found = 0;
    for (const type of order) if (type === wanted[found]) found++;
    expect(wanted.slice(found)).toEqual([]);
  });

  test("grows step by step in the state and is partly done at the end", async () => {
    const input = inputOf([user(LAUNCH, "Ana")], { document: "Our text", budget: { eur: 5 } });
    const events = await plan(input);
    const snapshot = events.find((event) => event.type === EventType.STATE_SNAPSHOT);
    expect(snapshot?.snapshot).toEqual({
      document: "Our text",
      budget: { eur: 5 },
      title: "Launch plan",
      plan: [],
    });
    const { state } = await applied(input, events);
    expect(state.document).toBe("Our text");
    expect(state.plan.map((one) => one.status)).toEqual([
      "done",
      "done",
      "pending",
      "pending",
      "pending",
      "pending",
    ]);
    const adds = events.filter((event) => (event.delta as { op: string }[])?.[0]?.op === "add");
    expect(adds).toHaveLength(6);
    const statuses = events
      .filter((event) => event.type === EventType.STATE_DELTA)
      .flatMap((event) => (event.delta as { value: unknown }[]).map((op) => op.value));
    expect(statuses.slice(6)).toEqual(["active", "done", "active", "done"]);
  });

  test("streams arguments and result of its tool call as JSON, answered within the run", async () => {
    const input = inputOf([user(`${LAUNCH} It must be in December.`)]);
    const events = await plan(input);
    const { messages } = await applied(input, events);
    const caller = messages.find((message) => message.role === "assistant" && message.toolCalls?.length);
    const call = caller?.role === "assistant" ? caller.toolCalls?.[0] : undefined;
    expect(call?.function.name).toBe("calendar.lookup");
    expect(JSON.parse(call!.function.arguments)).toEqual({ team: "marketing", when: "December" });
    const at = messages.indexOf(caller!);
    const result = messages.find((message) => message.role === "tool");
    expect(messages.indexOf(result!)).toBeGreaterThan(at);
    expect(result).toMatchObject({ toolCallId: call!.id });
    const { team, free } = JSON.parse((result as { content: string }).content);
    expect(team).toBe("marketing");
    expect(free).toHaveLength(3);
    expect(spoken(events)).toContain(`**${free[0]}**`);
  });

  test.each([
    ["Plan our launch on 12 March", "12 March"],
    ["Plan our launch for March 12th, 2027", "12 March 2027"],
    ["Plan the launch on the 1st of Sept", "1 September"],
    ["Plan the launch on 2027-03-12", "2027-03-12"],
    ["Plan the office move by Friday", "Friday"],
    ["Plan the launch for next tuesday", "next Tuesday"],
  ])("takes the day somebody names: %s", async (text, day) => {
    const input = inputOf([user(text)]);
    const events = await plan(input);
    const { messages, state } = await applied(input, events);
    const caller = messages.find((message) => message.role === "assistant" && message.toolCalls?.length);
    const call = caller?.role === "assistant" ? caller.toolCalls?.[0] : undefined;
    expect(JSON.parse(call!.function.arguments).when).toBe(day);
    expect(state.plan[0]!.title).toMatch(`Check ${day} with `);
    expect(spoken(events)).toMatch(new RegExp(`You named ${day}: .* free \\*\\*${day} \\d\\d:\\d\\d\\*\\*`));
  });

  test("no number or word that only looks like a date is taken for one", async () => {
    for (const text of [
      "Plan 12 marches",
      "We may plan 3 things",
      "Plan version 1.2.3",
      "Plan for March 2027",
    ])
      expect(spoken(await plan(inputOf([user(text)])))).not.toMatch(/You named (?!March:|no date)/);
  });

  test("tells its steps with their state and their number, all as the state has them", async () => {
    const requests = fc.constantFrom(
      LAUNCH,
      "Plan a trip in May",
      "go on",
      "Add the FAQ",
      "what's left?",
      "start over with a new plan",
    );
    const told = fc.record({
      text: requests,
      seed: fc.integer(),
      plan: fc.array(
        fc.record({
          id: fc.uuid(),
          title: fc.constantFrom("One", "Two", "Three"),
          status: fc.constantFrom("pending", "active", "done"),
        }),
        { maxLength: 9 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(told, async ({ text, seed, plan: steps }) => {
        const input = inputOf([user(text)], { title: "Ours", plan: steps });
        const events = await plan(input, seed);
        const answer = spoken(events);
        const { state } = await applied(input, events);
        const lines = [...answer.matchAll(/^- \[([ x])\] (.+?)( \(under way\))?$/gm)].map(
          ([, mark, title, active]) => [title, mark === "x" ? "done" : active ? "active" : "pending"],
        );
        if (lines.length === 0) {
          expect(state).toEqual(input.state);
          return;
        }
        expect(lines).toEqual(state.plan.map(({ title, status }) => [title, status]));
        const done = state.plan.filter(({ status }) => status === "done").length;
        const number = "none one two three four five six seven eight nine ten eleven twelve".split(" ");
        const all = number[state.plan.length];
        const said =
          state.plan.length === 1
            ? `its only step is ${done === 1 ? "done" : "open"}`
            : done === state.plan.length
              ? `all ${all} steps are done`
              : `${number[done]} of ${all} steps ${done < 2 ? "is" : "are"} done`;
        expect(answer.toLowerCase()).toContain(said);
        // and no other number of them
        expect(answer.match(/\w+ of \w+ steps/g)?.length ?? 0).toBeLessThan(2);
      }),
      { numRuns: 80 },
    );
  });

  test("ends with its progress activity complete", async () => {
    const input = inputOf([user(LAUNCH)]);
    const { messages } = await applied(input, await plan(input));
    const activity = messages.find((message) => message.role === "activity");
    expect(activity).toMatchObject({ activityType: "progress", content: { done: 3, total: 3 } });
    const { items } = (activity as unknown as { content: { items: { done: boolean }[] } }).content;
    expect(items.map((item) => item.done)).toEqual([true, true, true]);
  });

  test("counts tokens from what was streamed", async () => {
    const events = await plan(inputOf([user(LAUNCH)]));
    const [usage] = events.at(-1)!.usage as Record<string, number>[];
    expect(usage).toMatchObject({
      provider: "demo",
      model: "planner",
      inputTokens: Math.ceil(LAUNCH.length / 4),
    });
    expect(usage!.totalTokens).toBe(usage!.inputTokens! + usage!.outputTokens!);
    expect(usage!.outputTokens).toBeGreaterThan(usage!.reasoningTokens! + spoken(events).length / 4 - 1);
  });
});

describe("what is asked decides the answer", () => {
  test.each([
    [LAUNCH, /^## Launch plan\n\n/m, /^\| Risk \|/m],
    [
      "make a checklist for the conference",
      /^## Conference checklist$/m,
      /^- \[x\] .+\n- \[x\] .+\n- \[ \] /m,
    ],
    ["Plan the office move by Friday", /^## Office move plan$/m, /`calendar\.lookup`/],
    ["Can you plan our summer party?", /^## Summer party plan$/m, /\*\*/],
    ["Organise our archive", /^## Organise our archive$/m, /\*\*/],
    ["we need a plan", /^## Plan$/m, /\*\*/],
    ["Compare SQLite and Postgres", /^## SQLite and Postgres$/m, /^\|---\|---\|---\|$/m],
    ["Should we use tabs or spaces for this?", /^## tabs and spaces$/m, /^\| \| tabs \| spaces \|$/m],
    ["explain photosynthesis to me", /^## Photosynthesis to me$/m, /^\|---\|---\|$/m],
    ["is it worth it?", /^## Is it worth it$/m, /`notes\.search`/],
    ["write a SQL query", /^## A query/m, /```sql\nSELECT [\s\S]+;\n```/],
    ["implement something in python", /^## A Python/m, /```python\nimport/],
    ["I need code", /^## A function/m, /```ts\n/],
  ])("%s", async (text, heading, also) => {
    for (let seed = 1; seed <= 5; seed++) {
      const answer = spoken(await plan(inputOf([user(text)]), seed));
      expect(answer).toMatch(heading);
      expect(answer).toMatch(also);
    }
  });

  test.each([
    "hi",
    "Hello Planner!",
    "thanks",
    "Thank you, that helps",
    "ok",
    "bye",
    "help",
    "where are we?",
    "",
  ])("small talk (%s) is answered in a few words and touches nothing", async (text) => {
    const events = await plan(inputOf(text === "" ? [] : [user(text, "Ana")], { title: "T", plan: [] }));
    expect([...typesOf(events)]).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(spoken(events).length).toBeLessThan(250);
    if (text !== "") expect(spoken(events)).toContain("Ana");
  });

  test("code comes through word by word without a changed character", async () => {
    for (const text of ["sql", "regex", "bash", "python code", "code"]) {
      const answer = spoken(await plan(inputOf([user(text)])));
      expect(answer).toContain(`\n${snippetOf(text).code}\n\`\`\`\n`);
    }
  });

  test("the newest request decides, a remark or thanks beside it does not, and others are named", async () => {
    const events = await plan(
      inputOf([
        user("Draft a trip plan", "Zoe"),
        { id: "a", role: "assistant", content: "Here it is." },
        user("we have 50 chairs", "Ben"),
        user("Draft the workshop plan", "Ana"),
        user("thanks!", "Chi"),
      ]),
    );
    const answer = spoken(events);
    expect(answer).toMatch(/^## Workshop plan/m);
    expect(answer).toMatch(/^Ana, /m);
    expect(answer).toContain("Ben (“we have 50 chairs”) and Chi (“thanks\\!”)");
    expect(answer).not.toContain("Zoe");
  });

  test("made again after an answer, it answers the same request", async () => {
    const events = await plan(
      inputOf([user("Draft the workshop plan"), { id: "a", role: "assistant", content: "…" }]),
    );
    expect(spoken(events)).toMatch(/^## Workshop plan/m);
  });

  test("what people write cannot break the Markdown around it", async () => {
    const state = {
      title: "A | B\n# C",
      plan: [{ id: "1", title: "x | **y** `z`\n\n# h", status: "pending" }],
    };
    const text = "add <b>bold</b> | `tick` ![i](http://x) #tag";
    const answer = spoken(await plan(inputOf([user(text, "*Ana*|\n# Boss")], state)));
    expect(answer).toMatch(/^### A \\\| B \\# C: what changed$/m);
    expect(answer).toContain("\\*Ana\\*\\| \\# Boss, ");
    expect(answer).toContain("x \\| \\*\\*y\\*\\* \\`z\\` \\# h");
    expect(answer).toContain("**New:** \\<b\\>bold\\</b\\> \\| \\`tick\\` \\!\\[i\\](http://x) \\#tag");
  });

  test("a message as long as a book is read in part and quoted in part", async () => {
    for (const text of ["plan ".repeat(200_000), "a".repeat(1_000_000), "vs ".repeat(300_000)]) {
      const started = performance.now();
      const events = await plan(inputOf([user(text, "n".repeat(10_000))]));
      expect(performance.now() - started).toBeLessThan(5_000);
      expect(JSON.stringify(events).length).toBeLessThan(60_000);
    }
  });

  test("content in parts is read by its text", async () => {
    const content = [
      { type: "text" as const, text: "Draft the hiring plan" },
      { type: "image" as const, source: { type: "url" as const, value: "https://example.com/a.png" } },
    ];
    const events = await plan(inputOf([{ id: "u", role: "user", content }]));
    expect(spoken(events)).toMatch(/^## Hiring plan/m);
  });
});

describe("a second run", () => {
  const first = inputOf([user(LAUNCH, "Ana")]);

  async function next(text: string, state: unknown, runId = "run-2") {
    const input = inputOf([user(text, "Chi")], state, runId);
    const events = await plan(input);
    expect(await checked(events)).toEqual(events);
    return { events, ...(await applied(input, events)) };
  }

  test("goes on with the plan it finds and adds what was asked for", async () => {
    const { state } = await applied(first, await plan(first));
    // people renamed one step and ticked another off meanwhile
    state.plan[2]!.title = "Write the blog post";
    state.plan[3]!.status = "done";
    const after = await next("Also prepare the FAQ, please.", state);
    expect(after.state.title).toBe("Launch plan");
    expect(after.state.plan.map((one) => one.id).slice(0, 6)).toEqual(state.plan.map((one) => one.id));
    expect(after.state.plan.map((one) => one.status)).toEqual([
      ...Array(5).fill("done"),
      "pending",
      "pending",
    ]);
    expect(after.state.plan.at(-1)).toEqual({ id: "run-2-s1", title: "Prepare the FAQ", status: "pending" });
    expect(spoken(after.events)).toContain("**Done:** Write the blog post");
    expect(spoken(after.events)).toContain("**New:** Prepare the FAQ");
  });

  test("takes up first what a stopped run left active", async () => {
    const plan = ["done", "pending", "active"].map((status, n) => ({
      id: `${n}`,
      title: `Step ${n}`,
      status,
    }));
    const after = await next("go on", { title: "Ours", plan });
    const patches = after.events
      .filter((event) => event.type === EventType.STATE_DELTA)
      .map((event) => event.delta);
    expect(patches[0]).toEqual([{ op: "replace", path: "/plan/2/status", value: "active" }]);
    expect(after.state.plan.map((one) => one.status)).toEqual(["done", "done", "done"]);
  });

  test("comes to an end when it is told to go on for ever", async () => {
    let state: State = (await applied(first, await plan(first))).state;
    for (let n = 2; n < 14; n++) state = (await next("go on", state, `run-${n}`)).state;
    expect(state.plan.every((one) => one.status === "done")).toBe(true);
    expect(state.plan.length).toBeLessThanOrEqual(14);
    expect(new Set(state.plan.map((one) => one.id)).size).toBe(state.plan.length);
    expect(new Set(state.plan.map((one) => one.title)).size).toBe(state.plan.length);
  });

  test("starts over when it is asked to, or when a plan is asked for and the old one is finished", async () => {
    const { state } = await applied(first, await plan(first));
    const again = await next("Start over with a new plan for the offsite", state);
    expect(again.state.title).toBe("Offsite plan");
    expect(again.state.plan.map((one) => one.id)[0]).toBe("run-2-s1");
    const done = { ...state, plan: state.plan.map((one) => ({ ...one, status: "done" })) };
    const after = await next("make a plan for the migration", done, "run-3");
    expect(after.state.title).toBe("Migration plan");
    expect(after.state.plan.map((one) => one.id)[0]).toBe("run-3-s1");
  });

  test.each([
    "Compare SQLite and Postgres",
    "write a shell script",
    "tell me a joke",
    "thanks for the plan, that helps a lot with everything we have to do this month",
    "the launch went well",
    "I like the plan",
    "we have 50 chairs",
    "what's next?",
  ])("what asks for no step (%s) leaves the plan alone", async (text) => {
    const { state } = await applied(first, await plan(first));
    const after = await next(text, state);
    expect(after.state).toEqual(state);
    expect([...typesOf(after.events)].filter((type) => type.startsWith("STATE_"))).toEqual([]);
    // nor does it begin one
    expect((await next(text, {})).state).toEqual(text === "I like the plan" ? expect.anything() : {});
  });

  test.each([
    ["Add the FAQ to the plan", "The FAQ"],
    ["please add a step: check the logo", "Check the logo"],
    ["we also need to prepare the demo, please", "Prepare the demo"],
    ["thanks! Now arrange the food", "Arrange the food"],
  ])("what asks for a step (%s) becomes one", async (text, title) => {
    const { state } = await applied(first, await plan(first));
    const after = await next(text, state);
    expect(after.state.plan.at(-1)?.title).toBe(title);
    expect(spoken(after.events)).toContain(`**New:** ${title}`);
  });

  test("with nothing left to go on with it says so", async () => {
    expect(spoken((await next("go on", {})).events)).toContain("no plan to go on with yet");
    const done = { title: "Ours", plan: [{ id: "1", title: "One", status: "done" }] };
    const { events, state } = await next("go on", done);
    expect(spoken(events)).toContain("nothing left to do. Its only step is done.");
    expect(state).toEqual(done);
  });

  test("tells where the plan stands when somebody says thanks", async () => {
    const { state } = await applied(first, await plan(first));
    const { events } = await next("thanks!", state);
    expect(spoken(events)).toMatch(/hree of six steps are done; next comes \*\*/);
  });
});

describe("pace", () => {
  test("a run takes 8 to 16 s, small talk less than 3, with words every 20 to 60 ms", async () => {
    for (const text of REQUESTS) {
      for (let seed = 1; seed <= 6; seed++) {
        const { arrivals, total } = await timed(
          (clock) => demoAgent({ seed, clock }),
          inputOf([user(text, "Ana")]),
        );
        const small = arrivals.length < 80;
        expect(total).toBeGreaterThan(small ? 400 : 8_000);
        expect(total).toBeLessThan(small ? 3_000 : 16_000);
        const gaps = (type: string) =>
          arrivals.flatMap(({ at, event }, n) =>
            event.type === type && arrivals[n - 1]?.event.type === type ? [at - arrivals[n - 1]!.at] : [],
          );
        const words = gaps("TEXT_MESSAGE_CONTENT");
        expect(Math.min(...words)).toBeGreaterThanOrEqual(20);
        expect(Math.max(...words)).toBeLessThan(210);
        expect(words.filter((gap) => gap > 60).length).toBeLessThan(words.length / 2);
        const mean = (list: number[]) => list.reduce((sum, gap) => sum + gap, 0) / list.length;
        const thoughts = gaps("REASONING_MESSAGE_CONTENT");
        if (thoughts.length > 0) expect(mean(thoughts)).toBeLessThan(mean(words));
        // nobody looks at a still screen for long
        const all = arrivals.slice(1).map(({ at }, n) => at - arrivals[n]!.at);
        expect(Math.max(...all)).toBeLessThan(1_000);
      }
    }
  });

  test("speed 2 takes half the time for the same events", async () => {
    const input = inputOf([user(LAUNCH)]);
    const normal = await timed((clock) => demoAgent({ clock }), input);
    const fast = await timed((clock) => demoAgent({ clock, speed: 2 }), input);
    expect(fast.total).toBeCloseTo(normal.total / 2, 3);
    expect(fast.arrivals.map(({ event }) => event)).toEqual(normal.arrivals.map(({ event }) => event));
    expect(await plan(input)).toEqual(normal.arrivals.map(({ event }) => event));
  });

  test("speed 0 sets no timer", async () => {
    const after = vi.fn(() => () => {});
    await eventsOf(demoAgent({ speed: 0, clock: { now: () => 0, after } }), inputOf([user(LAUNCH)]));
    expect(after).not.toHaveBeenCalled();
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("speed %d is refused", (speed) => {
    expect(() => demoAgent({ speed })).toThrow(
      expect.objectContaining({ name: "RangeError", code: "bad_option" }),
    );
  });
});

describe("stopping", () => {
  test("after any event the stream ends at once, without another one", async () => {
    const input = inputOf([user(LAUNCH)]);
    const whole = await plan(input);
    for (let cut = 0; cut < whole.length; cut++) {
      const control = new AbortController();
      if (cut === 0) control.abort();
      const events: Events = [];
      for await (const event of demoAgent({ speed: 0 })(input, { signal: control.signal })) {
        events.push(event);
        if (events.length === cut) control.abort();
      }
      expect(events).toEqual(whole.slice(0, cut));
    }
  });

  test("in the middle of a wait it ends without the clock, and leaves no timer and no listener", async () => {
    for (let waits = 0; waits < 60; waits += 7) {
      const clock = new JumpingClock();
      const control = new AbortController();
      let over = false;
      const reading = (async () => {
        for await (const _ of demoAgent({ clock })(inputOf([user(LAUNCH)]), { signal: control.signal }));
        over = true;
      })();
      for (let n = 0; n <= waits; n++) {
        await settled();
        clock.jump();
      }
      await settled();
      expect(clock.timers.size).toBe(1);
      expect(getEventListeners(control.signal, "abort")).toHaveLength(1);
      control.abort();
      await settled();
      expect(over).toBe(true);
      expect(clock.timers.size).toBe(0);
      expect(getEventListeners(control.signal, "abort")).toHaveLength(0);
      await reading;
    }
  });

  test("a whole run leaves no listener on the signal", async () => {
    const control = new AbortController();
    const clock: Clock = {
      now: () => 0,
      after: (_ms, run) => {
        let on = true;
        queueMicrotask(() => on && run());
        return () => {
          on = false;
        };
      },
    };
    let count = 0;
    for await (const _ of demoAgent({ clock })(inputOf([user(LAUNCH)]), { signal: control.signal })) count++;
    expect(count).toBeGreaterThan(100);
    expect(getEventListeners(control.signal, "abort")).toHaveLength(0);
  });
});

describe("the echo agent", () => {
  test("gives back the last user message character for character, in a few pieces", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", maxLength: 80 }),
        fc.integer({ min: 1, max: 9 }),
        async (text, pieces) => {
          const input = inputOf([
            user("before"),
            user(text, "Ana", "last"),
            { id: "a", role: "assistant", content: "x" },
          ]);
          const events = await eventsOf(echoAgent({ pieces }), input);
          expect(await checked(events)).toEqual(events);
          expect(spoken(events)).toBe(text);
          const deltas = events.filter((event) => event.type === EventType.TEXT_MESSAGE_CONTENT);
          expect(deltas.length).toBeLessThanOrEqual(pieces);
          for (const { delta } of deltas) expect(delta).not.toBe("");
          const { messages } = await applied(input, events);
          expect(messages.at(-1)).toEqual({ id: "run-1-m1", role: "assistant", content: text });
        },
      ),
      { numRuns: 60 },
    );
  });

  test("does not tear a character in two", async () => {
    const events = await eventsOf(echoAgent({ pieces: 4 }), inputOf([user("👩🚀👋🌍")]));
    const deltas = events.flatMap((event) =>
      event.type === EventType.TEXT_MESSAGE_CONTENT ? [event.delta] : [],
    );
    expect(deltas).toEqual(["👩", "🚀", "👋", "🌍"]);
  });

  test("without anything to echo it still is a whole run", async () => {
    const events = await eventsOf(echoAgent(), inputOf([]));
    expect(events.map((event) => event.type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  test("waits between pieces when told to, and stops in a wait", async () => {
    const input = inputOf([user("abcdefgh")]);
    const { arrivals, total } = await timed((clock) => echoAgent({ pause: 50, clock }), input);
    expect(total).toBe(200);
    expect(arrivals.map(({ at }) => at)).toEqual([0, 0, 50, 100, 150, 200, 200, 200]);

    const clock = new JumpingClock();
    const control = new AbortController();
    const events: Events = [];
    const reading = (async () => {
      for await (const event of echoAgent({ pause: 50, clock })(input, { signal: control.signal }))
        events.push(event);
    })();
    await settled();
    control.abort();
    await reading;
    expect(events.map((event) => event.type)).toEqual(["RUN_STARTED", "TEXT_MESSAGE_START"]);
    expect(clock.timers.size).toBe(0);
  });

  test.each([{ pieces: 0 }, { pieces: 1.5 }, { pause: -1 }, { pause: Number.NaN }])(
    "%o is refused",
    (options) => {
      expect(() => echoAgent(options)).toThrow(
        expect.objectContaining({ name: "RangeError", code: "bad_option" }),
      );
    },
  );
});

test("both can be registered as agents", () => {
  const agents: AgentFunction[] = [demoAgent(), echoAgent()];
  expect(agents.every((agent) => typeof agent === "function")).toBe(true);
});
