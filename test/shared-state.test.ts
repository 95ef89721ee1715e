import { expect, test } from "vitest";
import type { Json, JsonPatch } from "../shared/protocol/index.ts";
import { StateAgent, StateWorld, YPeer } from "./kit/state-world.ts";
import { within } from "./kit/within.ts";

const item = (id: string, more: object = {}) => ({ id, title: id, done: false, ...more });

/** Everything that holds the state holds the same. */
function consistent(world: StateWorld): void {
  expect(world.shared.document.state).toEqual(world.state);
}

function titles(world: StateWorld): unknown[] {
  return (world.state as { items: { title: string }[] }).items.map(({ title }) => title);
}

test("[H2] a person inserts at 0 while the agent replaces /items/3/title: it is the item the agent meant", () => {
  const world = new StateWorld({ items: ["a", "b", "c", "d"].map((id) => item(id)) });
  const agent = new StateAgent(world, "planner");
  agent.begin();
  world.patch([{ op: "add", path: "/items/0", value: item("new") }]);
  agent.change({ op: "replace", path: "/items/3/title", value: "D" });
  agent.end();
  expect(titles(world)).toEqual(["new", "a", "b", "c", "D"]);
  consistent(world);
});

test("[H4] a snapshot that drops item 0 of 10 leaves what two people edit in items 4 and 7", () => {
  const items = Array.from({ length: 10 }, (_, i) => item(`i${i}`));
  const world = new StateWorld({ items });
  const agent = new StateAgent(world, "planner");
  agent.begin();
  const [ana, bo] = [new YPeer(world, 5001), new YPeer(world, 5002)];
  ana.edit([{ op: "replace", path: "/items/4/title", value: "Ana's" }]);
  bo.edit([{ op: "replace", path: "/items/7/done", value: true }]);
  ana.push();
  agent.mine = { items: items.slice(1) };
  agent.say();
  bo.push();
  agent.end();
  const after = (world.state as { items: { id: string; title: string; done: boolean }[] }).items;
  expect(after.map(({ id }) => id)).toEqual(items.slice(1).map(({ id }) => id));
  expect(after[3]).toMatchObject({ title: "Ana's" });
  expect(after[6]).toMatchObject({ done: true });
  consistent(world);
});

test("[H4] the agent replaces /items/0 whole while a person ticks /items/0/done: both stand", () => {
  const world = new StateWorld({ items: [item("a")] });
  const agent = new StateAgent(world, "planner");
  agent.begin();
  const ana = new YPeer(world, 5001);
  ana.edit([{ op: "replace", path: "/items/0/done", value: true }]);
  ana.push();
  agent.change({ op: "replace", path: "/items/0", value: item("a", { title: "A" }) });
  agent.end();
  expect(world.state).toEqual({ items: [item("a", { title: "A", done: true })] });
  consistent(world);
});

test("[H5] a person touches /progress once, then the agent writes 1 to 5: it ends at 5, whatever Yjs prefers", () => {
  for (let id = 5000; id < 5040; id += 1) {
    const world = new StateWorld({ progress: 0 });
    const agent = new StateAgent(world, "planner");
    agent.begin();
    const ana = new YPeer(world, id);
    ana.edit([{ op: "replace", path: "/progress", value: 99 }]);
    ana.push();
    for (let i = 1; i <= 5; i += 1) agent.change({ op: "replace", path: "/progress", value: i });
    agent.end();
    expect(world.state).toEqual({ progress: 5 });
    consistent(world);
    world.commit();
    ana.pull();
    expect(ana.state).toEqual(world.state);
  }
});

test("[H5] both replace /tags/0: one of both stands there, not both", () => {
  const world = new StateWorld({ tags: ["x", "y"] });
  const agent = new StateAgent(world, "planner");
  agent.begin();
  const ana = new YPeer(world, 5001);
  ana.edit([{ op: "replace", path: "/tags/0", value: "Ana's" }]);
  ana.push();
  agent.change({ op: "replace", path: "/tags/0", value: "agent's" });
  agent.end();
  expect(world.state).toEqual({ tags: ["Ana's", "y"] });
  consistent(world);
});

