import { enforceEvents, transformChunks, verifyEvents } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import fc from "fast-check";
import { from, lastValueFrom, toArray } from "rxjs";
import { describe, expect, test } from "vitest";
import { closingEvents } from "../server/run/closing-events.ts";
import { EventLimits } from "../server/run/event-limits.ts";
import { RunFailure } from "../server/run/failure.ts";
import { protobufFraming, sseFraming } from "../server/run/framing.ts";
import { Ingest, type IngestSpec, type LogWriter } from "../server/run/ingest.ts";
import type { AGUIEvent, Entry, Message, NewEntry } from "../shared/protocol/index.ts";
import { Timeline } from "../shared/timeline/index.ts";
import { describeWithFixtures } from "./kit/fixtures.ts";
import { streams } from "./kit/streams.ts";
import { joinedAt } from "./kit/timeline-cuts.ts";

const ANA = { kind: "user", id: "guest:ana", name: "Ana" } as const;

/** A log that entries are written to as a room's turn does it. */
class Log implements LogWriter {
  readonly timeline = new Timeline();
  readonly entries: Entry[] = [];
  log(entry: NewEntry, maxBytes = Number.POSITIVE_INFINITY): void {
    const placed = { seq: this.entries.length + 1, at: 1, ...entry } as Entry;
    if (Buffer.byteLength(JSON.stringify(placed)) > maxBytes)
      throw new RunFailure("AGENT_TOO_BIG", "Too big.");
    this.entries.push(placed);
    this.timeline.apply(placed);
  }
  get events(): AGUIEvent[] {
    return this.entries.flatMap((entry) => (entry.kind === "event" ? [entry.event] : []));
  }
}

function begin(more: Partial<IngestSpec> = {}): {
  log: Log;
  ingest: Ingest;
  send(...events: object[]): void;
} {
  const log = new Log();
  const ingest = new Ingest({
    thread: "t",
    agentThread: "t",
    runId: "r1",
    agent: "planner",
    agentName: "Planner",
    by: ANA,
    inputId: "i1",
    given: [],
    isQueued: () => false,
    state: (to, run, event) => to.log({ kind: "event", run, event }),
    eventBytes: 1_000_000,
    limits: new EventLimits(),
    ...more,
  });
  const send = (...events: object[]) => {
    for (const event of events) ingest.event(log, event as AGUIEvent);
  };
  return { log, ingest, send };
}

const started = { type: "RUN_STARTED", threadId: "t", runId: "r1" };
const finished = { type: "RUN_FINISHED", threadId: "t", runId: "r1" };
const said = (id: string, role = "user"): Message => ({ id, role, content: id }) as Message;

async function verified(events: readonly object[]): Promise<AGUIEvent[]> {
  const stages = from(events as BaseEvent[]).pipe(enforceEvents(), transformChunks(), verifyEvents());
  return lastValueFrom(stages.pipe(toArray())) as Promise<unknown> as Promise<AGUIEvent[]>;
}

describe("[R3] what a run begins with", () => {
  test("RUN_STARTED is logged without input, with who asked for it", () => {
    const { log, send } = begin({ resumes: "r0" });
    send({ ...started, protocolVersion: "1.0", input: { messages: [said("m1")], state: { a: 1 } } });
    expect(log.entries[0]).toEqual({
      seq: 1,
      at: 1,
      kind: "event",
      run: "r1",
      event: { ...started, protocolVersion: "1.0" },
      start: { agent: "planner", by: ANA, inputId: "i1", resumes: "r0" },
    });
    // A message the thread does not have becomes one of the run's turn.
    expect(log.entries[1]).toMatchObject({ kind: "message", turn: "r1", message: { id: "m1" } });
  });

  test("messages of its input that the thread has are not written again", () => {
    const { log, send } = begin();
    log.log({ kind: "message", turn: "i1", by: ANA, message: said("m1") });
    send({ ...started, input: { messages: [{ ...said("m1"), content: "changed" }, said("m2")] } });
    expect(log.timeline.list.map(({ id, content }) => [id, content])).toEqual([
      ["m1", "m1"],
      ["m2", "m2"],
    ]);
  });

  test("[I2] an agent knows the thread by the name it was given, everybody else by its own", () => {
    const { log, send } = begin({ agentThread: "acme/t" });
    send({ ...started, threadId: "acme/t" }, { ...finished, threadId: "acme/t" });
    expect(log.events).toMatchObject([
      { type: "RUN_STARTED", threadId: "t" },
      { type: "RUN_FINISHED", threadId: "t" },
    ]);
    expect(() => begin({ agentThread: "acme/t" }).send(started)).toThrow(/another thread/);
  });
});

