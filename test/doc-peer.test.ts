import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { expect, test } from "vitest";
import * as sync from "y-protocols/sync";
import * as Y from "yjs";
import { SharedMessage, step1Message, updateMessage } from "../server/gateway/doc-messages.ts";
import { type DocItem, DocPeer } from "../server/gateway/doc-peer.ts";
import { settled } from "./kit/fake-clock.ts";
import { TestRooms } from "./kit/server.ts";

/** Commits take a few turns of the event loop. */
async function quiet() {
  for (let i = 0; i < 10; i += 1) await settled();
}

/** A peer with a document behind it, of which the test holds the line. */
async function enter(checkMs = 30_000) {
  const rooms = new TestRooms();
  const reader = await rooms.join("t");
  const doc = new Y.Doc();
  const closes: number[] = [];
  const saved: number[] = [];
  const line = { slow: false, asked: 0, sent: 0, lags: 0 };
  const hear = (message: Uint8Array) => {
    line.sent += 1;
    const decoder = decoding.createDecoder(message);
    if (decoding.readVarUint(decoder) !== 0) return;
    const answer = encoding.createEncoder();
    encoding.writeVarUint(answer, 0);
    if (sync.readSyncMessage(decoder, answer, doc, "server") === sync.messageYjsSyncStep1) line.asked += 1;
  };
  const peer = new DocPeer(reader.key, reader.caller, {
    rooms: rooms.rooms,
    clock: rooms.clock,
    via: "doc",
    checkMs,
    get slow() {
      return line.slow;
    },
    send: hear,
    sendShared: (message) => hear(message.bare.frame),
    saved: (n) => saved.push(n),
    tell: () => {},
    close: (code) => {
      closes.push(code);
      peer.end();
    },
    lags: () => {
      line.lags += 1;
    },
  });
  rooms.rooms.listen(reader.key, (broadcast) => {
    if (broadcast.kind === "doc")
      peer.deliver({
        ...broadcast,
        message: new SharedMessage(() => updateMessage(broadcast.update)),
      } as DocItem);
  });
  const open = async () => {
    peer.receive(step1Message(Y.encodeStateVector(doc)));
    await quiet();
  };
  /** Somebody else changes the state. */
  const change = async (key: string) => {
    const frame = {
      type: "patch",
      ref: 1,
      key,
      thread: "t",
      base: 0,
      patch: [{ op: "add", path: `/${key}`, value: 1 }],
    };
    await rooms.rooms.request({ key: reader.key, caller: reader.caller, frame: frame as never });
    await quiet();
  };
  return { rooms, doc, peer, closes, saved, line, open, change };
}

const state = (doc: Y.Doc) => doc.getMap("state").toJSON();

test("[Y1] now and then the server asks again what it may lack, so that a message that was lost is missed for long by nobody", async () => {
  const { doc, peer, line, open, rooms } = await enter();
  await open();
  expect(line.asked).toBe(1);
  // The peer's own edit is lost on the way, and nobody knows.
  doc.getMap("state").set("lost", 1);
  for (let i = 0; i < 3; i += 1) {
    rooms.clock.advance(30_000);
    await quiet();
  }
  expect(line.asked).toBe(4);
  peer.end();
  rooms.clock.advance(60_000);
  await quiet();
  expect(line.asked).toBe(4);
});

test("[B3] a peer that does not read is sent nothing, and what it has missed when it reads again", async () => {
  const { doc, peer, line, open, change } = await enter();
  await open();
  await change("one");
  expect(state(doc)).toEqual({ one: 1 });
  line.slow = true;
  const { sent } = line;
  await change("two");
  await change("three");
  expect([line.sent, line.lags > 0, peer.isBehind]).toEqual([sent, true, true]);
  peer.resume();
  await quiet();
  expect(peer.isBehind).toBe(true);
  line.slow = false;
  peer.resume();
  await quiet();
  expect(state(doc)).toEqual({ one: 1, two: 1, three: 1 });
  expect(peer.isBehind).toBe(false);
});

test("[Y6] more updates at once than can be stored close their sender", async () => {
  const { peer, closes, open } = await enter();
  await open();
  for (let i = 0; i < 1_001; i += 1) peer.receive(updateMessage(new Uint8Array([0, 0])));
  expect(closes).toEqual([4429]);
});

test("[Y3] step 1 may come again at any time, and is answered", async () => {
  const { doc, open, change, peer } = await enter();
  await open();
  peer.end();
  await change("one");
  expect(state(doc)).toEqual({});
  const again = await enter();
  await again.open();
  await again.change("one");
  again.doc.getMap("state").set("mine", 2);
  await again.open();
  expect(state(again.doc)).toEqual({ one: 1, mine: 2 });
});
