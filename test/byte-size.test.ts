import { expect, test } from "vitest";
import { sseFraming } from "../server/run/framing.ts";
import { byteSize } from "../shared/byte-size.ts";
import { PROTOCOL } from "../shared/protocol/index.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";

test.each([
  [0, "0 bytes"],
  [1_000, "1000 bytes"],
  [1_024, "1 KiB"],
  [4_096, "4 KiB"],
  [5_000, "5000 bytes"],
  [1_000_000, "976.5 KiB"],
  [1_048_575, "1023.9 KiB"],
  [4 * 1_024 * 1_024, "4 MiB"],
  [10_000_000, "9.5 MiB"],
  [2 ** 31, "2048 MiB"],
])("%i bytes are %s", (bytes, text) => {
  expect(byteSize(bytes)).toBe(text);
});

test("sentences name sizes as people read them", async () => {
  const server = await openServer({ agents: {} });
  const client = await RawClient.hello(server.url);
  await client.join("t");
  client.send({ type: "presence", thread: "t", data: { fill: "x".repeat(5_000) } });
  expect(await client.next("reject")).toMatchObject({ message: "Presence data may have 4 KiB." });
  const messages = [{ id: "m", role: "user", content: "x".repeat(1_100_000) }];
  expect(
    await client.ask({ type: "submit", thread: "t", inputId: "i", start: false, messages }),
  ).toMatchObject({
    message: "Message 1 is over the limit of 1 MiB.",
  });
  // Over the limit of frames, and over what the socket reads at all.
  for (const length of [4 * 1_024 * 1_024, 5 * 1_024 * 1_024]) {
    const raw = await RawClient.open(server.url);
    const user = { id: "ana", name: "Ana" };
    raw.send({ type: "hello", v: PROTOCOL, client: "other", user, token: "x".repeat(length) });
    expect((await raw.closed).bye?.reason).toBe("A frame may have 4 MiB.");
  }
  const sse = sseFraming(8 * 1_024 * 1_024, "Planner");
  expect(() => sse.push(Buffer.alloc(9 * 1_024 * 1_024, "x"))).toThrow(
    "Planner sent an event of more than 8 MiB.",
  );
});
