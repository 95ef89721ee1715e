import fc from "fast-check";
import { expect, test } from "vitest";
import type * as Y from "yjs";
import { SdkLane } from "../../server/room/sdk-lane.ts";
import { jsonEqual } from "../../shared/json-crdt/patch.ts";
import type { Json, JsonPatchOperation } from "../../shared/protocol/index.ts";
import { Timeline } from "../../shared/timeline/index.ts";
import { PlainState } from "../../shared/timeline/plain-state.ts";
import { type Manners, StateAgent, StateWorld, YPeer } from "../kit/state-world.ts";

type Item = { id: string; title: string; done: boolean; note: string };
type State = {
  items?: Item[];
  tags?: string[];
  k?: Record<string, Json>;
  progress?: number;
  document?: string;
};

const ACTIONS = [
  ...["delta", "delta", "delta", "snapshot", "begin", "end", "resume"],
  ...["edit", "edit", "push", "pull", "type", "patch", "late", "commit", "restart", "revert"],
] as const;
const step = fc.record({
  what: fc.constantFrom(...ACTIONS),
  who: fc.nat(1),
  op: fc.nat(11),
  at: fc.nat(7),
  value: fc.nat(30),
});
type Step = { what: (typeof ACTIONS)[number]; who: number; op: number; at: number; value: number };

/** A change of a state, told by three numbers; `null` when there is nothing it could change. */
function change(state: State, { op, at, value }: Step, mark: string): JsonPatchOperation | null {
  const items = state.items ?? [];
  const tags = state.tags ?? [];
  const i = items.length > 0 ? at % items.length : -1;
  const fresh = (): Item => ({
    id: `${mark}`,
    title: `t${value}`,
    done: value % 2 === 0,
    note: `note ${mark}`,
  });
  switch (op) {
    case 0:
      return state.items
        ? { op: "add", path: `/items/${at % (items.length + 1)}`, value: fresh() }
        : { op: "add", path: "/items", value: [fresh()] };
    case 1:
      return i < 0 ? null : { op: "remove", path: `/items/${i}` };
    case 2:
      return i < 0 ? null : { op: "replace", path: `/items/${i}/title`, value: `${mark}` };
    case 3:
      return i < 0
        ? null
        : { op: "replace", path: `/items/${i}`, value: { ...(items[i] as Item), done: value % 2 === 0 } };
    case 4:
      return state.k
        ? { op: "add", path: `/k/k${at % 4}`, value: mark }
        : { op: "add", path: "/k", value: {} };
    case 5:
      return state.k && Object.hasOwn(state.k, `k${at % 4}`) ? { op: "remove", path: `/k/k${at % 4}` } : null;
    case 6:
      return { op: "add", path: "/progress", value };
    case 7:
      return state.tags
        ? { op: "add", path: `/tags/${at % (tags.length + 1)}`, value: `${mark[0]}${value % 3}` }
        : { op: "add", path: "/tags", value: ["g0"] };
    case 8:
      return tags.length > 0 ? { op: "replace", path: `/tags/${at % tags.length}`, value: mark } : null;
    case 9: {
      const text = state.document ?? "One.\n\nTwo.\n";
      const lines = text.split("\n");
      return {
        op: "add",
        path: "/document",
        value: lines.with(at % lines.length, `Line ${mark}.`).join("\n"),
      };
    }
    case 10:
      return items.length > 1
        ? { op: "move", from: `/items/${i}`, path: `/items/${value % items.length}` }
        : null;
    default:
      return i < 0 ? null : { op: "replace", path: `/items/${i}/note`, value: `note ${mark} ${value}` };
  }
}

const START: State = {
  items: ["a", "b", "c"].map((id) => ({ id, title: id, done: false, note: "" })),
  tags: ["x", "y"],
  k: {},
  progress: 0,
  document: "One.\n\nTwo.\n",
};

