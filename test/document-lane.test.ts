import { describe, expect, test } from "vitest";
import * as Y from "yjs";
import type { Authenticate } from "../server/auth/authenticator.ts";
import { LanePeer } from "./kit/lane-peer.ts";
import { MoodyStore } from "./kit/moody-store.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";

/** A person in a thread with the document lane open. */
async function peer(url: string, name: string, thread = "t", clientId?: number): Promise<LanePeer> {
  const raw = await RawClient.hello(url, name);
  const { joined } = await raw.join(thread);
  const lane = new LanePeer(raw, joined!.channel, clientId);
  lane.open();
  await lane.until(() => lane.asked > 0);
  return lane;
}

const viewer: Authenticate = async (_request, hello) => ({
  tenant: "default",
  user: { id: `guest:${hello.user?.id}`, name: hello.user?.name ?? "" },
  ...(hello.user?.id === "vic" && { role: "viewer" as const }),
});

describe("the document lane", () => {
  test("[Y1] two people edit one document, and the log says who changed the state", async () => {
    const { url } = await openServer();
    const ana = await peer(url, "Ana");
    const ben = await peer(url, "Ben");
    ana.doc.getMap("state").set("title", "Launch");
    await ben.until(() => ben.doc.getMap("state").get("title") === "Launch");
    ben.doc.getText("draft").insert(0, "Hello");
    await ana.until(() => ana.doc.getText("draft").toString() === "Hello");
    const entry = await ben.raw.entry(({ kind }) => kind === "state");
    expect(entry).toMatchObject({
      kind: "state",
      via: "doc",
      by: { kind: "user", id: "guest:ana", name: "Ana" },
      patch: [{ op: "add", path: "/title", value: "Launch" }],
    });
    expect(Math.max(...ben.seqs)).toBeGreaterThanOrEqual(entry.seq);
  });

  test("[Y3] an update counts when it is committed, and its sender is told how many are", async () => {
    const { url } = await openServer();
    const ana = await peer(url, "Ana");
    for (let i = 0; i < 5; i += 1) ana.doc.getText("draft").insert(0, "x");
    // The first message behind sync step 1 was the answer to the server's.
    const saved = await ana.raw.find((frame) => frame.type === "saved" && frame.n === 6);
    expect(saved).toMatchObject({ thread: "t", n: 6 });
  });

  test("[Y1] what was edited before the lane was open reaches those who are here", async () => {
    const { url } = await openServer();
    const ben = await peer(url, "Ben");
    const raw = await RawClient.hello(url, "Ana");
    const { joined } = await raw.join("t");
    const ana = new LanePeer(raw, joined!.channel);
    ana.doc.getMap("state").set("offline", true);
    ana.open();
    await ben.until(() => ben.doc.getMap("state").get("offline") === true);
    expect(Y.encodeStateVector(ana.doc)).toEqual(Y.encodeStateVector(ben.doc));
  });

  test("[Y5] carets are handed on with the user the server knows, and go with their connection", async () => {
    const { url } = await openServer();
    const ana = await peer(url, "Ana");
    const ben = await peer(url, "Ben");
    ana.awareness.setLocalState({ user: { id: "guest:ben", name: "Ben", color: "#123456" }, cursor: 1 });
    await ben.until(() => ben.awareness.getStates().has(ana.doc.clientID));
    expect(ben.awareness.getStates().get(ana.doc.clientID)).toEqual({
      user: { id: "guest:ana", name: "Ana", color: "#123456" },
      cursor: 1,
    });
    ana.raw.socket.terminate();
    await ben.until(() => !ben.awareness.getStates().has(ana.doc.clientID));
  });

  test("[Y2] what an agent and a patch change reaches the lane behind its entries, with the seq of their commit", async () => {
    const { url } = await openServer();
    const ana = await peer(url, "Ana");
    const patch = [{ op: "add", path: "/title", value: "Launch" }];
    const ack = await ana.raw.ask({ type: "patch", thread: "t", key: "k", base: 0, patch });
    await ana.until(() => ana.doc.getMap("state").get("title") === "Launch");
    expect(ana.seqs.at(-1)).toBe((ack as { seq?: number }).seq);
    expect(ana.raw.frames.some((frame) => frame.type === "entries" && frame.seq === ana.seqs.at(-1))).toBe(
      true,
    );
  });

  test("[Y2] what is not committed does not leave: a commit that fails tells nobody, and the peer sends it again", async () => {
    const store = new MoodyStore();
    const { url } = await openServer({ store: store.store });
    const ana = await peer(url, "Ana");
    const ben = await peer(url, "Ben");
    store.moods = ["failed"];
    ana.doc.getMap("state").set("title", "Launch");
    await ben.until(() => ben.doc.getMap("state").get("title") === "Launch");
    // It came by the answer to the server's question, with the next commit.
    expect(ana.asked).toBeGreaterThan(1);
    const entries = ben.raw.frames.flatMap((frame) => (frame.type === "entries" ? frame.items : []));
    expect(entries.filter(({ kind }) => kind === "state")).toHaveLength(1);
  });

  test("[Y4] who may only read is told so, changes nothing, and is seen all the same", async () => {
    const { url } = await openServer({ authenticate: viewer });
    const vic = await peer(url, "Vic");
    const ana = await peer(url, "Ana");
    vic.doc.getMap("state").set("title", "Vic's");
    vic.doc.getMap("state").set("title", "Vic's again");
    expect(await vic.raw.next("reject")).toMatchObject({ code: "forbidden" });
    vic.awareness.setLocalState({ cursor: 1 });
    await ana.until(() => ana.awareness.getStates().has(vic.doc.clientID));
    expect(ana.doc.getMap("state").size).toBe(0);
    expect(vic.raw.frames.filter(({ type }) => type === "reject")).toHaveLength(1);
    const patch = [{ op: "add", path: "/title", value: "Vic's" }];
    expect(await vic.raw.ask({ type: "patch", thread: "t", key: "k", base: 0, patch })).toMatchObject({
      type: "reject",
      code: "forbidden",
    });
  });

  test.each([
    ["a message that is none", (lane: LanePeer) => lane.send(new Uint8Array([9, 9, 9])), 4402],
    ["an update that is none", (lane: LanePeer) => lane.sendUpdate(new Uint8Array([200, 1, 2])), 4402],
    [
      "an awareness state of 140 KB",
      (lane: LanePeer) => lane.awareness.setLocalState({ x: "x".repeat(140_000) }),
      4413,
    ],
    ["a reserved id", (lane: LanePeer) => lane.sendUpdate(updateBy(7)), 4409],
    [
      "what is no JSON under the state",
      (lane: LanePeer) => lane.doc.getMap("state").set("x", Number.NaN),
      4402,
    ],
    ["a state vector of another generation", (lane: LanePeer) => lane.ask(new Map([[66, 5]])), 4410],
    [
      "a state vector that is ahead of the server",
      (lane: LanePeer) => lane.ask(new Map([[64, 1_000]])),
      4410,
    ],
  ] as const)("[Y6] %s closes its sender, and the others notice nothing", async (_what, send, code) => {
    const { url } = await openServer();
    const ana = await peer(url, "Ana");
    const eve = await peer(url, "Eve");
    ana.doc.getMap("state").set("title", "Launch");
    await eve.until(() => eve.doc.getMap("state").get("title") === "Launch");
    send(eve);
    expect(await eve.raw.closed).toMatchObject({
      code,
      bye: { code, reason: expect.stringMatching(/\w.*\.$/) },
    });
    ana.doc.getMap("state").set("more", 1);
    const ben = await peer(url, "Ben");
    await ben.until(() => ben.doc.getMap("state").size === 2);
    expect(ben.doc.getMap("state").toJSON()).toEqual({ title: "Launch", more: 1 });
  });

  test("[Y6] an awareness id that another user has is refused; of one user the newer connection has it", async () => {
    const { url } = await openServer();
    const ana = await peer(url, "Ana", "t", 5_000);
    const ben = await peer(url, "Ben");
    ana.awareness.setLocalState({ cursor: 1 });
    await ben.until(() => ben.awareness.getStates().has(5_000));
    const eve = await peer(url, "Eve", "t", 5_000);
    eve.awareness.setLocalState({ cursor: 2 });
    expect((await eve.raw.closed).code).toBe(4409);
    const again = await RawClient.hello(url, "Ana", "ana", "another client");
    const lane = new LanePeer(again, (await again.join("t")).joined!.channel, 5_000);
    lane.open();
    // A window that comes back goes on counting where it was.
    for (const cursor of [2, 3, 4]) lane.awareness.setLocalState({ cursor });
    await ben.until(() => (ben.awareness.getStates().get(5_000) as { cursor: number }).cursor === 4);
  });

  test("[Y3] an update that builds on what is not here is dropped, and asked for again", async () => {
    const { url } = await openServer();
    const ana = await peer(url, "Ana");
    const ben = await peer(url, "Ben");
    const updates: Uint8Array[] = [];
    ana.doc.on("update", (update: Uint8Array) => updates.push(update));
    ana.isMuted = true;
    ana.doc.getText("draft").insert(0, "a");
    ana.isMuted = false;
    for (let i = 0; i < 20; i += 1) ana.doc.getText("draft").insert(1, "b");
    await ben.until(() => ben.doc.getText("draft").length === 21);
    expect(ana.asked).toBeLessThan(10);
  });
});

/** An update by a client of an id. */
function updateBy(id: number): Uint8Array {
  const doc = new Y.Doc();
  doc.clientID = id;
  doc.getMap("state").set("x", 1);
  return Y.encodeStateAsUpdate(doc);
}