test("[H6] a person edits while an approval waits; the agent resumes with its own state: the edit stays", () => {
  const world = new StateWorld({});
  const agent = new StateAgent(world, "planner", { ignoresStateOnResume: true });
  agent.begin();
  agent.mine = { items: [item("a"), item("b")], step: 1 };
  agent.say();
  agent.end();
  world.patch([
    { op: "replace", path: "/items/1/title", value: "Ana's" },
    { op: "add", path: "/items/0", value: item("hers") },
    { op: "remove", path: "/items/1" },
  ]);
  agent.begin(true);
  agent.mine = { items: [item("a"), item("b", { done: true }), item("c")], step: 2 };
  agent.say();
  agent.end();
  expect(world.state).toEqual({
    items: [item("hers"), item("b", { title: "Ana's", done: true }), item("c")],
    step: 2,
  });
  consistent(world);
});

test("[H6] an agent that drops unknown keys does not drop what it never knew", () => {
  const world = new StateWorld({});
  const agent = new StateAgent(world, "planner", { knows: ["step"] });
  agent.begin();
  agent.mine = { step: 1 };
  agent.say();
  agent.end();
  world.patch([{ op: "add", path: "/notes", value: ["Ana's"] }]);
  agent.begin();
  agent.mine = { step: 2 };
  agent.say();
  agent.end();
  expect(world.state).toEqual({ notes: ["Ana's"], step: 2 });
  agent.begin();
  agent.mine = {};
  agent.say();
  agent.end();
  expect(world.state).toEqual({ notes: ["Ana's"] });
});

test("[H6] a person adds an item and has the agent clear the list: it is empty", () => {
  const world = new StateWorld({});
  const agent = new StateAgent(world, "planner");
  agent.begin();
  agent.mine = { items: [item("a")] };
  agent.say();
  agent.end();
  world.patch([{ op: "add", path: "/items/-", value: item("hers") }]);
  agent.begin();
  agent.mine = { items: [] };
  agent.say();
  agent.end();
  expect(world.state).toEqual({ items: [] });
});

test("[H6] a first snapshot from before the agent looked at its input changes nothing", () => {
  const world = new StateWorld({});
  const agent = new StateAgent(world, "planner", { emitsBeforeMerging: true });
  agent.begin();
  agent.mine = { items: [item("a")], step: 1 };
  agent.say();
  agent.end();
  world.patch([{ op: "add", path: "/items/-", value: item("hers") }]);
  agent.begin();
  expect(world.state).toEqual({ items: [item("a"), item("hers")], step: 1 });
  agent.change({ op: "replace", path: "/step", value: 2 });
  agent.say();
  agent.end();
  expect(world.state).toEqual({ items: [item("a"), item("hers")], step: 2 });
});

test("[H8] a person types in /document while the agent rewrites another paragraph", () => {
  const text = "First paragraph.\n\nSecond paragraph.\n";
  const world = new StateWorld({ document: text });
  const agent = new StateAgent(world, "planner");
  agent.begin();
  const ana = new YPeer(world, 5001);
  ana.text(["document"], (field) => field.insert(5, " and best"));
  ana.push();
  agent.change({ op: "replace", path: "/document", value: "First paragraph.\n\nA second one, better.\n" });
  agent.end();
  expect(world.state).toEqual({ document: "First and best paragraph.\n\nA second one, better.\n" });
  consistent(world);
});

test("[H2] two runs in parallel: each means what it saw", () => {
  const world = new StateWorld({ items: ["a", "b", "c"].map((id) => item(id)) });
  const [one, two] = [new StateAgent(world, "one"), new StateAgent(world, "two")];
  one.begin();
  two.begin();
  one.change({ op: "remove", path: "/items/0" });
  two.change({ op: "replace", path: "/items/2/title", value: "C" });
  one.change({ op: "replace", path: "/items/0/title", value: "B" });
  two.end();
  one.end();
  expect(titles(world)).toEqual(["B", "C"]);
  consistent(world);
});

