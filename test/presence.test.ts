import { describe, expect, test } from "vitest";
import * as Y from "yjs";
import { AgentPlaces } from "../server/room/agent-places.ts";
import { LanePeer } from "./kit/lane-peer.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";

/** A person with an editor on the document lane. */
async function editor(url: string, name: string): Promise<LanePeer> {
  const raw = await RawClient.hello(url, name);
  const lane = new LanePeer(raw, (await raw.join("t")).joined!.channel);
  lane.awareness.setLocalState({});
  lane.open();
  await lane.until(() => lane.asked > 0);
  // Said after the lane is open: a window tells where its caret is when it has focus.
  lane.awareness.setLocalStateField("focus", true);
  return lane;
}

/** Names of all an editor sees but itself, sorted. */
const seenBy = ({ awareness }: LanePeer) =>
  [...awareness.getStates()]
    .filter(([id]) => id !== awareness.clientID)
    .map(([, { user }]) => (user as { name: string } | undefined)?.name)
    .sort();

const stateOf = ({ awareness }: LanePeer, name: string) =>
  [...awareness.getStates().values()].find(({ user }) => user?.name === name);

describe("who is here", () => {
  test("[W2] editors see whoever is here without Yjs, with the data of their presence, and each once", async () => {
    const { url } = await openServer();
    const ana = await editor(url, "Ana");
    const ben = await RawClient.hello(url, "Ben");
    const { joined } = await ben.join("t");
    await ana.until(() => seenBy(ana).includes("Ben"));
    ben.send({ type: "presence", thread: "t", data: { typing: true } });
    await ana.until(() => stateOf(ana, "Ben")?.data !== undefined);
    expect(stateOf(ana, "Ben")).toEqual({ user: { id: "guest:ben", name: "Ben" }, data: { typing: true } });

    // Whoever comes later learns the same at once.
    const cy = await editor(url, "Cy");
    await cy.until(() => seenBy(cy).length === 2);
    expect(seenBy(cy)).toEqual(["Ana", "Ben"]);

    // With an editor of his own he tells about himself.
    const lane = new LanePeer(ben, joined!.channel);
    lane.open();
    await lane.until(() => lane.asked > 0);
    lane.awareness.setLocalState({ cursor: 7 });
    await cy.until(() => stateOf(cy, "Ben")?.cursor === 7 && seenBy(cy).length === 2);
    expect(seenBy(cy)).toEqual(["Ana", "Ben"]);
  });

  test("[W2] who leaves goes from the editors too", async () => {
    const { url } = await openServer();
    const ana = await editor(url, "Ana");
    const ben = await RawClient.hello(url, "Ben");
    await ben.join("t");
    await ana.until(() => seenBy(ana).includes("Ben"));
    ben.socket.terminate();
    await ana.until(() => !seenBy(ana).includes("Ben"));
  });

  test("[W1] somebody who goes while others are just coming stays with nobody", async () => {
    const { url } = await openServer();
    const ana = await RawClient.hello(url, "Ana");
    await ana.join("t");
    const ben = await RawClient.hello(url, "Ben");
    await ben.join("t");
    expect((await ben.next("people")).all).toHaveLength(2);
    ana.socket.terminate();
    await ben.find((frame) => frame.type === "people" && !!frame.leave?.includes("client-ana"));
  });

  test("[W1] an agent that runs is among those who are here, once, until its last run ends", async () => {
    const planner = new PuppetAgent();
    const { url } = await openServer({ agents: { planner: { agent: planner.run, name: "Planner" } } });
    const ana = await editor(url, "Ana");
    const message = { id: "m1", role: "user", content: "Go" };
    await ana.raw.ask({ type: "submit", thread: "t", inputId: "i1", messages: [message] });
    const run = await planner.next();
    run.start();
    const agent = {
      client: "agent:planner",
      user: { id: "planner", name: "Planner" },
      kind: "agent",
    };
    await ana.raw.find(
      (frame) => frame.type === "people" && !!frame.join?.some(({ kind }) => kind === "agent"),
    );
    await ana.until(() => seenBy(ana).includes("Planner"));
    expect(stateOf(ana, "Planner")).toEqual({
      user: { id: "planner", name: "Planner", kind: "agent" },
      cursor: null,
    });
    const late = await RawClient.hello(url, "Ben");
    await late.join("t");
    expect((await late.next("people")).all).toContainEqual(agent);

    run.finish().end();
    await ana.raw.find((frame) => frame.type === "people" && !!frame.leave?.includes("agent:planner"));
    await ana.until(() => !seenBy(ana).includes("Planner"));
  });

  test("[Y5] an agent's caret stands behind what it wrote last, whatever people write before it", async () => {
    const planner = new PuppetAgent();
    const { url } = await openServer({ agents: { planner: planner.run }, text: ["/document"] });
    const ana = await editor(url, "Ana");
    const message = { id: "m1", role: "user", content: "Go" };
    await ana.raw.ask({ type: "submit", thread: "t", inputId: "i1", messages: [message] });
    const run = await planner.next();
    run.start({ type: "STATE_SNAPSHOT", snapshot: { document: "one\ntwo\n" } });
    const text = () => ana.doc.getMap("state").get("document") as Y.Text | undefined;
    await ana.until(() => text()?.toString() === "one\ntwo\n");
    const caret = () => {
      const { cursor } = stateOf(ana, "planner") ?? {};
      const place = cursor && Y.createRelativePositionFromJSON(cursor.head);
      return place && Y.createAbsolutePositionFromRelativePosition(place, ana.doc)?.index;
    };
    run.emit({
      type: "STATE_DELTA",
      delta: [{ op: "replace", path: "/document", value: "one\nand a half\ntwo\n" }],
    });
    await ana.until(() => caret() === "one\nand a half\n".length);
    text()?.insert(0, "zero\n");
    expect(caret()).toBe("zero\none\nand a half\n".length);
    // Also for somebody who comes now.
    const ben = await editor(url, "Ben");
    await ben.until(() => stateOf(ben, "planner")?.cursor !== undefined);
    run.finish().end();
    await ana.until(() => !seenBy(ana).includes("planner"));
  });

  test("[Y5] nobody can say to be an agent", async () => {
    const { url } = await openServer();
    const ana = await editor(url, "Ana");
    const ben = await editor(url, "Ben");
    ana.awareness.setLocalState({
      user: { id: "planner", name: "Planner", kind: "agent", color: "#123456" },
    });
    await ben.until(() => stateOf(ben, "Ana")?.user.color !== undefined);
    expect(stateOf(ben, "Ana")?.user).toEqual({ id: "guest:ana", name: "Ana", color: "#123456" });
  });

  test("[Y5] an id that stands for somebody else cannot be taken", async () => {
    const { url } = await openServer();
    const ana = await editor(url, "Ana");
    await (await RawClient.hello(url, "Ben")).join("t");
    await ana.until(() => seenBy(ana).includes("Ben"));
    const [id] = [...ana.awareness.getStates()].find(([, { user }]) => user?.name === "Ben")!;
    const { clock } = ana.awareness.meta.get(id)!;
    ana.awareness.meta.set(id, { clock: clock + 1, lastUpdated: 0 });
    ana.awareness.states.set(id, { user: { name: "Nobody" } });
    ana.awareness.emit("update", [{ added: [], updated: [id], removed: [] }, "local"]);
    expect(await ana.raw.closed).toMatchObject({ code: 4409 });
  });
});

test("places of agents are kept right while others write", () => {
  const places = new AgentPlaces();
  places.edited("r1", "/document", [[4, 0, "abc"]]);
  expect(places.of("r1")).toEqual({ path: "/document", index: 7 });
  places.edited(null, "/document", [[0, 2, "xyz"]]);
  expect(places.of("r1")?.index).toBe(8);
  // Behind it, and in another text.
  places.edited(null, "/document", [[8, 3, "tail"]]);
  places.edited(null, "/other", [[0, 0, "tail"]]);
  expect(places.of("r1")?.index).toBe(8);
  // Over it: what was there is gone.
  places.edited("r2", "/document", [[6, 5, ""]]);
  expect(places.of("r1")?.index).toBe(6);
  expect(places.of("r2")?.index).toBe(6);
  places.clear();
  expect(places.of("r1")).toBeUndefined();
});
