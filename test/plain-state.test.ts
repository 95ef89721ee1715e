import { describe, expect, test } from "vitest";
import type { Entry, EntryOf, Json } from "../shared/protocol/index.ts";
import { PlainState } from "../shared/timeline/plain-state.ts";
import { StateAgent, StateWorld } from "./kit/state-world.ts";

const item = (id: string, more: object = {}) => ({ id, title: id, done: false, ...more });

const entries = (world: StateWorld): Entry[] => [...world.stored.entries, ...world.pending];

/** What a client shows that merges nothing, after all that was logged. */
function plainly(world: StateWorld): Json {
  const plain = new PlainState({});
  for (const entry of entries(world)) plain.apply(entry);
  expect(plain.merged).toEqual(world.state);
  return plain.state;
}

const sent = (world: StateWorld) => (entries(world).at(-1) as EntryOf<"event">).sent;

describe("[H15] what a client would show that merges nothing", () => {
  test("a snapshot takes what a person wrote meanwhile", () => {
    const world = new StateWorld({ items: [item("a"), item("b")] });
    const agent = new StateAgent(world, "planner");
    agent.begin();
    world.patch([{ op: "add", path: "/items/0", value: item("hers") }]);
    agent.mine = { items: [item("a", { done: true }), item("b")] };
    agent.say();
    expect(world.state).toEqual({ items: [item("hers"), item("a", { done: true }), item("b")] });
    expect(plainly(world)).toEqual({ items: [item("a", { done: true }), item("b")] });
    expect(sent(world)).toEqual([{ op: "remove", path: "/items/0" }]);
  });

  test("a patch hits what stands at its index", () => {
    const world = new StateWorld({ items: [item("a"), item("b")] });
    const agent = new StateAgent(world, "planner");
    agent.begin();
    world.patch([{ op: "add", path: "/items/0", value: item("hers") }]);
    agent.change({ op: "replace", path: "/items/1/title", value: "B" });
    expect(world.state).toEqual({ items: [item("hers"), item("a"), item("b", { title: "B" })] });
    expect(plainly(world)).toEqual({ items: [item("hers"), item("a", { title: "B" }), item("b")] });
  });

  test("a text rewritten as a whole takes what was typed into it", () => {
    const world = new StateWorld({ document: "One.\n\nTwo.\n" });
    const agent = new StateAgent(world, "planner");
    agent.begin();
    world.patch([{ op: "replace", path: "/document", value: "One.\n\nTwo, she wrote.\n" }]);
    agent.change({ op: "replace", path: "/document", value: "Uno.\n\nTwo.\n" });
    expect(world.state).toEqual({ document: "Uno.\n\nTwo, she wrote.\n" });
    expect(plainly(world)).toEqual({ document: "Uno.\n\nTwo.\n" });
  });

  test("a person's change goes to it too, and what does not fit is left out", () => {
    const world = new StateWorld({ document: "A long text to type in.", n: 1 });
    const agent = new StateAgent(world, "planner");
    agent.begin();
    world.patch([{ op: "add", path: "/tag", value: "hers" }]);
    agent.mine = { document: "Short.", n: 1 };
    agent.say();
    world.patch([{ op: "replace", path: "/tag", value: "again hers" }]);
    world.patch([{ op: "replace", path: "/n", value: 2 }]);
    expect(world.state).toEqual({ document: "Short.", n: 2, tag: "again hers" });
    expect(plainly(world)).toEqual({ document: "Short.", n: 2 });
  });

  test("where nobody was in between, an entry does not say it twice", () => {
    const world = new StateWorld({ items: [item("a")], document: "One." });
    const agent = new StateAgent(world, "planner");
    agent.begin();
    agent.mine = { items: [item("b")], document: "Another one." };
    agent.say();
    agent.change({ op: "add", path: "/items/0", value: item("c") });
    agent.change({ op: "replace", path: "/document", value: "Yet another one." });
    agent.end();
    expect(plainly(world)).toEqual(world.state);
    expect(entries(world).filter((entry) => "sent" in entry)).toEqual([]);
  });

  test("private parts are not in it", () => {
    const world = new StateWorld({ n: 1 });
    const run = "r1";
    world.shared.begin(run, "planner", { privateState: ["/secret"] }, false);
    world.patch([{ op: "add", path: "/hers", value: 1 }]);
    world.snapshot(run, { n: 2, secret: { of: "the agent" } });
    expect(sent(world)).toEqual([{ op: "remove", path: "/hers" }]);
    world.delta(
      run,
      { op: "add", path: "/secret/more", value: "hidden" },
      { op: "replace", path: "/n", value: 3 },
    );
    expect(JSON.stringify(entries(world))).not.toMatch(/secret|hidden|of the agent/);
    expect(plainly(world)).toEqual({ n: 3 });
  });

  test("what is longer than an entry should be is left out, and what was merged stands for it", () => {
    const world = new StateWorld({ items: [item("a")] });
    const agent = new StateAgent(world, "planner");
    agent.begin();
    world.patch([{ op: "add", path: "/items/0", value: item("hers") }]);
    agent.change({ op: "replace", path: "/items/0/title", value: "x".repeat(70_000) });
    expect("sent" in entries(world).at(-1)!).toBe(false);
    expect(plainly(world)).toEqual(world.state);
  });
});
