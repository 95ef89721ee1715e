import { expect, test } from "vitest";
import { createServer } from "../server/index.ts";
import { RawClient } from "./kit/raw-client.ts";

test("[B2] frames that many read arrive whole, whatever their length", async () => {
  const server = await createServer({ port: 0, store: "memory:", app: false, logLevel: "silent" });
  const writer = await RawClient.hello(server.url, "Ana");
  const readers = await Promise.all(["Ben", "Chi"].map((name) => RawClient.hello(server.url, name)));
  for (const client of [writer, ...readers]) await client.join("t");
  // Around the lengths at which a WebSocket header grows; what surrounds the text has some 400 bytes.
  const lengths = [0, 1, 60, 65_000, 65_100, 65_200, 65_300, 65_535, 65_536, 70_000, 500_000];
  for (const [n, length] of lengths.entries()) {
    const content = "é".repeat(Math.floor(length / 2)) + "x".repeat(length % 2);
    const message = { id: `m${n}`, role: "user", content };
    writer.send({ type: "submit", ref: n, thread: "t", inputId: `i${n}`, start: false, messages: [message] });
    // What is asked for and what is broadcast share a socket and must not mix.
    writer.send({ type: "ping", ref: `p${n}` });
    for (const reader of readers) {
      const entry = await reader.entry((e) => e.kind === "message" && e.message.id === `m${n}`);
      expect(entry.kind === "message" && entry.message.content).toBe(content);
    }
    await writer.find((frame) => frame.type === "ack" && frame.ref === `p${n}`);
  }
  await server.close({ drainMs: 0 });
});
