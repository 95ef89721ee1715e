import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Client, Entry, FrontendTool, Thread } from "../client/index.ts";
import { PairedServer } from "./kit/paired-server.ts";
import { PuppetAgent, type PuppetRun } from "./kit/puppet-agent.ts";

/** A tool whose calls wait until the test answers them. */
function heldTool(name = "pick", more: Partial<FrontendTool> = {}) {
  const calls: {
    args: unknown;
    signal: AbortSignal;
    give: (value: unknown) => void;
    fail: (error: Error) => void;
  }[] = [];
  const tool: FrontendTool = {
    name,
    description: "Lets a person pick",
    handler: (args, { signal }) => new Promise((give, fail) => calls.push({ args, signal, give, fail })),
    ...more,
  };
  return { tool, calls };
}

type Window = { client: Client; thread: Thread } & ReturnType<typeof heldTool>;

async function open<N extends string>(...names: N[]) {
  const puppet = new PuppetAgent();
  const server = new PairedServer({ planner: puppet });
  const windows = {} as Record<N, Window>;
  for (const name of names) {
    const client = server.client(name);
    windows[name] = { client, thread: client.thread("t"), ...heldTool() };
    await server.settle();
  }
  return { puppet, server, ...windows };
}

/** Lets a run call tools and end. */
function call(run: PuppetRun, ...ids: string[]): void {
  run.start();
  for (const toolCallId of ids)
    run.emit(
      { type: "TOOL_CALL_START", toolCallId, toolCallName: "pick", parentMessageId: "a1" },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: '{"kind":"pdf"}' },
      { type: "TOOL_CALL_END", toolCallId },
    );
  run.finish().end();
}

