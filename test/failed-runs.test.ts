import { pino } from "pino";
import { throwError } from "rxjs";
import { expect, test } from "vitest";
import type { Agent } from "../server/agents/agent.ts";
import type { EntryOf } from "../shared/protocol/index.ts";
import { settled } from "./kit/fake-clock.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer, TestRooms } from "./kit/server.ts";

const throwing =
  (error: unknown): Agent =>
  () =>
    throwError(() => error);

/** One run of an agent: its end, all that was sent to a reader, and what a person on call was told. */
async function runOf(agent: Agent) {
  const rooms = new TestRooms({ agents: { planner: { agent, name: "Planner" } } });
  const ana = await rooms.join("t");
  await ana.submit("the question", { runId: "r1" });
  const { event } = (await ana.terminal("r1")) as EntryOf<"event">;
  await settled();
  return { event, sent: JSON.stringify(ana.entries), warnings: rooms.warnings };
}

test("[R5] what an agent's code throws goes to the log, and a sentence without it to the thread", async () => {
  const { event, sent, warnings } = await runOf(throwing(new RangeError("kaboom\n  secret")));
  expect(event).toEqual({
    type: "RUN_ERROR",
    code: "AGENT_FAILED",
    message: "Planner failed with an error. Whoever runs the server finds it in the log.",
  });
  expect(sent).not.toMatch(/kaboom|secret/);
  expect(warnings).toEqual([
    {
      what: "a run failed",
      details: {
        thread: "t",
        run: "r1",
        agent: "planner",
        code: "AGENT_FAILED",
        error: "RangeError: kaboom secret",
      },
    },
  ]);
});

test("an exception is logged with at most 500 characters, whatever was thrown", async () => {
  const logged = async (error: unknown) => {
    const { sent, warnings } = await runOf(throwing(error));
    expect(sent).not.toContain("kaboom");
    return warnings.map(({ details }) => (details as { error?: string }).error)[0];
  };
  const long = await logged(new Error("kaboom ".repeat(1_000)));
  expect(long).toMatch(/^Error: kaboom .*…$/);
  expect(long).toHaveLength(500);
  expect(await logged("kaboom")).toBe("kaboom");
  expect(await logged({ toString: () => "kaboom" })).toBe("kaboom");
  expect(await logged(undefined)).toBeUndefined();
});

test("a RUN_ERROR that the agent sends goes to the thread as it is, and nobody is called", async () => {
  const { event, warnings } = await runOf(async function* () {
    yield { type: "RUN_ERROR", message: "Out of credit.", code: "PAY_UP" } as never;
  });
  expect(event).toEqual({ type: "RUN_ERROR", message: "Out of credit.", code: "PAY_UP" });
  expect(warnings).toEqual([]);
});

test("createServer logs each run that fails: thread, run, agent and code, nothing of what was said", async () => {
  const lines: string[] = [];
  const logger = pino({ level: "warn", base: null }, { write: (line: string) => void lines.push(line) });
  const agents = {
    silent: async function* () {},
    broken: throwing(new Error("kaboom")),
  };
  const { url } = await openServer({ logger, agents });
  const ana = await RawClient.hello(url, "Ana");
  await ana.join("t");
  for (const agent of Object.keys(agents)) {
    const messages = [{ id: `m-${agent}`, role: "user", content: "between us" }];
    const ids = { inputId: `i-${agent}`, runId: `r-${agent}` };
    await ana.ask({ type: "submit", thread: "t", ...ids, agent, messages });
    await ana.entry((e) => e.kind === "input" && e.inputId === ids.inputId && e.status === "failed");
  }
  const failed = { thread: "t", msg: "a run failed" };
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 40, run: "r-silent", agent: "silent", code: "AGENT_TRUNCATED", ...failed },
    { level: 50, run: "r-broken", agent: "broken", code: "AGENT_FAILED", error: "Error: kaboom", ...failed },
  ]);
  expect(lines.join()).not.toContain("between us");
});