test("[H9] reverting run 1 under run 2 leaves what run 2 and people have changed since, and tells", () => {
  const world = new StateWorld({ items: [item("a")], title: "old", step: 0 });
  const agent = new StateAgent(world, "planner");
  agent.begin();
  const first = agent.run;
  agent.change(
    { op: "add", path: "/items/-", value: item("b") },
    { op: "add", path: "/items/-", value: item("c") },
  );
  agent.change({ op: "replace", path: "/title", value: "new" }, { op: "replace", path: "/step", value: 1 });
  agent.end();
  world.patch([{ op: "add", path: "/items/0", value: item("hers") }]);
  world.patch([{ op: "replace", path: "/items/2/done", value: true }]);
  const second = new StateAgent(world, "other");
  second.begin();
  second.change({ op: "replace", path: "/step", value: 2 });
  world.commit();
  const skipped = world.shared.revert(world, { kind: "user", id: "ana" }, first, world.changesFrom(first));
  second.change({ op: "replace", path: "/step", value: 3 });
  second.end();
  expect(world.state).toEqual({
    items: [item("hers"), item("a"), item("b", { done: true })],
    title: "old",
    step: 3,
  });
  expect(skipped.toSorted()).toEqual(["/items/1", "/step"]);
  consistent(world);
  expect(world.pending.find(({ kind }) => kind === "state")).toMatchObject({ via: "revert", reverts: first });
});

test("[H7] what an agent keeps for itself is given back to it, and is nobody else's", () => {
  const world = new StateWorld({});
  const agent = new StateAgent(world, "planner");
  const messages = [{ id: "1", type: "human", content: "hi", additional_kwargs: {} }];
  agent.begin();
  agent.mine = { messages, copilotkit: { actions: [] }, step: 1 } as unknown as Json;
  agent.say();
  agent.end();
  expect(world.state).toEqual({ step: 1 });
  world.commit();
  world.restart();
  agent.begin();
  expect(agent.mine).toEqual({ messages, copilotkit: { actions: [] }, step: 1 });
  agent.change({ op: "add", path: "/messages/-", value: { id: "2", type: "ai", content: "ho" } });
  agent.change({ op: "replace", path: "/step", value: 2 });
  agent.end();
  expect(world.state).toEqual({ step: 2 });
  expect(JSON.stringify(world.pending)).not.toContain("additional_kwargs");
  const other = new StateAgent(world, "other");
  other.begin();
  expect(other.mine).toEqual({ step: 2 });
});

test("[H14] a patch made for an older state is moved over what has changed; its target gone, it is stale", () => {
  const world = new StateWorld({ items: ["a", "b", "c"].map((id) => item(id)) });
  const base = world.seq;
  world.patch([{ op: "add", path: "/items/0", value: item("new") }]);
  expect(world.patch([{ op: "replace", path: "/items/2/title", value: "C" }], base)).toEqual([
    { op: "replace", path: "/items/3/title", value: "C" },
  ]);
  expect(titles(world)).toEqual(["new", "a", "b", "C"]);
  world.patch([{ op: "remove", path: "/items/1" }]);
  expect(() => world.patch([{ op: "replace", path: "/items/0/title", value: "A" }], base)).toThrow(
    expect.objectContaining({ code: "stale" }),
  );
  consistent(world);
});

test("[H14] patches one client made one on the other mean what it saw, whatever others did in between", () => {
  const world = new StateWorld({ items: ["a", "b", "c"].map((id) => item(id)) });
  const base = world.seq;
  // The client adds an item, then renames b, which it sees at 2; others remove a before that, and add at the end.
  world.patch([{ op: "remove", path: "/items/0" }]);
  world.patch([{ op: "add", path: "/items/0", value: item("new") }], base, "ana");
  world.patch([{ op: "add", path: "/items/0", value: item("other") }]);
  world.patch([{ op: "replace", path: "/items/2/title", value: "B" }], base, "ana");
  world.patch([{ op: "remove", path: "/items/3" }], base, "ana");
  expect(titles(world)).toEqual(["other", "new", "B"]);
  consistent(world);
});

test("[H8] a person who saves a text that others have typed into since loses nobody's words", () => {
  const world = new StateWorld({ document: "One.\n\nTwo.\n" });
  const base = world.seq;
  const bo = new YPeer(world, 5002);
  bo.text(["document"], (field) => field.insert(3, " and a half"));
  bo.push();
  world.patch([{ op: "replace", path: "/document", value: "One.\n\nTwo, at last.\n" }], base, "ana");
  expect(world.state).toEqual({ document: "One and a half.\n\nTwo, at last.\n" });
  consistent(world);
});

test("[H14] a patch from before a restart is stale when the state has changed in between, good when it has not", () => {
  const world = new StateWorld({ a: 1 });
  const base = world.seq;
  world.patch([{ op: "replace", path: "/a", value: 2 }]);
  world.commit();
  const latest = world.seq;
  world.restart();
  for (const old of [base, latest + 1])
    expect(() => world.patch([{ op: "replace", path: "/a", value: 3 }], old)).toThrow(
      expect.objectContaining({ code: "stale" }),
    );
  world.patch([{ op: "replace", path: "/a", value: 3 }], latest);
  expect(world.state).toEqual({ a: 3 });
});