describe("a tool of this client", () => {
  test("[K1] [K2] is run by the window that asked, and by no other", async () => {
    const { puppet, server, Ann, Ben } = await open("Ann", "Ben");
    for (const { thread, tool } of [Ann, Ben]) thread.tools.register(tool);
    await server.settle();
    void Ann.thread.send("go");
    await server.settle();
    const run = await puppet.next();
    expect(run.input.tools).toEqual([
      { name: "pick", description: "Lets a person pick", parameters: { type: "object" } },
    ]);
    call(run, "c1");
    await server.settle();
    await server.pass(5_000);
    expect([Ann.calls.length, Ben.calls.length]).toEqual([1, 0]);
    expect(Ann.calls[0]?.args).toEqual({ kind: "pdf" });
    for (const { thread } of [Ann, Ben])
      expect(thread.toolCalls).toMatchObject([
        { toolCallId: "c1", status: "claimed", n: 1, by: { name: "Ann" } },
      ]);
    Ann.calls[0]?.give({ file: "a.pdf" });
    await server.settle();
    const next = await puppet.next();
    expect(next.input.messages.at(-1)).toMatchObject({ role: "tool", content: '{"file":"a.pdf"}' });
    expect(Ben.thread.toolCalls).toEqual([]);
    for (const { client } of [Ann, Ben]) client.close();
  });

  test("[K2] a network that is gone for a second moves no claim, and the result comes when it is back", async () => {
    const { puppet, server, Ann, Ben } = await open("Ann", "Ben");
    for (const { thread, tool } of [Ann, Ben]) thread.tools.register(tool);
    await server.settle();
    void Ann.thread.send("go");
    await server.settle();
    call(await puppet.next(), "c1");
    await server.settle();
    server.cut("Ann");
    await server.settle();
    Ann.calls[0]?.give("done");
    await server.pass(1_000);
    await server.pass(5_000);
    expect(Ben.calls).toEqual([]);
    expect((await puppet.next()).input.messages.at(-1)).toMatchObject({ content: "done" });
    for (const { client } of [Ann, Ben]) client.close();
  });

  test("[K2] a window that is killed loses its claim when the lease ends, and the next one takes the call", async () => {
    const { puppet, server, Ann, Ben } = await open("Ann", "Ben");
    for (const { thread, tool } of [Ann, Ben]) thread.tools.register(tool);
    await server.settle();
    void Ann.thread.send("go");
    await server.settle();
    call(await puppet.next(), "c1");
    await server.settle();
    expect(Ann.calls).toHaveLength(1);
    Ann.client.close();
    await server.settle();
    await server.pass(29_000);
    expect(Ben.calls).toHaveLength(0);
    await server.pass(2_000);
    expect(Ben.calls).toHaveLength(1);
    Ben.calls[0]?.give("Ben's");
    await server.settle();
    expect((await puppet.next()).input.messages.at(-1)).toMatchObject({ content: "Ben's" });
    Ben.client.close();
  });

  test("[K2] a claim is renewed for as long as the handler works", async () => {
    const { puppet, server, Ann, Ben } = await open("Ann", "Ben");
    for (const { thread, tool } of [Ann, Ben]) thread.tools.register(tool);
    await server.settle();
    void Ann.thread.send("go");
    await server.settle();
    call(await puppet.next(), "c1");
    await server.settle();
    for (let i = 0; i < 20; i += 1) await server.pass(10_000);
    expect([Ann.calls.length, Ben.calls.length]).toEqual([1, 0]);
    expect(Ann.calls[0]?.signal.aborted).toBe(false);
    for (const { client } of [Ann, Ben]) client.close();
  });

  test("[K4] what was given up aborts its handler, and its result does not count", async () => {
    const { puppet, server, Ann } = await open("Ann");
    Ann.thread.tools.register(Ann.tool);
    await server.settle();
    void Ann.thread.send("go");
    await server.settle();
    call(await puppet.next(), "c1");
    await server.settle();
    void Ann.thread.cancel();
    await server.settle();
    expect(Ann.calls[0]?.signal.aborted).toBe(true);
    Ann.calls[0]?.give("too late");
    await server.pass(1_000);
    expect(puppet.runs).toHaveLength(1);
    expect(Ann.thread.toolCalls).toEqual([]);
    Ann.client.close();
  });

  test("[K3] what a handler throws is an error for the agent, and so are arguments that do not fit", async () => {
    const { puppet, server, Ann } = await open("Ann");
    const seen: unknown[] = [];
    Ann.thread.tools.register({
      name: "pick",
      parameters: z.object({ kind: z.enum(["pdf", "png"]), n: z.number().default(1) }),
      handler(args) {
        seen.push(args);
        throw new Error("The person said no");
      },
    });
    await server.settle();
    void Ann.thread.send("go");
    await server.settle();
    const run = await puppet.next();
    expect(run.input.tools?.[0]?.parameters).toMatchObject({ type: "object", required: ["kind"] });
    call(run, "c1");
    await server.settle();
    await server.pass(200);
    const next = await puppet.next();
    expect(seen).toEqual([{ kind: "pdf", n: 1 }]);
    expect(next.input.messages.at(-1)).toMatchObject({ role: "tool", error: "The person said no" });
    next.start();
    next.emit(
      { type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "pick", parentMessageId: "a2" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: '{"kind":"exe"}' },
      { type: "TOOL_CALL_END", toolCallId: "c2" },
    );
    next.finish().end();
    await server.settle();
    await server.pass(200);
    const last = (await puppet.next()).input.messages.at(-1);
    expect(last).toMatchObject({
      role: "tool",
      error: expect.stringMatching(/^The arguments do not fit: kind: /),
    });
    expect(seen).toHaveLength(1);
    Ann.client.close();
  });

  test("[K1] a name that another window uses otherwise is refused, with a reason", async () => {
    const { server, Ann, Ben } = await open("Ann", "Ben");
    Ann.thread.tools.register(Ann.tool);
    await server.settle();
    const leave = Ben.thread.tools.register({
      ...Ben.tool,
      parameters: { type: "object", properties: { a: {} } },
    });
    await server.settle();
    expect(Ben.thread.tools.refused).toEqual([
      { name: "pick", reason: expect.stringMatching(/^Another client here has a tool "pick"/) },
    ]);
    leave();
    await server.settle();
    expect(Ben.thread.tools.refused).toEqual([]);
    for (const { client } of [Ann, Ben]) client.close();
  });

  test("[K2] nobody there can do it: it waits, and whoever comes takes it", async () => {
    const { puppet, server, Ann, Ben } = await open("Ann", "Ben");
    const leave = Ann.thread.tools.register(Ann.tool);
    await server.settle();
    void Ann.thread.send("go");
    await server.settle();
    const run = await puppet.next();
    leave();
    await server.settle();
    call(run, "c1");
    await server.settle();
    await server.pass(60_000);
    expect(Ben.thread.toolCalls).toMatchObject([{ status: "offered" }]);
    Ben.thread.tools.register(Ben.tool);
    await server.settle();
    await server.pass(3_000);
    expect(Ben.calls).toHaveLength(1);
    for (const { client } of [Ann, Ben]) client.close();
  });
});

