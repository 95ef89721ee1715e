import fc from "fast-check";
import { expect, test } from "vitest";
import type { AGUIEvent, Thread } from "../client/index.ts";
import type { NewEntry } from "../shared/protocol/index.ts";
import { type Scene, scene, seeded } from "./kit/scripted-client.ts";
import { ANN, type ScriptedThread } from "./kit/scripted-server.ts";

/** The entries of one answer, cut into small commits: a run with a thought, a tool call and its text. */
function answer(n: number): NewEntry[] {
  const run = `r${n}`;
  const event = (fields: Record<string, unknown>): NewEntry => ({
    kind: "event",
    run,
    event: fields as unknown as AGUIEvent,
  });
  const words = Array.from({ length: 8 }, (_, i) => `word${i} `);
  return [
    {
      ...event({ type: "RUN_STARTED", threadId: "a", runId: run }),
      start: { agent: "planner", by: ANN },
    } as NewEntry,
    event({ type: "REASONING_MESSAGE_START", messageId: `t${n}`, role: "reasoning" }),
    event({ type: "REASONING_MESSAGE_CONTENT", messageId: `t${n}`, delta: "hm " }),
    event({ type: "REASONING_MESSAGE_END", messageId: `t${n}` }),
    event({ type: "TEXT_MESSAGE_START", messageId: `m${n}`, role: "assistant" }),
    ...words.map((delta) => event({ type: "TEXT_MESSAGE_CONTENT", messageId: `m${n}`, delta })),
    event({ type: "TEXT_MESSAGE_END", messageId: `m${n}` }),
    event({ type: "TOOL_CALL_START", toolCallId: `c${n}`, toolCallName: "look", parentMessageId: `m${n}` }),
    event({ type: "TOOL_CALL_ARGS", toolCallId: `c${n}`, delta: `{"n":${n}}` }),
    event({ type: "TOOL_CALL_END", toolCallId: `c${n}` }),
    event({ type: "TOOL_CALL_RESULT", messageId: `x${n}`, toolCallId: `c${n}`, content: "seen" }),
    event({ type: "STATE_DELTA", delta: [{ op: "add", path: `/n${n}`, value: n }] }),
    event({ type: "RUN_FINISHED", threadId: "a", runId: run }),
  ];
}

/** Brings everything to rest: connected, nothing unsent, nothing under way. */
async function rest({ client, server, pass, settle }: Scene): Promise<void> {
  server.up = true;
  server.intercept = null;
  for (let i = 0; i < 40; i += 1) {
    await pass(5_000);
    if (client.status === "live" && client.unsent === 0) break;
  }
  await settle();
}

/** What a client must show of a log, whatever it went through. */
function expectEqual(thread: Thread, log: ScriptedThread): void {
  expect(thread.status).toBe("live");
  expect(thread.messages).toEqual(log.timeline.list);
  expect(thread.state).toEqual(log.timeline.state);
  expect(thread.title).toBe(log.timeline.title);
  expect(thread.runs.map(({ runId }) => runId)).toEqual(log.timeline.runs.all().map(({ runId }) => runId));
  expect(thread.inputs).toEqual([...log.timeline.inputs.values()]);
  expect(thread.cursor).toEqual(log.cursor);
}

test("[J2] fifty cuts in a row at any point of a stream: every entry is applied once", async () => {
  const made = scene({ random: seeded(7) });
  const { client, server, settle, pass } = made;
  const log = server.thread("a");
  const random = seeded(42);
  const thread = client.thread("a");
  const seqs: number[] = [];
  thread.on("entries", (items) => seqs.push(...items.map(({ seq }) => seq)));
  await settle();
  const stream = Array.from({ length: 12 }, (_, n) => answer(n)).flat();
  let cuts = 0;
  while (stream.length > 0) {
    log.commit(...stream.splice(0, 1 + Math.floor(random() * 4)));
    // Some of it arrives, then the line is cut in the middle, also in the middle of recovering.
    server.last.pair.flushUp(Math.floor(random() * 3));
    server.last.pair.flushDown(Math.floor(random() * 4));
    if (cuts < 50 && random() < 0.9) {
      server.last.pair.cut();
      cuts += 1;
      if (random() < 0.6) await pass(random() * 3_000);
    }
  }
  expect(cuts).toBe(50);
  await rest(made);
  expectEqual(thread, log);
  // After the first snapshot nothing was skipped and nothing came twice.
  expect(seqs).toEqual(Array.from({ length: log.head.seq }, (_, i) => i + 1));
});

type Step =
  | { do: "commit"; count: number }
  | { do: "note"; by: "me" | "other" }
  | { do: "input"; busy: boolean }
  | { do: "up" | "down"; frames: number }
  | { do: "cut" }
  | { do: "pass"; ms: number }
  | { do: "again" }
  | { do: "snapshot" }
  | { do: "gap" }
  | { do: "rate" }
  | { do: "down for"; ms: number }
  | { do: "release" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("commit" as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("note" as const),
      by: fc.constantFrom("me" as const, "other" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("input" as const), busy: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("up" as const, "down" as const),
      frames: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: "cut" as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 9_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Step>(
      { do: "again" },
      { do: "snapshot" },
      { do: "gap" },
      { do: "rate" },
      { do: "release" },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("down for" as const), ms: fc.integer({ min: 0, max: 30_000 }) }),
  },
);

