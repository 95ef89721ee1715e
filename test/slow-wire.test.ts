import { expect, test } from "vitest";
import type { GatewayLimits } from "../server/gateway/limits.ts";
import { type DownFrame, PROTOCOL } from "../shared/protocol/index.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";
import { slowLink } from "./kit/slow-link.ts";

// More than the sockets of this machine hold by themselves, so that a good part of it waits in the server.
const MESSAGES = 24;
const SIZE = 1_000_000;
const STALL_MS = 700;

/** A thread whose snapshot takes some seconds by the slow way, and somebody who is in it by the fast one. */
async function scene(limits: Partial<GatewayLimits> = {}) {
  const server = await openServer({ agents: {}, limits: { stallMs: STALL_MS, ...limits } });
  const bo = await RawClient.hello(server.url, "Bo");
  await bo.join("t");
  const note = (id: string, content: string) =>
    bo.ask({
      type: "submit",
      thread: "t",
      inputId: `i-${id}`,
      start: false,
      messages: [{ id, role: "user", content }],
    });
  // Three bytes to a character, so that pieces of a message end within one.
  for (let i = 0; i < MESSAGES; i += 1) await note(`m${i}`, "€".repeat(SIZE / 3));
  return { server, bo, note, link: await slowLink(server.url, 10_000_000) };
}

const without = (frames: readonly DownFrame[]) => frames.filter(({ type }) => type !== "welcome");

test("[B1] [B4] a large snapshot reaches whoever reads slowly and steadily, and all frames keep their order", async () => {
  const { note, link } = await scene({ pingMs: STALL_MS / 2 });
  const ana = await RawClient.hello(link.url, "Ana");
  const began = performance.now();
  ana.send({ type: "join", ref: "j", thread: "t" });
  await ana.find((frame) => frame.type === "joined");
  // Answers and broadcasts of all sizes that come while the snapshot is under way.
  for (let i = 0; i < 20; i += 1) ana.send({ type: "ping", ref: i });
  for (const [n, length] of [1, 70_000, 500_000, 1].entries()) await note(`late${n}`, "x".repeat(length));
  const last = await ana.entry((entry) => entry.kind === "message" && entry.message.id === "late3");
  expect(performance.now() - began, "the test must take longer than a stall").toBeGreaterThan(2 * STALL_MS);

  const frames = without(ana.frames);
  expect(frames.slice(0, 3).map(({ type }) => type)).toEqual(["joined", "snapshot", "people"]);
  const snapshot = frames[1] as DownFrame & { type: "snapshot" };
  expect(snapshot.messages.map(({ content }) => content)).toEqual(
    Array.from({ length: MESSAGES }, () => "€".repeat(SIZE / 3)),
  );
  expect(frames.flatMap((frame) => (frame.type === "ack" ? [frame.ref] : []))).toEqual(
    Array.from({ length: 20 }, (_, i) => i),
  );
  let at = snapshot.seq;
  for (const frame of frames) {
    if (frame.type !== "entries") continue;
    expect(frame.after).toBe(at);
    at = frame.seq;
  }
  expect(at).toBe(last.seq);
});

test("[B1] whoever takes nothing of it is cut", async () => {
  const { bo, link } = await scene();
  const ana = await RawClient.hello(link.url, "Ana");
  link.hold(true);
  ana.send({ type: "join", ref: "j", thread: "t" });
  await bo.find((frame) => frame.type === "people" && frame.leave?.includes("client-ana") === true);
  link.hold(false);
  expect((await ana.closed).code).toBe(1006);
  expect(ana.frames.some(({ type }) => type === "snapshot")).toBe(false);
});

test("[F7] a close waits for the snapshot under way, and the last word is a bye", async () => {
  const { server, link } = await scene();
  const ana = await RawClient.hello(link.url, "Ana");
  ana.send({ type: "join", ref: "j", thread: "t" });
  await ana.find((frame) => frame.type === "joined");
  const again = await RawClient.open(server.url);
  again.send({ type: "hello", v: PROTOCOL, client: "client-ana", user: { id: "ana", name: "Ana" } });
  expect((await ana.closed).code).toBe(4409);
  expect(without(ana.frames).map(({ type }) => type)).toEqual(["joined", "snapshot", "people", "bye"]);
});