test("[H12] a patch that does not apply changes nothing, and the run goes on", () => {
  const world = new StateWorld({ a: 1 });
  const agent = new StateAgent(world, "planner");
  agent.begin();
  world.delta(agent.run, { op: "replace", path: "/a", value: 2 }, { op: "remove", path: "/b/c" });
  expect(world.state).toEqual({ a: 1 });
  agent.change({ op: "replace", path: "/a", value: 3 });
  expect(world.state).toEqual({ a: 3 });
  expect(() => world.patch([{ op: "remove", path: "/nothing" }])).toThrow(
    expect.objectContaining({ code: "bad_message" }),
  );
  consistent(world);
});

test("[H1] a state that is no object is kept as it is, and one may become the other", () => {
  const world = new StateWorld({ a: 1 });
  const agent = new StateAgent(world, "planner");
  agent.begin();
  for (const state of [[1, 2], "text", null, { items: [item("a")] }, 7, { b: { c: [] } }] as Json[]) {
    agent.mine = state;
    agent.say();
    expect(world.state).toEqual(state);
    consistent(world);
  }
  agent.end();
  world.commit();
  world.restart();
  expect(world.state).toEqual({ b: { c: [] } });
  consistent(world);
});

const deep = (levels: number): Json => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`) as Json;
const HOSTILE: [string, JsonPatch][] = [
  ["a path of __proto__", [{ op: "add", path: "/__proto__", value: 1 }]],
  ["a path of constructor", [{ op: "add", path: "/a/constructor", value: 1 }]],
  ["a key prototype within", [{ op: "add", path: "/x", value: { y: [{ prototype: 1 }] } }]],
  ["a key __proto__ within", [{ op: "add", path: "/x", value: JSON.parse('{"__proto__": 1}') as Json }]],
  ["5,000 levels", [{ op: "add", path: "/x", value: deep(5_000) }]],
  ["101 levels in all", [{ op: "add", path: "/x", value: deep(100) }]],
  ["200,000 elements", [{ op: "add", path: "/x", value: new Array(200_000).fill(0) }]],
  ["NaN", [{ op: "add", path: "/x", value: Number.NaN }]],
  ["a BigInt", [{ op: "add", path: "/x", value: 1n as unknown as Json }]],
  ["half a character", [{ op: "add", path: "/x", value: "a\ud800" }]],
  ["half a character in a text", [{ op: "replace", path: "/document", value: "\udc00" }]],
  ["a megabyte", [{ op: "add", path: "/x", value: "x".repeat(1_100_000) }]],
  [
    "copies that double",
    Array.from({ length: 30 }, (_, i) => ({
      op: "copy" as const,
      from: "",
      path: `/c${i}`,
    })),
  ],
];

test.each(HOSTILE)("[H13] %s: refused with a code, the state as it was, in no time", (_name, patch) => {
  const world = new StateWorld({ a: {}, document: "text" });
  const before = world.state;
  const refusal = expect.objectContaining({ code: expect.stringMatching(/^(?:bad_message|too_big)$/) });
  expect(() => world.patch(patch)).toThrow(refusal);
  within(50, () => expect(() => world.patch(patch)).toThrow(refusal));
  const agent = new StateAgent(world, "planner");
  agent.begin();
  try {
    world.delta(agent.run, ...patch);
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^AGENT_(?:INVALID|TOO_BIG)$/) });
  }
  expect(world.state).toEqual(before);
  consistent(world);
  agent.end();
});

test("[H13] a state that grows bit by bit is stopped at its limit, and may shrink and go on", () => {
  const world = new StateWorld({ list: [] });
  const part = "x".repeat(100_000);
  for (let i = 0; i < 10; i += 1) world.patch([{ op: "add", path: "/list/-", value: part }]);
  const more = () => world.patch([{ op: "add", path: "/list/-", value: part }]);
  expect(more).toThrow(expect.objectContaining({ code: "too_big" }));
  world.patch([{ op: "remove", path: "/list/0" }]);
  more();
  expect(more).toThrow(expect.objectContaining({ code: "too_big" }));
  consistent(world);
});