test("[R10] [K2] three people: one starts, two answer, the window that runs the tool is killed, the next goes on, and all see the same", async () => {
  const { puppet, server, Ann, Ben, Cy } = await open("Ann", "Ben", "Cy");
  const logs = [Ann, Ben, Cy].map(({ thread, tool }) => {
    thread.tools.register(tool);
    const log: Entry[] = [];
    thread.on("entries", (items) => log.push(...items));
    return log;
  });
  await server.settle();
  void Ann.thread.send("go");
  await server.settle();
  const interrupts = [
    { id: "i1", reason: "approve" },
    { id: "i2", reason: "approve" },
  ];
  (await puppet.next())
    .start()
    .finish({ outcome: { type: "interrupt", interrupts } })
    .end();
  await server.settle();
  const answers = [
    Ben.thread.answer("i1", { status: "resolved", payload: 1 }),
    Cy.thread.answer("i2", { status: "resolved", payload: 2 }),
  ];
  await server.settle();
  expect((await Promise.all(answers)).map(({ remaining }) => remaining)).toEqual([1, 0]);
  const late = Ann.thread.answer("i1", { status: "resolved", payload: 3 });
  await server.settle();
  await expect(late).rejects.toMatchObject({
    code: "already_answered",
    details: { by: { name: "Ben" }, payload: 1 },
  });
  const resumed = await puppet.next();
  expect(resumed.input.resume?.map(({ payload }) => payload)).toEqual([1, 2]);
  call(resumed, "c1");
  await server.settle();
  await server.pass(3_000);
  const holder = [Ann, Ben, Cy].find(({ calls }) => calls.length > 0) as Window;
  expect(holder).toBeDefined();
  holder.client.close();
  await server.settle();
  for (let i = 0; i < 8; i += 1) await server.pass(5_000);
  const others = [Ann, Ben, Cy].filter((each) => each !== holder);
  const next = others.filter(({ calls }) => calls.length > 0);
  expect(next).toHaveLength(1);
  next[0]?.calls[0]?.give("done");
  await server.settle();
  const last = await puppet.next();
  expect(last.input.messages.at(-1)).toMatchObject({ role: "tool", content: "done" });
  last.start().finish().end();
  await server.settle();
  expect(puppet.runs).toHaveLength(3);
  const [one, two] = others.map(({ thread }) => {
    const { messages, turns, state, inputs, interrupts, toolCalls } = thread;
    return { messages, turns, state, inputs, interrupts, toolCalls };
  });
  expect(one).toEqual(two);
  expect(one).toMatchObject({ inputs: [], interrupts: [], toolCalls: [] });
  const followed = [Ann, Ben, Cy].flatMap((each, i) => (each === holder ? [] : [logs[i]]));
  expect(followed[0]?.length).toBeGreaterThan(20);
  expect(followed[0]).toEqual(followed[1]);
  for (const { client } of others) client.close();
});
