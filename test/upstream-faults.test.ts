import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AbstractAgent, HttpAgent, type Middleware } from "@ag-ui/client";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { AGUI_MEDIA_TYPE } from "@ag-ui/encoder";
import { concat, from, map, Observable, of, throwError } from "rxjs";
import { describe, expect, test } from "vitest";
import type { Agent, AgentOptions } from "../server/agents/agent.ts";
import type { AGUIEvent, Entry, RunErrorCode } from "../shared/protocol/index.ts";
import { settled } from "./kit/fake-clock.ts";
import { TestRooms } from "./kit/server.ts";
import { Upstream, type UpstreamCall } from "./kit/upstream.ts";

const TEXT = [
  { type: "TEXT_MESSAGE_START", messageId: "a1", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "a1", delta: "Hello" },
  { type: "TEXT_MESSAGE_END", messageId: "a1" },
];
const sse = (event: object) => `data: ${JSON.stringify(event)}\n\n`;

function eventsOf(entries: readonly Entry[], run: string): AGUIEvent[] {
  return entries.flatMap((entry) => (entry.kind === "event" && entry.run === run ? [entry.event] : []));
}

/** Exactly one terminal event, the input settled as it says, and a sentence for people in an error. */
function expectOneEnd(entries: readonly Entry[], run: string, code: RunErrorCode | "success"): string {
  const events = eventsOf(entries, run);
  const ends = events.filter(({ type }) => /^RUN_(FINISHED|ERROR)$/.test(type));
  expect(ends.map((end) => end.code ?? "success")).toEqual([code]);
  const inputs = entries.filter((entry) => entry.kind === "input" && entry.runId === run);
  const last = inputs.at(-1) as Entry & { kind: "input" };
  expect(last.status).toBe(code === "success" ? "done" : "failed");
  if (code === "success") return "";
  expect(last.reason).toBe(code);
  const sentence = ends[0]?.message as string;
  expect(sentence).toMatch(/^[A-Za-z].{10,400}[.…]$/);
  expect(sentence).not.toMatch(/\[object|undefined|ZodError|"code":/);
  return sentence;
}

/** One run of an upstream that does `script`; then one that works, in the same thread. */
async function faulty(
  script: (call: UpstreamCall, rooms: TestRooms) => unknown,
  code: RunErrorCode | "success",
  options: Partial<AgentOptions> = {},
) {
  const upstream = await Upstream.start();
  const rooms = new TestRooms({ agents: { planner: { agent: upstream.agent(), ...options } } });
  const ana = await rooms.join("t");
  await ana.submit("go", { runId: "r1" });
  const call = await upstream.next();
  const result = await script(call, rooms);
  await ana.terminal("r1");
  // Whoever went on sending would be heard by now.
  await settled();
  await works(upstream, rooms, ana);
  const sentence = expectOneEnd(ana.entries, "r1", code);
  return { call, result, sentence, entries: ana.entries, events: eventsOf(ana.entries, "r1"), rooms };
}

async function works(upstream: Upstream, rooms: TestRooms, ana: Awaited<ReturnType<TestRooms["join"]>>) {
  const ack = await ana.submit("again", { runId: "r2" });
  if (ack.status === "queued") rooms.clock.advance(1_000);
  const good = await upstream.next();
  expect(good.input.runId).toBe("r2");
  good
    .stream()
    .emit({ type: "RUN_STARTED" })
    .emit(...TEXT.map((event) => ({ ...event, messageId: "a2" })))
    .emit({ type: "RUN_FINISHED" })
    .end();
  const end = await ana.terminal("r2");
  expect(end).toMatchObject({ event: { type: "RUN_FINISHED" } });
  await ana.entry((e) => e.kind === "input" && e.runId === "r2" && e.status === "done");
}

describe("an agent behind HTTP that does not get as far as an event stream", () => {
  test("refuses the connection", async () => {
    const closed = createServer();
    await new Promise<void>((ready) => closed.listen(0, "127.0.0.1", ready));
    const { port } = closed.address() as AddressInfo;
    await new Promise((done) => closed.close(done));
    const rooms = new TestRooms({
      agents: { planner: { agent: new HttpAgent({ url: `http://127.0.0.1:${port}/` }), name: "Planner" } },
    });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    await ana.terminal("r1");
    const sentence = expectOneEnd(ana.entries, "r1", "AGENT_UNREACHABLE");
    expect(sentence).toBe(
      "Planner cannot be reached (ECONNREFUSED). Check that it is running and that its URL is right.",
    );
    // The run that never began is one turn with its start.
    expect(ana.entries.find((e) => e.kind === "event" && e.run === "r1")).toMatchObject({
      by: { kind: "system" },
      start: { agent: "planner", by: { id: "guest:ana" } },
    });
  });

  test.each(["ENOTFOUND", "EAI_AGAIN"])("has a name that leads nowhere (%s)", async (cause) => {
    // What `fetch` of Node throws then; a real name server would take its time.
    const fetch = () =>
      Promise.reject(
        new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: cause }) }),
      );
    const agent = new HttpAgent({ url: "http://planner.invalid/", fetch });
    const rooms = new TestRooms({ agents: { planner: agent } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    await ana.terminal("r1");
    expect(expectOneEnd(ana.entries, "r1", "AGENT_UNREACHABLE")).toContain(`(${cause})`);
  });

  test.each(["nonsense", "http://", "ftp://127.0.0.1/"])("has the URL %j", async (url) => {
    const rooms = new TestRooms({ agents: { planner: new HttpAgent({ url }) } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    await ana.terminal("r1");
    expectOneEnd(ana.entries, "r1", "AGENT_UNREACHABLE");
  });

  test("has a fetch that throws instead of rejecting", async () => {
    const fetch = () => {
      throw new Error("no network here");
    };
    const rooms = new TestRooms({ agents: { planner: new HttpAgent({ url: "http://x/", fetch }) } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    await ana.terminal("r1");
    expectOneEnd(ana.entries, "r1", "AGENT_UNREACHABLE");
  });

  test("never answers: the request is aborted after connectMs", async () => {
    const { sentence, result } = await faulty(
      (call, rooms) => {
        rooms.clock.advance(1_999);
        expect(call.response.destroyed).toBe(false);
        rooms.clock.advance(1);
        return call.closed;
      },
      "AGENT_TIMEOUT",
      { connectMs: 2_000, name: "Planner" },
    );
    expect(sentence).toBe("Planner did not answer within 2 seconds.");
    expect(result).toBe(true);
  });

  test.each([400, 401, 403, 404, 422, 429, 500, 503])("answers %i", async (status) => {
    const { sentence, entries } = await faulty(
      (call) => call.answer(status, "application/json", '{"detail":"secret-of-the-agent"}'),
      "AGENT_HTTP",
    );
    expect(sentence).toContain(String(status));
    expect(JSON.stringify(entries)).not.toContain("secret-of-the-agent");
  });

  test("answers 500 with a body that never ends: it is not read", async () => {
    const { result } = await faulty((call) => {
      call.response.writeHead(500, { "content-type": "text/plain" });
      return call.pour("x".repeat(65_536), 64 * 1024 * 1024);
    }, "AGENT_HTTP");
    expect(result).toBeLessThan(16 * 1024 * 1024);
  });

  test.each([
    ["text/html", "<html>secret-of-the-agent</html>"],
    ["application/json", '{"answer":"secret-of-the-agent"}'],
    [null, "secret-of-the-agent"],
    ["text/plain; charset=utf-8", "data: {}"],
  ])("answers 200 with %s", async (type, body) => {
    const { sentence, entries } = await faulty((call) => call.answer(200, type, body), "AGENT_INVALID");
    expect(sentence).toContain("Check that its URL is that of an AG-UI endpoint.");
    expect(JSON.stringify(entries)).not.toContain("secret-of-the-agent");
  });

  test("answers 204", async () => {
    await faulty((call) => call.answer(204, null), "AGENT_INVALID");
  });

  test("cannot be given what a client sent along: it is not asked", async () => {
    const upstream = await Upstream.start();
    const rooms = new TestRooms({ agents: { planner: upstream.agent() } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1", tools: [{ name: "x", description: "y", metadata: 5 }] });
    await ana.terminal("r1");
    expectOneEnd(ana.entries, "r1", "AGENT_FAILED");
    expect(upstream.calls).toHaveLength(0);
    await works(upstream, rooms, ana);
  });
});

describe.each(["sse", "protobuf"] as const)("an event stream as %s", (form) => {
  test("works, whatever the sizes of its chunks", async () => {
    const upstream = await Upstream.start();
    const rooms = new TestRooms({ agents: { planner: upstream.agent() } });
    const ana = await rooms.join("t");
    const text = "Grüße 👋 «ok»\n\nand a line".repeat(20);
    for (const [i, size] of [1, 2, 3, 7, 1_000, 100_000].entries()) {
      const runId = `r${i}`;
      await ana.submit("go", { runId });
      const call = await upstream.next();
      const bytes: Buffer[] = [];
      const write = call.response.write.bind(call.response);
      call.write = (piece) => bytes.push(Buffer.from(piece as string)) > 0;
      call
        .stream(form)
        .emit({ type: "RUN_STARTED" }, { type: "TEXT_MESSAGE_START", messageId: runId, role: "assistant" })
        .emit({ type: "TEXT_MESSAGE_CONTENT", messageId: runId, delta: text })
        .emit({ type: "TEXT_MESSAGE_END", messageId: runId }, { type: "RUN_FINISHED" });
      const whole = Buffer.concat(bytes);
      call.response.socket?.setNoDelay(true);
      for (let at = 0; at < whole.length; at += size) {
        write(whole.subarray(at, at + size));
        if (size < 10 && at % 64 === 0) await settled();
      }
      call.end();
      await ana.terminal(runId);
      const content = eventsOf(ana.entries, runId).find((e) => e.type === "TEXT_MESSAGE_CONTENT");
      expect(content?.delta, `chunks of ${size}`).toBe(text);
      await ana.entry((e) => e.kind === "input" && e.runId === runId && e.status === "done");
      rooms.clock.advance(1_000);
    }
  });

  test("is empty", async () => {
    const { sentence } = await faulty((call) => call.stream(form).end(), "AGENT_TRUNCATED");
    expect(sentence).toBe("The agent's answer ended without starting the run.");
  });

  test("ends without a terminal event", async () => {
    const { sentence, events } = await faulty(
      (call) =>
        call
          .stream(form)
          .emit({ type: "RUN_STARTED" }, ...TEXT)
          .end(),
      "AGENT_TRUNCATED",
    );
    expect(sentence).toBe("The agent's answer ended in the middle of the run.");
    expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", ...TEXT.map((e) => e.type), "RUN_ERROR"]);
  });

  const half = (call: UpstreamCall) => {
    call.stream(form).emit({ type: "RUN_STARTED" }, ...TEXT);
    call.write(form === "sse" ? 'data: {"type":"TEXT_MESS' : Buffer.from([0, 0, 0, 40, 1, 2, 3]));
  };

  test("ends in the middle of an event", async () => {
    const { events } = await faulty((call) => {
      half(call);
      call.end();
    }, "AGENT_TRUNCATED");
    // What came before counts.
    expect(events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT")).toHaveLength(1);
  });

  test("breaks in the middle of an event", async () => {
    const { sentence } = await faulty(async (call) => {
      half(call);
      // Not before it was read: what breaks earlier is lost on the way.
      await settled();
      call.destroy();
    }, "AGENT_TRUNCATED");
    expect(sentence).toContain("ended in the middle of its answer");
  });

  test("breaks before the first event", async () => {
    await faulty(async (call) => {
      call.stream(form);
      await new Promise((sent) => call.response.write("", sent));
      await settled();
      call.destroy();
    }, "AGENT_TRUNCATED");
  });

  test("falls silent: it is aborted after idleMs", async () => {
    const { sentence, result, rooms } = await faulty(
      async (call, { clock }) => {
        call.stream(form).emit({ type: "RUN_STARTED" });
        while (call.response.writableLength > 0) await settled();
        // The clock of the silence begins with the last event, wherever it is by now.
        for (let ms = 0; ms < 5_000 && !call.response.destroyed; ms += 100) {
          clock.advance(100);
          await settled();
        }
        return call.closed;
      },
      "AGENT_TIMEOUT",
      { idleMs: 4_000 },
    );
    expect(sentence).toBe("planner sent nothing for 4 seconds. Try again or choose another agent.");
    expect(result).toBe(true);
    expect(rooms.warnings).toEqual([
      {
        what: "a run failed",
        details: { thread: "t", run: "r1", agent: "planner", code: "AGENT_TIMEOUT" },
      },
    ]);
  });

  test("sends an event of 50 MB: no more of it than the limit is held", async () => {
    const { result, call } = await faulty(
      async (up) => {
        up.stream(form).emit({ type: "RUN_STARTED" });
        const length = 50 * 1024 * 1024;
        const head = Buffer.alloc(4);
        head.writeUInt32BE(length);
        up.write(form === "sse" ? 'data: {"type":"CUSTOM","name":"x","value":"' : head);
        return up.pour("x".repeat(65_536), length);
      },
      "AGENT_TOO_BIG",
      { eventBytes: 256 * 1024 },
    );
    // Sockets of this machine buffer a few megabytes by themselves.
    expect(result).toBeLessThan(10 * 1024 * 1024);
    expect(await call.closed).toBe(true);
  });

  test("sends an event just over the limit, and one just under it", async () => {
    const limit = 64 * 1024;
    const custom = (size: number) => ({ type: "CUSTOM", name: "x", value: "x".repeat(size) });
    await faulty((call) => call.stream(form).emit({ type: "RUN_STARTED" }, custom(limit)), "AGENT_TOO_BIG", {
      eventBytes: limit,
    });
    await faulty(
      (call) =>
        call
          .stream(form)
          .emit({ type: "RUN_STARTED" }, custom(limit - 400), { type: "RUN_FINISHED" })
          .end(),
      "success",
      { eventBytes: limit },
    );
  });

  test("sends a malformed known field", async () => {
    const { sentence, call } = await faulty((up) => {
      up.stream(form).emit({ type: "RUN_STARTED" });
      if (form === "sse") up.write(sse({ type: "TEXT_MESSAGE_START", messageId: 5, role: "assistant" }));
      else up.write(Buffer.from([0, 0, 0, 3, 0xff, 0xff, 0xff]));
    }, "AGENT_INVALID");
    expect(sentence).toMatch(/^planner broke the AG-UI protocol: /);
    expect(await call.closed).toBe(true);
  });

  const streams: [string, object[], RunErrorCode | "success"][] = [
    ["starts another thread's run", [{ type: "RUN_STARTED", threadId: "other" }], "AGENT_INVALID"],
    ["starts another run", [{ type: "RUN_STARTED", runId: "other" }], "AGENT_INVALID"],
    [
      "finishes another thread's run",
      [{ type: "RUN_STARTED" }, { type: "RUN_FINISHED", threadId: "other" }],
      "AGENT_INVALID",
    ],
    [
      "finishes under an id of its framework",
      [{ type: "RUN_STARTED" }, { type: "RUN_FINISHED", runId: "other" }],
      "success",
    ],
    ["begins with something else", TEXT, "AGENT_INVALID"],
    ["starts twice", [{ type: "RUN_STARTED" }, { type: "RUN_STARTED" }], "AGENT_INVALID"],
    ["content without a start", [{ type: "RUN_STARTED" }, TEXT[1]!], "AGENT_INVALID"],
    [
      "finishes with a text open",
      [{ type: "RUN_STARTED" }, TEXT[0]!, { type: "RUN_FINISHED" }],
      "AGENT_INVALID",
    ],
    ["goes on after RUN_FINISHED", [{ type: "RUN_STARTED" }, { type: "RUN_FINISHED" }, ...TEXT], "success"],
    [
      "finishes twice",
      [{ type: "RUN_STARTED" }, { type: "RUN_FINISHED" }, { type: "RUN_FINISHED" }],
      "success",
    ],
  ];
  test.each(streams)("%s", async (_what, events, code) => {
    await faulty(
      (call) =>
        call
          .stream(form)
          .emit(...events)
          .end(),
      code,
    );
  });

  test("is cut by cancel: the upstream sees its connection close", async () => {
    const upstream = await Upstream.start();
    const rooms = new TestRooms({ agents: { planner: upstream.agent() } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const call = await upstream.next();
    call.stream(form).emit({ type: "RUN_STARTED" }, TEXT[0]!);
    await ana.entry((e) => e.kind === "event" && e.event.type === "TEXT_MESSAGE_START");
    await ana.ask({ type: "cancel", key: "k", runId: "r1" });
    expect(await call.closed).toBe(true);
    await ana.terminal("r1");
    expect(eventsOf(ana.entries, "r1").slice(2)).toMatchObject([
      { type: "TEXT_MESSAGE_END", messageId: "a1" },
      { type: "RUN_FINISHED", outcome: { type: "cancelled" } },
    ]);
    await works(upstream, rooms, ana);
  });

  test("is cut by cancel before the head of the answer has come", async () => {
    const upstream = await Upstream.start();
    const rooms = new TestRooms({ agents: { planner: upstream.agent() } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const call = await upstream.next();
    await ana.ask({ type: "cancel", key: "k", runId: "r1" });
    expect(await call.closed).toBe(true);
    await ana.terminal("r1");
    await works(upstream, rooms, ana);
  });
});

describe("server-sent events", () => {
  test.each([
    ["CRLF", "\r\n"],
    ["CR", "\r"],
    ["LF", "\n"],
  ])("with line ends of %s, comments, other fields and no last empty line", async (_name, end) => {
    const { events } = await faulty((call) => {
      const { threadId, runId } = call.input;
      call.stream();
      const lines = [
        ": hello",
        "",
        "event: x",
        "id: 7",
        `data: ${JSON.stringify({ type: "RUN_STARTED", threadId, runId })}`,
        "",
        ": ping",
        "",
        'data: {"type":"CUSTOM",',
        'data: "name":"x","value":1}',
        "",
        "",
        `data:${JSON.stringify({ type: "RUN_FINISHED", threadId, runId })}`,
      ];
      const bytes = Buffer.from(lines.join(end));
      for (let at = 0; at < bytes.length; at += 11) call.write(bytes.subarray(at, at + 11));
      call.end();
    }, "success");
    expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]);
  });

  test("a line without an end: no more of it than the limit is held", async () => {
    const { result } = await faulty(
      (call) => call.stream().pour("x".repeat(65_536), 50 * 1024 * 1024),
      "AGENT_TOO_BIG",
      { eventBytes: 256 * 1024 },
    );
    expect(result).toBeLessThan(10 * 1024 * 1024);
  });

  test("a large event in small pieces costs its size, not the square of it", async () => {
    const value = "x".repeat(2 * 1024 * 1024);
    const began = performance.now();
    await faulty(async (call) => {
      const { threadId, runId } = call.input;
      call.stream();
      const bytes = Buffer.from(
        sse({ type: "RUN_STARTED", threadId, runId }) +
          sse({ type: "CUSTOM", name: "x", value }) +
          sse({ type: "RUN_FINISHED", threadId, runId }),
      );
      for (let at = 0; at < bytes.length; at += 1_024) {
        call.write(bytes.subarray(at, at + 1_024));
        if (at % 65_536 === 0) await settled();
      }
      call.end();
    }, "success");
    // Looking at all of it again with each piece took over 10 s.
    expect(performance.now() - began).toBeLessThan(4_000);
  });

  test.each([
    ["half a character", [0x22, 0xc3, 0x28, 0x22]],
    ["a byte that never occurs", [0xff]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
  ])("text with %s in the middle", async (_what, bytes) => {
    const { sentence, entries } = await faulty((call) => {
      call.stream().emit({ type: "RUN_STARTED" });
      call.write('data: {"type":"CUSTOM","name":"x","value":"');
      call.write(Buffer.from(bytes));
      call.write('"}\n\n');
    }, "AGENT_INVALID");
    expect(sentence).toBe("planner sent text that is not valid UTF-8.");
    expect(JSON.stringify(entries)).not.toContain("\ufffd");
  });

  test.each(["{nope secret}", "null", "5", '"text"', "[]", "{}", '{"type":""}', '{"type":7}'])(
    "data that is %s",
    async (data) => {
      const { sentence } = await faulty((call) => {
        call.stream().emit({ type: "RUN_STARTED" });
        call.write(`data: ${data}\n\n`);
      }, "AGENT_INVALID");
      expect(sentence).not.toContain("secret");
    },
  );

  test("[R2] an unknown event type is dropped, an unknown field is stripped", async () => {
    const { events } = await faulty(
      (call) =>
        call
          .stream()
          .emit({ type: "RUN_STARTED" }, { type: "FROM_THE_FUTURE", x: 1 })
          .emit(
            { type: "STEP_STARTED", stepName: "s", fancy: true },
            { type: "STEP_FINISHED", stepName: "s" },
          )
          .emit({ type: "RUN_FINISHED" })
          .end(),
      "success",
    );
    expect(events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    expect(events[1]).not.toHaveProperty("fancy");
  });

  test("[R2] legacy nulls, THINKING_* and chunks become what AG-UI 1.0 has", async () => {
    const { events } = await faulty(
      (call) =>
        call
          .stream()
          .emit({ type: "RUN_STARTED" }, { type: "THINKING_START" }, { type: "THINKING_TEXT_MESSAGE_START" })
          .emit({ type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "hm" }, { type: "THINKING_TEXT_MESSAGE_END" })
          .emit({ type: "THINKING_END" })
          .emit({ type: "TEXT_MESSAGE_CHUNK", messageId: "c1", role: "assistant", delta: "Hel" })
          .emit({ type: "TEXT_MESSAGE_CHUNK", delta: "lo" })
          .emit({ type: "TOOL_CALL_START", toolCallId: "t1", toolCallName: "x", parentMessageId: null })
          .emit({ type: "TOOL_CALL_END", toolCallId: "t1" })
          .emit({ type: "TOOL_CALL_CHUNK", toolCallId: "t2", toolCallName: "y", delta: "{}" })
          .emit({ type: "RUN_FINISHED", outcome: null, result: null })
          .end(),
      "success",
    );
    expect(events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TOOL_CALL_START",
      "TOOL_CALL_END",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "RUN_FINISHED",
    ]);
    expect(events.find(({ toolCallId }) => toolCallId === "t1")).not.toHaveProperty("parentMessageId");
    expect(events.at(-1)).toMatchObject({
      outcome: { type: "success", pendingToolCallIds: ["t1", "t2"] },
    });
  });

  test("the agent's own RUN_ERROR keeps its code and message; what comes behind it is dropped", async () => {
    const upstream = await Upstream.start();
    const rooms = new TestRooms({ agents: { planner: upstream.agent() } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    (await upstream.next())
      .stream()
      .emit({ type: "RUN_STARTED" }, { type: "RUN_ERROR", message: "Out of credit.", code: "PAY_UP" })
      .emit({ type: "RUN_FINISHED" })
      .end();
    await ana.terminal("r1");
    await works(upstream, rooms, ana);
    const ends = ana.entries.filter((e) => e.kind === "event" && e.run === "r1").slice(1);
    expect(ends).toMatchObject([{ event: { type: "RUN_ERROR", message: "Out of credit.", code: "PAY_UP" } }]);
    expect(rooms.warnings).toMatchObject([{ what: "the agent failed after its run had ended" }]);
  });

  test("RUN_ERROR alone is a run of its own", async () => {
    const upstream = await Upstream.start();
    const rooms = new TestRooms({ agents: { planner: upstream.agent() } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    (await upstream.next()).stream().emit({ type: "RUN_ERROR", message: "No." }).end();
    expect(await ana.terminal("r1")).toMatchObject({
      start: { agent: "planner" },
      event: { message: "No." },
    });
    await works(upstream, rooms, ana);
  });

  test("a late RUN_ERROR behind RUN_FINISHED is kept as late and changes nothing", async () => {
    const upstream = await Upstream.start();
    const rooms = new TestRooms({ agents: { planner: upstream.agent() } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    const call = await upstream.next();
    call.stream().emit({ type: "RUN_STARTED" }, { type: "RUN_FINISHED" });
    await ana.terminal("r1");
    call.emit({ type: "RUN_ERROR", message: "afterwards" }).end();
    await ana.entry((e) => e.kind === "event" && e.late === true);
    await works(upstream, rooms, ana);
    const inputs = ana.entries.filter((e) => e.kind === "input" && e.runId === "r1");
    expect(inputs.map((e) => e.kind === "input" && e.status)).toEqual(["running", "done"]);
  });

  test("several runs in one response are runs of one agent and author", async () => {
    const { entries } = await faulty(
      (call) =>
        call
          .stream()
          .emit({ type: "RUN_STARTED" }, { type: "RUN_FINISHED" })
          .emit({ type: "RUN_STARTED", runId: "more" }, ...TEXT, { type: "RUN_FINISHED", runId: "more" })
          .end(),
      "success",
    );
    const starts = entries.filter((e) => e.kind === "event" && e.event.type === "RUN_STARTED").slice(0, 2);
    expect(starts).toMatchObject([
      { run: "r1", start: { agent: "planner", by: { id: "guest:ana" }, inputId: "c1-1" } },
      { run: "more", start: { agent: "planner", by: { id: "guest:ana" } } },
    ]);
    expect(starts[1]).not.toHaveProperty("start.inputId");
  });

  test("a further run in one response that is cut fails by itself", async () => {
    const { entries } = await faulty(
      (call) =>
        call
          .stream()
          .emit({ type: "RUN_STARTED" }, { type: "RUN_FINISHED" }, { type: "RUN_STARTED", runId: "more" })
          .end(),
      "success",
    );
    expect(eventsOf(entries, "more")).toMatchObject([
      { type: "RUN_STARTED" },
      { type: "RUN_ERROR", code: "AGENT_TRUNCATED" },
    ]);
  });

  test("the content type of protobuf may have parameters", async () => {
    await faulty(
      (call) =>
        call
          .stream("protobuf", `${AGUI_MEDIA_TYPE}; charset=binary`)
          .emit({ type: "RUN_STARTED" }, { type: "RUN_FINISHED" })
          .end(),
      "success",
    );
  });

  const unstorable: [string, object[]][] = [
    ["an empty message id", [{ type: "TEXT_MESSAGE_START", messageId: "", role: "assistant" }]],
    [
      "half a character as message id",
      [{ type: "TEXT_MESSAGE_START", messageId: "\ud800", role: "assistant" }],
    ],
    ["an empty tool call id", [{ type: "TOOL_CALL_START", toolCallId: "", toolCallName: "x" }]],
    [
      "half a character as result id",
      [{ type: "TOOL_CALL_RESULT", toolCallId: "t", messageId: "\udc00", content: "" }],
    ],
    ["an empty activity id", [{ type: "ACTIVITY_SNAPSHOT", messageId: "", activityType: "x", content: {} }]],
    [
      "an empty id in a snapshot",
      [{ type: "MESSAGES_SNAPSHOT", messages: [{ id: "", role: "assistant", content: "x" }] }],
    ],
    [
      "half a character as a further run's id",
      [{ type: "RUN_FINISHED" }, { type: "RUN_STARTED", runId: "\ud800" }],
    ],
  ];
  test.each(unstorable)("%s cannot be stored, and ends its run only", async (what, events) => {
    const further = what.includes("further");
    const { rooms, entries } = await faulty(
      (call) =>
        call
          .stream()
          .emit({ type: "RUN_STARTED" }, ...events, { type: "RUN_FINISHED" })
          .end(),
      further ? "success" : "AGENT_INVALID",
    );
    expect(rooms.warnings.filter(({ what }) => what.startsWith("a commit failed"))).toEqual([]);
    expect(JSON.stringify(entries)).not.toContain("STORE_FAILED");
  });

  test("an echo of the input whose messages have unusable ids", async () => {
    await faulty((call) => {
      const input = { ...call.input, messages: [{ id: "", role: "user", content: "x" }] };
      call.stream().emit({ type: "RUN_STARTED", input });
    }, "AGENT_INVALID");
  });

  test("values nested too deep to be copied", async () => {
    const deep = JSON.parse(`${"[".repeat(2_000)}${"]".repeat(2_000)}`);
    await faulty(
      (call) => call.stream().emit({ type: "RUN_STARTED" }, { type: "CUSTOM", name: "x", value: deep }),
      "AGENT_INVALID",
    );
  });

  test("a state that grows level by level, or doubles itself, is stopped before it can be no more copied", async () => {
    const ladder = Array.from({ length: 400 }, () => [
      { op: "move", path: "/t", from: "/a" },
      { op: "add", path: "/a", value: { x: { x: { x: {} } } } },
      { op: "move", path: "/a/x/x/x/y", from: "/t" },
    ]).flat();
    await faulty(
      (call) =>
        call
          .stream()
          .emit({ type: "RUN_STARTED" }, { type: "STATE_SNAPSHOT", snapshot: { a: {} } })
          .emit({ type: "STATE_DELTA", delta: ladder })
          .emit({ type: "RUN_FINISHED" })
          .end(),
      "AGENT_INVALID",
    );
    const doubled = Array.from({ length: 8 }, (_, i) => ({
      type: "STATE_DELTA",
      delta: [{ op: "copy", from: "", path: `/b${i}` }],
    }));
    await faulty(
      (call) =>
        call
          .stream()
          .emit({ type: "RUN_STARTED" }, { type: "STATE_SNAPSHOT", snapshot: { a: "x".repeat(400_000) } })
          .emit(...doubled, { type: "RUN_FINISHED" })
          .end(),
      "AGENT_TOO_BIG",
    );
  });

  test("a delta that does not apply leaves the state as it was, and the run goes on", async () => {
    const { rooms } = await faulty(
      (call) =>
        call
          .stream()
          .emit({ type: "RUN_STARTED" }, { type: "STATE_SNAPSHOT", snapshot: { a: 1 } })
          .emit({
            type: "STATE_DELTA",
            delta: [
              { op: "replace", path: "/a", value: 2 },
              { op: "remove", path: "/nothing" },
            ],
          })
          .emit({ type: "STATE_DELTA", delta: [{ op: "add", path: "/__proto__/x", value: 1 }] })
          .emit({ type: "RUN_FINISHED" })
          .end(),
      "success",
    );
    const bo = await rooms.join("t", "Bo");
    expect(bo.reply.catchUp).toMatchObject({ kind: "snapshot", snapshot: { state: { a: 1 } } });
  });
});

// ---- agents in this process ----------------------------------------------------------------------------

type Events = (input: RunAgentInput) => object[];
const boundary = ({ threadId, runId }: RunAgentInput) => ({ threadId, runId });
const started = (input: RunAgentInput) => ({ type: "RUN_STARTED", ...boundary(input) });
const finished = (input: RunAgentInput) => ({ type: "RUN_FINISHED", ...boundary(input) });
const good: Events = (input) => [started(input), ...TEXT, finished(input)];

function generator(events: Events): Agent {
  return async function* (input) {
    yield* events(input) as BaseEvent[];
  };
}

/** One run of an agent in this process; then one of an agent that works, in the same thread. */
async function inProcess(agent: Agent, code: RunErrorCode | "success") {
  const rooms = new TestRooms({ agents: { planner: agent, other: generator(good) } });
  const ana = await rooms.join("t");
  await ana.submit("go", { runId: "r1" });
  await ana.terminal("r1");
  await settled();
  const ack = await ana.submit("again", { runId: "r2", agent: "other" });
  if (ack.status === "queued") rooms.clock.advance(1_000);
  expect(await ana.terminal("r2")).toMatchObject({ event: { type: "RUN_FINISHED" } });
  const sentence = expectOneEnd(ana.entries, "r1", code);
  return { sentence, entries: ana.entries, events: eventsOf(ana.entries, "r1"), rooms };
}

const cyclic: Record<string, unknown> = { type: "CUSTOM", name: "x" };
cyclic.value = cyclic;

class Stock extends AbstractAgent {
  private readonly events: Events;
  constructor(events: Events) {
    super();
    this.events = events;
  }
  override run(input: RunAgentInput): Observable<BaseEvent> {
    return from(this.events(input) as BaseEvent[]);
  }
  // As AG-UI asks of subclasses with fields of their own.
  override clone(): Stock {
    return Object.assign(super.clone(), { events: this.events }) as Stock;
  }
}

describe("an agent in this process", () => {
  const bad: [string, Agent, RunErrorCode][] = [
    [
      "throws when it is called",
      () => {
        throw new Error("broken on purpose");
      },
      "AGENT_FAILED",
    ],
    [
      "throws before its first event",
      // biome-ignore lint/correctness/useYield: that is the point
      async function* () {
        throw new Error("broken on purpose");
      },
      "AGENT_FAILED",
    ],
    [
      "throws in the middle",
      async function* (input) {
        yield started(input) as BaseEvent;
        throw new Error("broken on purpose");
      },
      "AGENT_FAILED",
    ],
    [
      "returns a promise that rejects",
      (async () => Promise.reject(new Error("broken on purpose"))) as never,
      "AGENT_FAILED",
    ],
    [
      "throws something that is no error",
      async function* (input) {
        yield started(input) as BaseEvent;
        throw "broken on purpose";
      },
      "AGENT_FAILED",
    ],
    [
      "throws nothing at all",
      async function* (input) {
        yield started(input) as BaseEvent;
        throw undefined;
      },
      "AGENT_FAILED",
    ],
    ["returns nothing", (() => undefined) as never, "AGENT_FAILED"],
    ["returns a number", (() => 5) as never, "AGENT_FAILED"],
    ["yields undefined", generator((input) => [started(input), undefined as never]), "AGENT_INVALID"],
    ["yields null", generator((input) => [started(input), null as never]), "AGENT_INVALID"],
    ["yields a text", generator((input) => [started(input), "hello" as never]), "AGENT_INVALID"],
    ["yields a function", generator((input) => [started(input), (() => {}) as never]), "AGENT_INVALID"],
    ["yields an event without a type", generator((input) => [started(input), {}]), "AGENT_INVALID"],
    [
      "yields a BigInt",
      generator((input) => [started(input), { type: "CUSTOM", name: "x", value: 5n }]),
      "AGENT_INVALID",
    ],
    ["yields a cycle", generator((input) => [started(input), cyclic]), "AGENT_INVALID"],
    [
      "yields an object that throws when it is read",
      generator((input) => [
        started(input),
        Object.defineProperty({ type: "CUSTOM", name: "x" }, "value", {
          enumerable: true,
          get() {
            throw new Error("broken on purpose");
          },
        }),
      ]),
      "AGENT_INVALID",
    ],
    ["ends without a terminal", generator((input) => [started(input)]), "AGENT_TRUNCATED"],
    ["ends at once", generator(() => []), "AGENT_TRUNCATED"],
    [
      "is an Observable that fails at once",
      () => throwError(() => new Error("broken on purpose")),
      "AGENT_FAILED",
    ],
    [
      "is an Observable that fails in the middle",
      (input) =>
        concat(
          of(started(input) as BaseEvent),
          throwError(() => new Error("broken on purpose")),
        ),
      "AGENT_FAILED",
    ],
    [
      "is an Observable that throws when it is subscribed to",
      () =>
        new Observable(() => {
          throw new Error("broken on purpose");
        }),
      "AGENT_FAILED",
    ],
    [
      "is a thunk that throws",
      () => () => {
        throw new Error("broken on purpose");
      },
      "AGENT_FAILED",
    ],
    [
      "is an iterable whose iterator throws",
      () => ({
        [Symbol.asyncIterator]() {
          throw new Error("broken on purpose");
        },
      }),
      "AGENT_FAILED",
    ],
    [
      "is an agent that cannot be cloned",
      Object.assign(new Stock(good), {
        clone() {
          throw new Error("broken on purpose");
        },
      }),
      "AGENT_FAILED",
    ],
    [
      "is an agent whose run throws",
      new (class extends Stock {
        override run(): never {
          throw new Error("broken on purpose");
        }
      })(good),
      "AGENT_FAILED",
    ],
  ];
  test.each(bad)("%s", async (_what, agent, code) => {
    const { sentence } = await inProcess(agent, code);
    expect(sentence).not.toContain("purpose");
  });

  const forms: [string, Agent][] = [
    ["an async generator", generator(good)],
    ["an Observable", (input) => from(good(input) as BaseEvent[])],
    ["a thunk that gives an Observable", (input) => () => from(good(input) as BaseEvent[])],
    [
      "a thunk that gives an async generator",
      (input) =>
        async function* () {
          yield* good(input) as BaseEvent[];
        },
    ],
    ["an object with run", { run: (input: RunAgentInput) => from(good(input) as BaseEvent[]) }],
    ["an AbstractAgent", new Stock(good)],
  ];
  test.each(forms)("may be %s", async (_what, agent) => {
    const { events } = await inProcess(agent, "success");
    expect(events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      ...TEXT.map((e) => e.type),
      "RUN_FINISHED",
    ]);
  });

  test("may change what it has sent: what counts is what it was then", async () => {
    const agent: Agent = async function* (input) {
      const event = { type: "CUSTOM", name: "x", value: { n: 0, list: [1] } };
      yield started(input) as BaseEvent;
      for (let n = 1; n <= 3; n += 1) {
        event.value.n = n;
        yield event as unknown as BaseEvent;
      }
      event.value.list.push(2);
      (event as { name: string }).name = "changed";
      yield finished(input) as BaseEvent;
    };
    const { events } = await inProcess(agent, "success");
    expect(events.filter(({ type }) => type === "CUSTOM")).toMatchObject(
      [1, 2, 3].map((n) => ({ name: "x", value: { n, list: [1] } })),
    );
  });

  test("may change what it was given: nobody else sees that", async () => {
    const agent: Agent = async function* (input) {
      yield started(input) as BaseEvent;
      (input.messages[0] as { content: string }).content = "changed";
      input.messages.length = 0;
      (input.state as Record<string, unknown>).changed = true;
      yield finished(input) as BaseEvent;
    };
    const { rooms } = await inProcess(agent, "success");
    const bo = await rooms.join("t", "Bo");
    const { catchUp } = bo.reply as { catchUp: { snapshot: { messages: unknown[]; state: unknown } } };
    expect(catchUp.snapshot.messages[0]).toMatchObject({ role: "user", content: "go" });
    expect(catchUp.snapshot.state).toEqual({});
  });

  test("runs with the middlewares its owner gave it, in their order, and as itself", async () => {
    const agent = new Stock(good);
    const tag = (name: string) =>
      ((input: RunAgentInput, next: AbstractAgent) =>
        next.run({ ...input, context: [...input.context, { description: name, value: "" }] }).pipe(
          map((event) =>
            event.type === "TEXT_MESSAGE_CONTENT"
              ? ({
                  ...event,
                  delta: `${(event as unknown as { delta: string }).delta}+${name}`,
                } as BaseEvent)
              : event,
          ),
        )) as unknown as Middleware;
    agent.use(tag("outer"), tag("inner"));
    const { events } = await inProcess(agent, "success");
    expect(events.find(({ type }) => type === "TEXT_MESSAGE_CONTENT")?.delta).toBe("Hello+inner+outer");
    // What the server makes of it stays in its copy.
    expect(agent.messages).toEqual([]);
    expect(agent.isRunning).toBe(false);
  });

  test("may have a middleware that sends what JSON cannot hold", async () => {
    const agent = new Stock(good);
    agent.use(((input: RunAgentInput, next: AbstractAgent) =>
      next
        .run(input)
        .pipe(
          map((e) => (e.type === "TEXT_MESSAGE_CONTENT" ? ({ ...e, metadata: { n: 5n } } as never) : e)),
        )) as unknown as Middleware);
    await inProcess(agent, "AGENT_INVALID");
  });

  test("that never returns after an abort is let go, and what it still sends is dropped", async () => {
    let send = (_event: object) => {};
    let aborted = false;
    const stubborn: Agent = (_input, { signal }) => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      return new Observable((subscriber) => {
        send = (event) => subscriber.next(event as BaseEvent);
      });
    };
    const rooms = new TestRooms({ agents: { planner: stubborn, other: generator(good) } });
    const ana = await rooms.join("t");
    const input = { threadId: "t", runId: "r1" } as RunAgentInput;
    await ana.submit("go", { runId: "r1" });
    await settled();
    send(started(input));
    await ana.entry((e) => e.kind === "event" && e.event.type === "RUN_STARTED");
    await ana.ask({ type: "cancel", key: "k", runId: "r1" });
    expect(aborted).toBe(true);
    for (const event of [...TEXT, finished(input)]) send(event);
    await ana.submit("again", { runId: "r2", agent: "other" });
    await ana.terminal("r2");
    expect(eventsOf(ana.entries, "r1").map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  test("whose own stopping throws is stopped all the same", async () => {
    class Clinging extends Stock {
      override run(): Observable<BaseEvent> {
        return new Observable(() => {});
      }
      override abortRun(): never {
        throw new Error("no");
      }
    }
    const rooms = new TestRooms({ agents: { planner: new Clinging(good) } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    await settled();
    await ana.ask({ type: "cancel", key: "k", runId: "r1" });
    expect(await ana.terminal("r1")).toMatchObject({ event: { outcome: { type: "cancelled" } } });
    expect(rooms.warnings).toEqual([]);
  });

  test("that has all of its events at hand lets others have their turn, and can be stopped", async () => {
    let sent = 0;
    const endless: Agent = async function* (input) {
      yield started(input) as BaseEvent;
      for (;;) {
        sent += 1;
        yield { type: "CUSTOM", name: "x", value: sent } as unknown as BaseEvent;
      }
    };
    const rooms = new TestRooms({ agents: { planner: endless } });
    const ana = await rooms.join("t");
    await ana.submit("go", { runId: "r1" });
    await ana.entry((e) => e.kind === "event" && e.event.type === "CUSTOM");
    await ana.ask({ type: "cancel", key: "k", runId: "r1" });
    await ana.terminal("r1");
    const then = sent;
    await settled();
    expect(sent - then).toBeLessThan(5);
  });
});
