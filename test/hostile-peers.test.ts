import * as encoding from "lib0/encoding";
import { describe, expect, test } from "vitest";
import WebSocket from "ws";
import * as Y from "yjs";
import { step1Message, updateMessage } from "../server/gateway/doc-messages.ts";
import { heapHeld } from "./kit/heap.ts";
import { LanePeer } from "./kit/lane-peer.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";

const COUNT = 20_001;
/** Times that all of it is sent, and what the process may hold more of afterwards: a few connections' worth. */
const ROUNDS = 8;
const HELD_BYTES = 3_000_000;
const NOTHING = new Uint8Array([0]);

/** A way to send messages of y-protocols, and to hear how it ended. */
type Line = { send(message: Uint8Array): void; closed: Promise<{ code: number }> };

async function lane(url: string, thread = "t"): Promise<Line> {
  const raw = await RawClient.hello(url, "Eve");
  const peer = new LanePeer(raw, (await raw.join(thread)).joined!.channel);
  return { send: (message) => peer.send(message), closed: raw.closed };
}

async function door(url: string, thread = "t"): Promise<Line> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/yjs/${thread}?user=eve&name=Eve`);
  await new Promise((resolve) => socket.once("open", resolve));
  return {
    send: (message) => socket.send(message),
    closed: new Promise((resolve) => socket.once("close", (code) => resolve({ code }))),
  };
}

/** Somebody decent, in the same thread. */
async function good(url: string): Promise<LanePeer> {
  const raw = await RawClient.hello(url, "Ana");
  const peer = new LanePeer(raw, (await raw.join("t")).joined!.channel);
  peer.open();
  await peer.until(() => peer.asked > 0);
  peer.doc.getMap("state").set("title", "Launch");
  await raw.entry(({ kind }) => kind === "state");
  return peer;
}

/** The document is what it was, and whoever is decent works on. */
async function undisturbed(url: string, peer: LanePeer): Promise<void> {
  expect(peer.doc.getMap("state").toJSON()).toEqual({ title: "Launch" });
  const began = performance.now();
  expect(await peer.raw.ask({ type: "ping" })).toMatchObject({ type: "ack" });
  // Nobody may keep the server for himself; the bound leaves room for a busy machine.
  expect(performance.now() - began).toBeLessThan(2_000);
  peer.doc.getText("draft").insert(0, "x");
  const other = await RawClient.hello(url, "Ben");
  const fresh = new LanePeer(other, (await other.join("t")).joined!.channel);
  fresh.open();
  await fresh.until(() => fresh.doc.getText("draft").length > 0);
  expect(fresh.doc.getMap("state").toJSON()).toEqual({ title: "Launch" });
}

/** Updates of somebody who types, of which the first is not among them. */
function withoutTheFirst(count: number): Uint8Array[] {
  const doc = new Y.Doc();
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  for (let i = 0; i <= count; i += 1) doc.getText("draft").insert(i, "x");
  return updates.slice(1);
}

function v2(): Uint8Array {
  const doc = new Y.Doc();
  for (let i = 0; i < 5; i += 1) doc.getMap("state").set(`k${i}`, i);
  return Y.encodeStateAsUpdateV2(doc);
}

function clientsOf(count: number): Uint8Array {
  const encoder = encoding.createEncoder();
  encoding.writeVarUint(encoder, count);
  return encoding.toUint8Array(encoder);
}

/** More items than Yjs can take in while everybody waits. */
function tooMany(): Uint8Array {
  const encoder = encoding.createEncoder();
  for (const number of [1, COUNT, 9_999, 0]) encoding.writeVarUint(encoder, number);
  for (let i = 0; i < COUNT; i += 1) {
    encoding.writeUint8(encoder, 8);
    encoding.writeVarUint(encoder, 1);
    encoding.writeVarString(encoder, "list");
    encoding.writeVarUint(encoder, 1);
    encoding.writeAny(encoder, i);
  }
  encoding.writeVarUint(encoder, 0);
  return encoding.toUint8Array(encoder);
}

/** What is sent, and the code its sender is closed with. */
const HOSTILE = [
  ["an update in encoding v2", () => [updateMessage(v2())], 4402],
  ["a state vector that says it has 2^31 clients", () => [step1Message(clientsOf(2 ** 31))], 4402],
  ["an update that says it has 2^31 structs", () => [updateMessage(clientsOf(2 ** 31))], 4402],
  ["more items than can be taken in at once", () => [updateMessage(tooMany())], 4413],
  ["900 updates without the one before them", () => withoutTheFirst(900).map(updateMessage), 4402],
  // Too many that wait, or too many that build on what is not here: which it meets first is for the network to say.
  ["3,000 of them at once", () => withoutTheFirst(3_000).map(updateMessage), [4402, 4429]],
  ["half a message", () => [updateMessage(v2()).subarray(0, 5)], 4402],
] as const;

describe.each([
  ["the lane", lane],
  ["the door", door],
] as const)("[Y6] at %s", (_way, open) => {
  test.each(HOSTILE)("%s: its sender is closed, and nobody else notices", async (_what, messages, code) => {
    const { url } = await openServer();
    const ana = await good(url);
    const eve = await open(url);
    eve.send(step1Message(NOTHING));
    for (const message of messages()) eve.send(message);
    expect([code].flat()).toContain((await eve.closed).code);
    await undisturbed(url, ana);
  });

  test("what they made the server hold is given back when they are gone", { timeout: 120_000 }, async () => {
    const { url } = await openServer();
    const ana = await good(url);
    const round = async () => {
      for (const [, messages] of HOSTILE) {
        const eve = await open(url);
        eve.send(step1Message(NOTHING));
        for (const message of messages()) eve.send(message);
        await eve.closed;
      }
    };
    // What is compiled and made once does not count.
    await round();
    const before = await heapHeld();
    for (let i = 0; i < ROUNDS; i += 1) await round();
    expect((await heapHeld()) - before).toBeLessThan(HELD_BYTES);
    await undisturbed(url, ana);
  });

  test("200 messages of random bytes, each on a socket of its own", { timeout: 60_000 }, async () => {
    const { url } = await openServer();
    const ana = await good(url);
    let seed = 7;
    const dice = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed / 2_147_483_648;
    };
    for (let i = 0; i < 200; i += 1) {
      const eve = await open(url);
      eve.send(step1Message(NOTHING));
      const bytes = Uint8Array.from({ length: 1 + Math.floor(dice() * 60) }, () => Math.floor(dice() * 256));
      // As an update of some kind, so that it is looked into.
      eve.send(i % 2 === 0 ? bytes : updateMessage(bytes));
      await Promise.race([eve.closed, new Promise((resolve) => setTimeout(resolve, 100))]);
    }
    await undisturbed(url, ana);
  });
});

test("[Y6] two documents of one client id are told apart: the second takes another, as Yjs does, and both are whole", async () => {
  const { url } = await openServer();
  const peer = async (name: string) => {
    const raw = await RawClient.hello(url, name);
    const lane = new LanePeer(raw, (await raw.join("t")).joined!.channel, 7_777);
    lane.open();
    await lane.until(() => lane.asked > 0);
    return lane;
  };
  const ana = await peer("Ana");
  ana.doc.getText("draft").insert(0, "Ana");
  const ben = await peer("Ben");
  await ben.until(() => ben.doc.getText("draft").length === 3);
  expect(ben.doc.clientID).not.toBe(7_777);
  ben.doc.getText("draft").insert(3, " and Ben");
  await ana.until(() => ana.doc.getText("draft").toString() === "Ana and Ben");
});

test("[Y6] nobody writes under the client id of somebody else who is here, also ahead of what that one has sent", async () => {
  const { url } = await openServer();
  const peer = async (name: string, id: number) => {
    const raw = await RawClient.hello(url, name);
    const lane = new LanePeer(raw, (await raw.join("t")).joined!.channel, id);
    lane.open();
    await lane.until(() => lane.asked > 0);
    return lane;
  };
  const ana = await peer("Ana", 7_777);
  ana.doc.getText("draft").insert(0, "Ana");
  await ana.raw.next("saved");
  const eve = await peer("Eve", 8_888);
  const forged = new Y.Doc();
  Y.applyUpdate(forged, Y.encodeStateAsUpdate(ana.doc));
  forged.clientID = 7_777;
  forged.getText("draft").insert(3, " EVIL");
  eve.sendUpdate(Y.encodeStateAsUpdate(forged));
  expect(await eve.raw.closed).toMatchObject({ code: 4409 });
  ana.doc.getText("draft").insert(3, " goes on");
  const ben = await peer("Ben", 9_999);
  await ben.until(() => ben.doc.getText("draft").toString() === "Ana goes on");
  // Her own other window may, as when she comes back before the old socket is known to be gone.
  const again = await RawClient.hello(url, "Ana", "ana", "another client");
  const twin = new LanePeer(again, (await again.join("t")).joined!.channel, 5_555);
  twin.open();
  await twin.until(() => twin.doc.getText("draft").length === 11);
  const late = new Y.Doc();
  Y.applyUpdate(late, Y.encodeStateAsUpdate(twin.doc));
  late.clientID = 7_777;
  late.getText("draft").insert(11, "!");
  twin.sendUpdate(Y.encodeStateAsUpdate(late));
  await ben.until(() => ben.doc.getText("draft").toString() === "Ana goes on!");
  // Whoever is gone holds no id.
  ana.raw.socket.terminate();
  again.socket.terminate();
  await ben.raw.find((frame) => frame.type === "people" && (frame.leave?.length ?? 0) > 0);
});
