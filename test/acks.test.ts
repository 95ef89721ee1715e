import { expect, test } from "vitest";
import { Ack, Acks, type Entry } from "../shared/protocol/index.ts";
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
  await ask({ type: "edit", key: "e1", inputId: "i2", messages: said("m2") });
  await ask({ type: "move", key: "e2", inputId: "i2", place: 1 });
  const note = await ask({ type: "submit", inputId: "n1", messages: said("m3"), start: false });
  expect(note).toEqual({ inputId: "n1", status: "done", seq: expect.any(Number) });
  expect(await ask({ type: "withdraw", key: "k1", inputId: "i2" })).toEqual({ seq: expect.any(Number) });
  expect(await ask({ type: "withdraw", key: "k1", inputId: "i2" })).toMatchObject({ duplicate: true });
  await ask({ type: "cancel", key: "k2", runId: "r1" });
  await ask({ type: "update", key: "k3", title: "Launch" });
  const patch = [{ op: "add" as const, path: "/a", value: 1 }];
  const patched = await ask({ type: "patch", key: "k4", base: 0, patch });
  expect(patched).toEqual({ seq: expect.any(Number), patch });
  expect(await ask({ type: "revert", key: "k5", runId: "r1" })).toEqual({
    seq: expect.any(Number),
    skipped: [],
  });
  // The cancelled run's turn is on the page, so that its end, and who stopped it, are looked at too.
  const page = await ask({ type: "earlier", before: "m3", limit: 1 });
  expect(page).toMatchObject({ messages: [{ id: "a1" }], before: 1 });
  const turn = (page.turns as { id: string }[]).find(({ id }) => id === "r1");
  expect(turn).toMatchObject({ end: { outcome: "cancelled", by: { name: "Ana" } } });
  await ask({ type: "submit", inputId: "i3", messages: said("m4"), runId: "r3" });
  const interrupts = [{ id: "q1", reason: "approve" }];
  (await puppet.next())
    .start()
    .finish({ outcome: { type: "interrupt", interrupts } })
    .end();
  await client.entry(
    (entry) => entry.kind === "event" && entry.event.type === "RUN_FINISHED" && entry.run === "r3",
  );
  const answered = await ask({ type: "answer", key: "k6", interruptId: "q1", status: "resolved" });
  expect(answered).toEqual({ seq: expect.any(Number), remaining: 0, resumeRunId: expect.any(String) });
  (await puppet.next()).start().finish().end();
  await client.entry(
    (entry) =>
      entry.kind === "event" && entry.event.type === "RUN_FINISHED" && entry.run === answered.resumeRunId,
  );
  const tool = { name: "pick", description: "", parameters: {} };
  expect(await ask({ type: "tools", tools: [tool] })).toEqual({ accepted: ["pick"], refused: [] });
  await ask({ type: "submit", inputId: "i4", messages: said("m5"), runId: "r4" });
  (await puppet.next())
    .start(
      { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "pick" },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
    )
    .finish()
    .end();
  await client.entry((entry) => entry.kind === "tool" && entry.status === "offered");
  expect(await ask({ type: "claim", toolCallId: "c1" })).toEqual({ n: 1, until: expect.any(Number) });
  expect(await ask({ type: "release", toolCallId: "c1", n: 1 })).toEqual({});
  expect(await ask({ type: "claim", toolCallId: "c1" })).toMatchObject({ n: 2 });
  await ask({ type: "result", key: "k7", toolCallId: "c1", n: 2, content: "x" });
  (await puppet.next()).start().finish().end();
  const isOver = (entry: Entry) => entry.kind === "event" && entry.event.type === "RUN_FINISHED";
  await expect
    .poll(() => client.frames.flatMap((f) => (f.type === "entries" ? f.items.filter(isOver) : [])).length)
    .toBe(5);
  await ask({ type: "head", key: "k8", turn: "r4" });
  await ask({ type: "read", seq: 1 });
  await ask({ type: "unwatch", watch: "w" });
  await ask({ type: "leave" });
  expect([...seen].sort()).toEqual(Object.keys(Acks).sort());
});

test("[F4] each request gets one answer, a join among them, and none is left without", async () => {
  const server = await openServer({ agents: {} });
  const client = await RawClient.hello(server.url);
  const note = (id: string) => ({
    type: "submit",
    thread: "t",
    inputId: id,
    messages: said(id),
    start: false,
  });
  const requests = [
    { type: "ping" },
    note("too early"),
    { type: "join", thread: "t", create: true },
    { type: "join", thread: "nowhere" },
    note("i"),
    note("i"),
    { ...note("i"), messages: said("another") },
    { type: "cancel", thread: "t", key: "k", runId: "none" },
    { type: "auth" },
    { type: "dance" },
    { type: "ping", ref: 7.5 },
    { type: "leave", thread: "t" },
    { type: "leave", thread: "t" },
  ];
  requests.slice(0, 4).forEach((frame, i) => void client.send({ ref: `q${i}`, ...frame }));
  await client.next("snapshot");
  requests.slice(4).forEach((frame, i) => void client.send({ ref: `q${i + 4}`, ...frame }));
  // Some are answered with a commit and a ping at once: what was asked last may be answered first.
  await client.find((frame) => frame.type === "reject" && frame.ref === "q7");
  await client.ask({ type: "ping", ref: "end" });
  const answers = client.frames.flatMap((frame) =>
    frame.type === "ack" || frame.type === "reject" || frame.type === "joined"
      ? [[frame.ref, frame.type === "reject" ? frame.code : frame.type]]
      : [],
  );
  const known = answers.filter(([ref]) => ref !== "end");
  expect(known).toHaveLength(requests.length);
  expect(Object.fromEntries(known)).toEqual({
    q0: "ack",
    q1: "not_joined",
    q2: "joined",
    q3: "not_found",
    q4: "ack",
    q5: "ack",
    q6: "conflict",
    q7: "not_running",
    q8: "not_supported",
    q9: "bad_frame",
    7.5: "ack",
    q11: "ack",
    q12: "ack",
  });
});