/** Places of people's edits that the agent's snapshot did not speak of must be as they were. */
function nothingLost(base: State, before: State, said: State, after: State): void {
  for (const key of ["progress", "k", "tags"] as const)
    if (jsonEqual(said[key], base[key])) expect(after[key], `/${key} as people left it`).toEqual(before[key]);
  const by = (list: Item[] | undefined) => new Map((list ?? []).map((item) => [item.id, item]));
  const [mine, theirs, now, left] = [by(base.items), by(before.items), by(said.items), by(after.items)];
  for (const [id, item] of theirs)
    if (!mine.has(id) && !now.has(id)) expect(left.get(id), `item ${id} that people added`).toEqual(item);
  // An element that moved is one that was removed and added: that brings it back, as the agent knew it.
  const common = (list: Map<string, Item>, other: Map<string, Item>) =>
    [...list.keys()].filter((id) => other.has(id));
  if (!jsonEqual(common(mine, now), common(now, mine))) return;
  for (const [id, item] of theirs) {
    const [was, is] = [mine.get(id), now.get(id)];
    for (const field of ["title", "done"] as const)
      if (was && is && was[field] === is[field])
        expect(left.get(id)?.[field], `/${id}/${field} as people left it`).toBe(item[field]);
  }
  for (const id of mine.keys())
    if (!theirs.has(id) && now.has(id)) expect(left.has(id), `item ${id} stays removed`).toBe(false);
}

class History {
  readonly world = new StateWorld(START as Json);
  readonly agents: StateAgent[];
  readonly peers: YPeer[];
  private readonly client = new Timeline();
  private heard = 0;
  private plain = { state: new PlainState({}), heard: 0 };
  /** The same, of what the SDK is sent. */
  private told = { state: new PlainState({}), lane: new SdkLane() };
  private runs: string[] = [];
  private n = 0;

  constructor(manners: readonly Manners[]) {
    this.agents = manners.map((one, i) => new StateAgent(this.world, `agent${i}`, one));
    this.peers = [new YPeer(this.world, 5_001), new YPeer(this.world, 9_001)];
  }

  take(step: Step): void {
    const { world } = this;
    const agent = this.agents[step.who] as StateAgent;
    const peer = this.peers[step.who] as YPeer;
    this.n += 1;
    const mark = `${step.what[0]}${this.n}`;
    switch (step.what) {
      case "begin":
      case "resume":
        if (agent.run) return;
        agent.begin(step.what === "resume" && agent.mayResume);
        this.runs.push(agent.run);
        return;
      case "end":
        if (agent.run) agent.end();
        return;
      case "delta": {
        const op = agent.run && change(agent.mine as State, step, mark);
        if (!op) return;
        const before = this.byPlainRules();
        const { seq } = world;
        agent.change(op);
        if (seq < world.seq)
          expect(this.byPlainRules(), "by plain rules, a delta").toEqual(patched(before, op));
        return;
      }
      case "snapshot":
        return this.snapshot(agent, step, mark);
      case "edit": {
        const op = change(peer.state as State, step, mark);
        if (op) peer.edit([op]);
        return;
      }
      case "type":
        return peer.text(["document"], (text: Y.Text) =>
          text.insert(step.at % (text.length + 1), `‹${mark}›`),
        );
      case "push":
        return peer.push();
      case "pull":
        return peer.pull();
      case "patch":
      case "late": {
        const base = step.what === "late" ? this.client.seq : world.seq;
        const op = change((step.what === "late" ? this.client.state : world.state) as State, step, mark);
        if (!op) return;
        try {
          world.patch([op], base);
        } catch (error) {
          if (step.what === "patch") throw error;
          expect(error).toMatchObject({ code: "stale" });
        }
        return;
      }
      case "commit":
        world.commit();
        return this.hear();
      case "restart":
        return this.restart(step.value % 2 === 0);
      case "revert": {
        const run = this.runs.at(-1 - (step.at % 2));
        if (!run) return;
        world.commit();
        world.shared.revert(world, { kind: "user", id: "ana" }, run, world.changesFrom(run));
      }
    }
  }