describe("[R4] whose run it is", () => {
  test("the first run must be the one that was asked for", () => {
    for (const wrong of [{ threadId: "other" }, { runId: "other" }]) {
      const { log, send } = begin();
      expect(() => send({ ...started, ...wrong })).toThrow(RunFailure);
      expect(log.entries).toEqual([]);
    }
  });

  test("RUN_FINISHED must be of the thread; it ends the run under way, whatever its run id", () => {
    const mixed = begin();
    mixed.send(started);
    expect(() => mixed.send({ ...finished, threadId: "other" })).toThrow(RunFailure);
    const { log, send } = begin();
    send(started, { ...finished, runId: "an id of the framework" });
    expect(log.entries.at(-1)).toMatchObject({ run: "r1", event: { type: "RUN_FINISHED", runId: "r1" } });
  });

  test("later runs keep their ids; one that the thread has already gets another", () => {
    const { log, send } = begin();
    log.log({ kind: "message", turn: "taken", by: ANA, message: said("m1") });
    send(started, finished);
    for (const runId of ["own", "taken"]) send({ ...started, runId }, { ...finished, runId });
    const runs = log.entries.flatMap((e) => (e.kind === "event" && e.start ? [[e.run, e.start]] : []));
    expect(runs).toEqual([
      ["r1", { agent: "planner", by: ANA, inputId: "i1" }],
      ["own", { agent: "planner", by: ANA }],
      ["r1:taken", { agent: "planner", by: ANA }],
    ]);
    expect(log.events.map(({ runId }) => runId)).toEqual(["r1", "r1", "own", "own", "r1:taken", "r1:taken"]);
    expect(() => send({ ...started, runId: "taken" })).toThrow(/twice/);
  });
});

describe("[R5] how a run ends", () => {
  test("a run that never began is a RUN_ERROR with its start", () => {
    const { log, ingest } = begin();
    ingest.fail(log, "AGENT_UNREACHABLE", "No.");
    expect(log.entries).toMatchObject([
      {
        by: { kind: "system" },
        event: { type: "RUN_ERROR", code: "AGENT_UNREACHABLE", message: "No." },
        start: { agent: "planner", by: ANA, inputId: "i1" },
      },
    ]);
    expect(log.timeline.turns.get("r1")?.end).toMatchObject({ outcome: "error", code: "AGENT_UNREACHABLE" });
  });

  test("once it has ended, failing and cancelling change nothing", () => {
    for (const end of [finished, { type: "RUN_ERROR", message: "x" }]) {
      const { log, ingest, send } = begin();
      send(started, end);
      const before = log.entries.length;
      ingest.fail(log, "AGENT_TIMEOUT", "Late.");
      ingest.cancel(log, ANA);
      expect(log.entries).toHaveLength(before);
    }
  });

  test("[R9] a RUN_ERROR behind RUN_FINISHED is late and does not change how the run ended", () => {
    const { log, send } = begin();
    send(started, finished, { type: "RUN_ERROR", message: "afterwards" });
    expect(log.entries.at(-1)).toMatchObject({ late: true, event: { message: "afterwards" } });
    expect(log.entries.filter((e) => e.kind === "event" && e.late)).toHaveLength(1);
  });
});