test("[J2] [D1] whatever is cut, repeated, refused or left out: the client ends equal to the log, each input applied once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat(), async (steps, seed) => {
      const made = scene({ random: seeded(seed) });
      const { client, server, settle, pass } = made;
      const log = server.thread("a");
      let thread = client.thread("a");
      const seqs: number[] = [];
      thread.on("entries", (items) => seqs.push(...items.map(({ seq }) => seq)));
      await settle();
      let stream = answer(0);
      let n = 0;
      const mine: { id: string; sent: Promise<unknown> }[] = [];
      const submit = (id: string, note: boolean) => {
        const content = { id, content: `${id} of mine` };
        mine.push({ id, sent: note ? thread.note(content) : thread.send(content, { inputId: `i-${id}` }) });
      };
      for (const [index, what] of steps.entries()) {
        switch (what.do) {
          case "commit":
            if (stream.length === 0) stream = answer(++n);
            log.commit(...stream.splice(0, what.count));
            break;
          case "note":
            if (what.by === "other") log.message(`o${index}`, "from elsewhere");
            else submit(`s${index}`, true);
            break;
          case "input":
            server.busy = what.busy;
            submit(`s${index}`, false);
            break;
          case "up":
            server.accept();
            server.last.pair.flushUp(what.frames);
            break;
          case "down":
            server.last.pair.flushDown(what.frames);
            break;
          case "cut":
            server.last.pair.cut();
            break;
          case "pass":
            await pass(what.ms);
            break;
          case "again": {
            const items = log.log.slice(-1);
            if (items.length > 0) log.tell({ after: log.head.seq - 1, items });
            break;
          }
          case "snapshot":
            server.broadcast("a", log.snapshot());
            break;
          case "gap":
            log.write({ kind: "thread", title: `title ${index}` });
            break;
          case "rate": {
            let left = 1;
            server.intercept = (frame, connection) => {
              if (!("key" in frame) && frame.type !== "submit" && frame.type !== "join") return;
              if (left-- <= 0) return;
              connection.send({
                type: "reject",
                ref: frame.ref,
                code: "rate",
                message: "Slow down.",
                retry: true,
              });
              return true;
            };
            break;
          }
          case "down for":
            server.up = false;
            await pass(what.ms);
            server.up = true;
            break;
          case "release":
            thread.release();
            thread = client.thread("a");
        }
        const ids = thread.messages.map(({ id }) => id);
        expect(new Set(ids).size, "a message is shown twice").toBe(ids.length);
        const waiting = thread.inputs.filter(({ status }) => status === "queued");
        const queued = new Set(waiting.flatMap(({ messages }) => messages.map(({ id }) => id)));
        expect(
          ids.filter((id) => queued.has(id)),
          "in the conversation and in the queue",
        ).toEqual([]);
        for (const { id } of mine)
          expect(ids.includes(id) || queued.has(id), `${id} is nowhere after step ${index}`).toBe(true);
      }
      await rest(made);
      // A frame that was left out is noticed by the next one.
      log.commit({ kind: "thread", title: "the end" });
      await rest(made);
      expectEqual(thread, log);
      await Promise.all(mine.map(({ sent }) => sent));
      for (const { id } of mine) {
        const holds = log.log.filter(
          (entry) =>
            (entry.kind === "message" && entry.message.id === id) ||
            (entry.kind === "input" && entry.status === "queued" && entry.messages?.some((m) => m.id === id)),
        );
        expect(holds.length, `${id} is ${holds.length} times in the log`).toBe(1);
      }
      expect(
        [...seqs].sort((a, b) => a - b),
        "entries came out of order",
      ).toEqual(seqs);
      expect(new Set(seqs).size, "an entry was applied twice").toBe(seqs.length);
      client.close();
    }),
    { numRuns: Number(process.env.COTHREAD_SOAK) ? 3_000 : 100 },
  );
}, 120_000);

test("a log that is lost and begun anew, again and again: the client ends equal to the last one", async () => {
  const lose = fc.record({ cut: fc.boolean(), messages: fc.nat(3), flush: fc.nat(4), note: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(lose, { maxLength: 8 }), fc.nat(), async (losses, seed) => {
      const made = scene({ random: seeded(seed) });
      const { client, server, settle, pass } = made;
      const log = server.thread("a");
      const thread = client.thread("a");
      await settle();
      for (const [i, { cut, messages, flush, note }] of losses.entries()) {
        for (let m = 0; m < messages; m += 1) log.message(`e${i}-${m}`, "x");
        if (note) void thread.note(`note ${i}`);
        server.last.pair.flushUp(flush);
        server.last.pair.flushDown(flush);
        // A log is lost with the server, so with every connection.
        server.last.pair.cut();
        log.lose(`epoch-${i}`);
        if (cut) await pass(1_000);
        server.last.pair.cut();
      }
      await rest(made);
      expectEqual(thread, log);
      client.close();
    }),
    { numRuns: 100 },
  );
}, 60_000);