  private snapshot(agent: StateAgent, step: Step, mark: string): void {
    if (!agent.run) return;
    const base = agent.mine as State;
    for (const more of [step, { ...step, op: (step.op + 5) % 12, at: step.value % 8 }].slice(
      0,
      1 + (step.at % 2),
    )) {
      const op = change(agent.mine as State, more, `${mark}${more.op}`);
      if (op && agent.mayName(op.path)) agent.mine = patched(agent.mine, op);
    }
    const before = this.world.state as State;
    agent.say();
    expect(this.byPlainRules(), "by plain rules, a snapshot").toEqual(agent.mine);
    nothingLost(base, before, agent.mine as State, this.world.state as State);
  }

  /** What was not committed never was: agents and peers start again from what is stored. */
  private restart(committed: boolean): void {
    if (committed) this.world.commit();
    else for (const peer of this.peers) peer.push();
    this.world.restart();
    this.plain = { state: new PlainState({}), heard: 0 };
    this.told = { state: new PlainState({}), lane: new SdkLane() };
    for (const agent of this.agents) agent.stop();
    // Peers whose edits were lost with the turn still have them, and send them again.
    if (!committed) for (const peer of this.peers) peer.push();
  }

  /** The state as a client has it that knows AG-UI and nothing else. */
  private byPlainRules(): Json {
    const { plain, told, world } = this;
    const entries = [...world.stored.entries, ...world.pending];
    for (const entry of entries.slice(plain.heard)) {
      plain.state.apply(entry);
      if (told.lane.carries(entry)) told.state.apply(entry);
      expect([told.state.state, told.state.merged], "what is left out").toEqual([
        plain.state.state,
        plain.state.merged,
      ]);
    }
    plain.heard = entries.length;
    expect(plain.state.merged, "what it is compared with").toEqual(world.state);
    return plain.state.state;
  }

  private hear(): void {
    for (const entry of this.world.stored.entries.slice(this.heard)) this.client.apply(entry);
    this.heard = this.world.stored.entries.length;
  }

  check(): void {
    const { world } = this;
    expect(world.shared.document.state, "the document").toEqual(world.state);
    for (const agent of this.agents)
      if (agent.run)
        world.shared.checkRun(agent.run, (view, replica) => expect(replica, "the replica").toEqual(view));
  }

  /** Everybody has everything. */
  rest(): void {
    const { world, peers } = this;
    for (const agent of this.agents) if (agent.run) agent.end();
    for (const peer of peers) peer.push();
    world.commit();
    for (const peer of peers) peer.pull();
    this.hear();
    for (const peer of peers) expect(peer.state, "a Yjs peer").toEqual(world.state);
    expect(this.client.state, "a client of the log").toEqual(world.state);
    world.restart();
    expect(world.shared.document.state, "what is stored").toEqual(this.client.state);
  }
}

const patched = (state: Json, op: JsonPatchOperation): Json => {
  const timeline = new Timeline();
  timeline.state = state;
  timeline.apply({ seq: 1, at: 1, kind: "state", run: null, patch: [op], via: "patch" });
  return timeline.state;
};

const MANNERS: readonly Manners[] = [
  {},
  { ignoresStateOnResume: true },
  { emitsBeforeMerging: true },
  { knows: ["items", "progress"] },
];

const RUNS = process.env.COTHREAD_SOAK ? 60_000 : 3_000;

test(`[H2] [H3] [H4] [H5] [H6] [H10] [H11] [H15] [B5] whatever people and agents do at once, ${RUNS} histories: all that hold the state end equal, and no edit is lost to a snapshot`, () => {
  // Always the same ones with every change of the code; others in a soak.
  const seed =
    Number(process.env.COTHREAD_SEED) || (process.env.COTHREAD_SOAK ? Date.now() % 1_000_000 : 20_000);
  console.log(`shared state: seed ${seed} (set COTHREAD_SEED to repeat)`);
  fc.assert(
    fc.property(
      fc.tuple(fc.constantFrom(...MANNERS), fc.constantFrom(...MANNERS)),
      fc.array(step, { minLength: 5, maxLength: 40, size: "max" }),
      (manners, steps) => {
        const history = new History(manners);
        for (const one of steps) {
          history.take(one);
          history.check();
        }
        history.rest();
      },
    ),
    { numRuns: RUNS, seed },
  );
}, 300_000);