describe("[R6] cancelling", () => {
  test("before the run has begun it begins and ends", async () => {
    const { log, ingest } = begin();
    ingest.cancel(log, ANA);
    expect(log.events).toEqual([started, { ...finished, outcome: { type: "cancelled" } }]);
    expect(log.entries[0]).toMatchObject({ by: ANA, start: { inputId: "i1" } });
    await verified(log.events);
  });

  test("what is open is closed, last opened first", async () => {
    const { log, ingest, send } = begin();
    const tag = { subagentRunId: "s1" };
    send(started, { type: "STEP_STARTED", stepName: "outer" });
    send({ type: "SUBAGENT_STARTED", subagentRunId: "s1", subagentName: "helper" });
    send({ type: "STEP_STARTED", stepName: "inner", ...tag });
    send({ type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant", ...tag });
    send({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "x", parentMessageId: "m", ...tag });
    send({ type: "REASONING_START", messageId: "q" }, { type: "REASONING_MESSAGE_START", messageId: "q" });
    ingest.cancel(log, ANA);
    expect(log.events.slice(-8)).toEqual([
      { type: "REASONING_MESSAGE_END", messageId: "q" },
      { type: "REASONING_END", messageId: "q" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
      { type: "STEP_FINISHED", stepName: "inner", ...tag },
      { type: "SUBAGENT_ERROR", message: "The run was stopped.", code: "cancelled", ...tag },
      { type: "STEP_FINISHED", stepName: "outer" },
      { ...finished, outcome: { type: "cancelled" } },
    ]);
    expect(log.entries.slice(-8).every(({ by }) => by === ANA)).toBe(true);
  });

  /** Cuts a legal stream anywhere and cancels; what is logged must be legal to the end. */
  async function cutAt(stream: readonly AGUIEvent[], cut: number): Promise<void> {
    const expanded = await verified(stream);
    const [first] = expanded;
    // A stream of no events, or one that is a mere error, has no run to cut.
    if (first?.type !== "RUN_STARTED") return;
    const { log, ingest, send } = begin({
      agentThread: first.threadId as string,
      thread: first.threadId as string,
      runId: first.runId as string,
    });
    send(...expanded.slice(0, cut));
    const { phase } = ingest;
    ingest.cancel(log, ANA);
    const ends = log.events.filter(({ type }) => /^RUN_(FINISHED|ERROR)$/.test(type));
    if (phase !== "ended") expect(ends.at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    // As a stock client is told it: a snapshot that was logged as its changes says whose messages are.
    await verified(joinedAt(log.entries, 0, first.threadId as string));
    expect(log.timeline.runs.size).toBe(0);
  }

  test("any legal stream, cut anywhere, ends legally", async () => {
    await fc.assert(
      fc.asyncProperty(streams(30), fc.nat(60), async (stream, cut) => cutAt(stream, cut)),
      { numRuns: process.env.COTHREAD_SOAK ? 3_000 : 60 },
    );
  });

  describeWithFixtures("recorded streams", ({ traces }) => {
    test("cut at every event", async () => {
      for (const [name, stream] of Object.entries(traces)) {
        // The recording gave the two ends of a run different ids.
        let runId: unknown;
        for (const event of stream) {
          if (event.type === "RUN_STARTED") runId = event.runId;
          if (event.type === "RUN_FINISHED") event.runId = runId;
        }
        const first = stream.slice(0, stream.findIndex(({ type }) => type === "RUN_FINISHED") + 1);
        for (let cut = 0; cut <= first.length; cut += 1)
          await cutAt(first, cut).catch((error) => {
            throw new Error(`${name} cut at ${cut}: ${error}`);
          });
      }
    });
  });

  test("closing events of nothing are none", () => {
    expect(closingEvents([])).toEqual([]);
  });
});

describe("[R7] MESSAGES_SNAPSHOT", () => {
  test("a note somebody wrote meanwhile stays as it is, with its author", () => {
    const { log, send } = begin({ given: ["u1"] });
    const note = {
      ...said("note"),
      name: "Bo",
      metadata: { cothread: { user: { id: "guest:bo", name: "Bo" } } },
    };
    log.log({ kind: "message", turn: "i1", by: ANA, message: said("u1") });
    send(started);
    log.log({ kind: "message", turn: "n1", by: { ...ANA, id: "guest:bo" }, message: note as Message });
    send({
      type: "MESSAGES_SNAPSHOT",
      messages: [said("u1"), { ...said("note"), content: "taken over" }, said("a1", "assistant")],
    });
    expect(log.timeline.list).toEqual([said("u1"), note, said("a1", "assistant")]);
    // One that leaves everything out drops what the agent was given or made, and no more.
    send({ type: "MESSAGES_SNAPSHOT", messages: [] });
    expect(log.timeline.list).toEqual([note]);
  });

  test("what a person wrote is not rewritten, even when the agent was given it", () => {
    const { log, send } = begin({ given: ["u1"] });
    log.log({ kind: "message", turn: "i1", by: ANA, message: said("u1") });
    send(started, {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "u1", role: "user", content: "other words" }],
    });
    expect(log.timeline.list).toEqual([said("u1")]);
    expect(log.entries.at(-1)).toMatchObject({ kind: "messages", put: [], drop: [] });
  });

  test("it is logged as what it changed, without its messages", () => {
    const { log, send } = begin();
    const messages = [said("a1", "assistant"), said("a2", "assistant")];
    send(started, { type: "MESSAGES_SNAPSHOT", messages, metadata: { x: 1 }, rawEvent: { y: 2 } });
    expect(log.entries.at(-1)).toMatchObject({
      kind: "messages",
      run: "r1",
      put: [{ after: null }, { after: "a1" }],
      event: { type: "MESSAGES_SNAPSHOT", metadata: { x: 1 }, rawEvent: { y: 2 } },
    });
    expect(log.entries.at(-1)).not.toHaveProperty("event.messages");
    send({ type: "MESSAGES_SNAPSHOT", messages });
    expect(log.entries.at(-1)).toMatchObject({ put: [], drop: [] });
  });

  test("it is held to the size of an event", () => {
    const { send } = begin({ eventBytes: 500 });
    send(started);
    const messages = [{ id: "a", role: "assistant", content: "x".repeat(500) }];
    expect(() => send({ type: "MESSAGES_SNAPSHOT", messages })).toThrow(/Too big/);
  });
});

describe("[R8] pendingToolCallIds", () => {
  const call = (id: string) => [
    { type: "TOOL_CALL_START", toolCallId: id, toolCallName: "x" },
    { type: "TOOL_CALL_END", toolCallId: id },
  ];
  const result = (id: string) => ({
    type: "TOOL_CALL_RESULT",
    toolCallId: id,
    messageId: `m-${id}`,
    content: "",
  });

  test("are the calls of this run that have no result", () => {
    const { log, send } = begin();
    send(started, ...call("a"), ...call("b"), ...call("c"), result("b"), finished);
    expect(log.events.at(-1)?.outcome).toEqual({ type: "success", pendingToolCallIds: ["a", "c"] });
    expect([...log.timeline.tools.keys()]).toEqual(["a", "c"]);
  });

  test("are not those of an earlier run, and nothing is added when there are none", () => {
    const { log, send } = begin();
    send(started, ...call("a"), finished, { ...started, runId: "r2" }, { ...finished, runId: "r2" });
    expect(log.events.at(-1)).not.toHaveProperty("outcome");
    const { log: other, send: sendOther } = begin();
    sendOther(started, ...call("a"), result("a"), { ...finished, result: { ok: true } });
    expect(other.events.at(-1)).toEqual({ ...finished, result: { ok: true } });
  });

  test.each([
    [
      { type: "success", pendingToolCallIds: ["a"] },
      { type: "success", pendingToolCallIds: ["a"] },
    ],
    [
      { type: "success", pendingToolCallIds: [] },
      { type: "success", pendingToolCallIds: ["a"] },
    ],
    [{ type: "success" }, { type: "success", pendingToolCallIds: ["a"] }],
    [{ type: "cancelled" }, { type: "cancelled" }],
    [
      { type: "interrupt", interrupts: [{ id: "i", reason: "x" }] },
      { type: "interrupt", interrupts: [{ id: "i", reason: "x" }] },
    ],
  ])("an outcome of %j", (given, logged) => {
    const { log, send } = begin();
    send(started, ...call("a"), { ...finished, outcome: given });
    expect(log.events.at(-1)?.outcome).toEqual(logged);
  });
});

test("a tool result under the id of another message gets an id of its own", () => {
  const { log, send } = begin();
  send(started, { type: "TEXT_MESSAGE_START", messageId: "x", role: "assistant" });
  send(
    { type: "TEXT_MESSAGE_CONTENT", messageId: "x", delta: "text" },
    { type: "TEXT_MESSAGE_END", messageId: "x" },
  );
  send({ type: "TOOL_CALL_RESULT", messageId: "x", toolCallId: "c", content: "result" });
  expect(log.timeline.list).toMatchObject([
    { id: "x", role: "assistant", content: "text" },
    { id: "r1:x", role: "tool", content: "result" },
  ]);
  send({ type: "TOOL_CALL_RESULT", messageId: "r1:x", toolCallId: "c", content: "better" });
  expect(log.timeline.list).toHaveLength(2);
});

describe("sizes", () => {
  test("one event is held to its limit, in bytes", () => {
    const { log, send } = begin({ eventBytes: 1_000 });
    send(started, { type: "CUSTOM", name: "x", value: "x".repeat(800) });
    expect(() => send({ type: "CUSTOM", name: "x", value: "x".repeat(1_000) })).toThrow(RunFailure);
    expect(() => send({ type: "CUSTOM", name: "x", value: "ä".repeat(500) })).toThrow(RunFailure);
    expect(log.entries).toHaveLength(2);
  });

  test("a state that grows over many runs is measured now and then", () => {
    const limits = new EventLimits();
    const timeline = new Timeline();
    let seq = 0;
    const grow = () => {
      const event = {
        type: "STATE_DELTA",
        delta: [{ op: "add", path: `/k${seq}`, value: "x".repeat(512 * 1024) }],
      } as unknown as AGUIEvent;
      limits.check(timeline, event, "Planner");
      seq += 1;
      timeline.apply({ seq, at: 1, kind: "event", run: "r1", event });
    };
    expect(() => {
      for (let i = 0; i < 30; i += 1) grow();
    }).toThrow(/larger than 10485760 characters/);
    expect(JSON.stringify(timeline.state).length).toBeLessThan(12 * 1024 * 1024);
  });
});

describe("framing", () => {
  const bytes = fc.uint8Array({ minLength: 0, maxLength: 40 });
  const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 });

  function pieces(whole: Uint8Array, sizes: readonly number[]): Uint8Array[] {
    const out: Uint8Array[] = [];
    for (let at = 0, i = 0; at < whole.length; i += 1) {
      const size = sizes[i % sizes.length] as number;
      out.push(whole.subarray(at, at + size));
      at += size;
    }
    return out;
  }

  test("server-sent events come out whole and as they were, whatever the chunks and line ends", () => {
    const line = fc.constantFrom("data: x", "data:", ": ping", "id: 1", "data: ä👋");
    const events = fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(
        events,
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.string({ maxLength: 5 }),
        cuts,
        (list, end, tail, sizes) => {
          const rest = tail.replaceAll(/[\r\n]/g, "");
          const framing = sseFraming(10_000, "Planner");
          const text = list.map((lines) => `${lines.join(end)}${end}${end}`).join("");
          const out = pieces(Buffer.from(text + rest), sizes).map((piece) => framing.push(piece));
          for (const whole of out)
            if (whole) expect(Buffer.from(whole).toString().endsWith("\n\n")).toBe(true);
          const all = Buffer.concat([...out, framing.rest()].filter((part) => part !== null)).toString();
          // A body that ends in "\r" may be one line end or half of one.
          expect(all).toBe((text + rest).replaceAll(/\r\n|\r/g, "\n"));
        },
      ),
    );
  });

  test("protobuf messages come out whole and as they were, whatever the chunks", () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 8 }), bytes, cuts, (list, tail, sizes) => {
        const framing = protobufFraming(10_000, "Planner");
        const frame = (body: Uint8Array) => {
          const head = Buffer.alloc(4);
          head.writeUInt32BE(body.length);
          return Buffer.concat([head, body]);
        };
        const rest = frame(Buffer.from([...tail, 0])).subarray(0, -1);
        const whole = Buffer.concat([...list.map(frame), rest]);
        const out = pieces(whole, sizes).map((piece) => framing.push(piece));
        const done = Buffer.concat(out.filter((part) => part !== null));
        expect(Buffer.compare(done, Buffer.concat(list.map(frame)))).toBe(0);
        expect(Buffer.compare(framing.rest() ?? Buffer.alloc(0), rest)).toBe(0);
      }),
    );
  });

  test("what is held stays within the limit", () => {
    const sse = sseFraming(5_000, "Planner");
    expect(() => {
      for (let i = 0; i < 100; i += 1) sse.push(Buffer.alloc(100, "x"));
    }).toThrow(/more than 5000 bytes/);
    // The length alone decides: nothing of the body is waited for.
    expect(() => protobufFraming(5_000, "Planner").push(Buffer.from([0, 0, 0x13, 0x89]))).toThrow(RunFailure);
    expect(protobufFraming(5_000, "Planner").push(Buffer.from([0, 0, 0x13, 0x88]))).toBe(null);
  });
});
