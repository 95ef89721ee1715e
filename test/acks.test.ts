import { expect, test } from "vitest";
import { Ack, Acks } from "../shared/protocol/index.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";

type Request = { type: keyof typeof Acks; [field: string]: unknown };

const said = (id: string) => [{ id, role: "user", content: id }];

test("[F4] [S1] every request is answered with the fields of its schema and no others", async () => {
  const puppet = new PuppetAgent();
  const server = await openServer({ agents: { puppet: puppet.run } });
  const client = await RawClient.hello(server.url);
  await client.join("t");
  const seen = new Set<string>();
  const ask = async (frame: Request) => {
    const { type, ref, ...fields } = await client.ask({ thread: "t", ...frame });
    expect({ type, ref }, JSON.stringify({ frame, fields })).toEqual({ type: "ack", ref: expect.anything() });
    expect(Ack.parse({ type, ref, ...fields })).toEqual({ type, ref, ...fields });
    // What a schema does not know, at any depth, would be missing in what it gives back.
    expect((Acks[frame.type] as typeof Acks.submit).strict().parse(fields)).toEqual(fields);
    seen.add(frame.type);
    return fields as Record<string, unknown>;
  };

  await ask({ type: "ping" });
  await ask({ type: "watch", watch: "w", query: {} });
  const first = { type: "submit", inputId: "i1", messages: said("m1"), runId: "r1" } as const;
  expect(await ask(first)).toEqual({
    inputId: "i1",
    status: "running",
    runId: "r1",
    seq: expect.any(Number),
  });
  expect(await ask(first)).toMatchObject({ inputId: "i1", duplicate: true });
  (await puppet.next()).start({ type: "TEXT_MESSAGE_START", messageId: "a1", role: "assistant" });
  await client.entry((entry) => entry.kind === "event" && entry.event.type === "TEXT_MESSAGE_START");
  const waiting = await ask({ type: "submit", inputId: "i2", messages: said("m2") });
  expect(waiting).toMatchObject({ status: "queued", place: 1, runId: expect.any(String) });
  const note = await ask({ type: "submit", inputId: "n1", messages: said("m3"), start: false });
  expect(note).toEqual({ inputId: "n1", status: "done", seq: expect.any(Number) });
  expect(await ask({ type: "withdraw", key: "k1", inputId: "i2" })).toEqual({ seq: expect.any(Number) });
  expect(await ask({ type: "withdraw", key: "k1", inputId: "i2" })).toMatchObject({ duplicate: true });
  await ask({ type: "cancel", key: "k2", runId: "r1" });
  await ask({ type: "update", key: "k3", title: "Launch" });
  // The cancelled run's turn is on the page, so that its end, and who stopped it, are looked at too.
  const page = await ask({ type: "earlier", before: "m3", limit: 1 });
  expect(page).toMatchObject({ messages: [{ id: "a1" }], before: 1 });
  const turn = (page.turns as { id: string }[]).find(({ id }) => id === "r1");
  expect(turn).toMatchObject({ end: { outcome: "cancelled", by: { name: "Ana" } } });
  await ask({ type: "unwatch", watch: "w" });
  await ask({ type: "leave" });
  expect([...seen].sort()).toEqual(Object.keys(Acks).sort());
});
