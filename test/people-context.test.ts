import { expect, test } from "vitest";
import { parseConfig } from "../server/config.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer, type TestReader, TestRooms } from "./kit/server.ts";

const person = (name: string) => ({ name, id: `guest:${name.toLowerCase()}` });

/** What a run was told of people. */
function told(run: { input: { context: { description: string; value: string }[] } }): unknown {
  const items = run.input.context.filter(({ description }) => description === "People in this conversation");
  expect(items.length).toBeLessThanOrEqual(1);
  return items[0] && JSON.parse(items[0].value);
}

/** A run from asking to its end. */
async function oneRun(agent: PuppetAgent, by: TestReader, more: object = {}) {
  const { runId } = await by.submit("plan it", more);
  const run = await agent.next();
  run.start().finish().end();
  await by.terminal(runId as string);
  return run;
}

test("[R13] from two people on an agent is told who they are, who asked first", async () => {
  const agent = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: agent } });
  const ana = await rooms.join("t", "Ana");
  const alone = await oneRun(agent, ana);
  expect(told(alone)).toBeUndefined();

  const ben = await rooms.join("t", "Ben");
  const context = [{ description: "Page", value: "start" }];
  const both = await oneRun(agent, ben, { context });
  expect(told(both)).toEqual({ askedBy: person("Ben"), others: [person("Ana")] });
  expect(both.input.context[0]).toEqual(context[0]);

  // Who has written counts when they are gone, who has not only while they are here.
  const cy = await rooms.join("t", "Cy");
  await ben.leave();
  const three = await oneRun(agent, ana);
  expect(told(three)).toEqual({ askedBy: person("Ana"), others: [person("Ben"), person("Cy")] });
  await cy.leave();
  const two = await oneRun(agent, ana);
  expect(told(two)).toEqual({ askedBy: person("Ana"), others: [person("Ben")] });
});

test("[R13] one person in two windows is one, and names are the present ones", async () => {
  const agent = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: agent } });
  const ana = await rooms.join("t", "Ana");
  await rooms.join("t", "Ana", { client: "second window" });
  const alone = await oneRun(agent, ana);
  expect(told(alone)).toBeUndefined();
  ana.caller.user.name = "Ana B";
  await rooms.join("t", "Ben");
  const both = await oneRun(agent, ana);
  expect(told(both)).toEqual({ askedBy: { name: "Ana B", id: "guest:ana" }, others: [person("Ben")] });
});

test("[R13] fifty others are named, and the rest are counted", async () => {
  const agent = new PuppetAgent();
  const rooms = new TestRooms({ agents: { planner: agent } });
  for (let i = 0; i < 60; i += 1) await rooms.join("t", `P${i}`);
  const ana = await rooms.join("t", "Ana");
  const run = await oneRun(agent, ana);
  const value = told(run) as { askedBy: object; others: object[]; more: number };
  expect(value).toMatchObject({ askedBy: person("Ana"), more: 10 });
  expect(value.others).toHaveLength(50);
});

test("[R13] a server, or one agent, can leave people out", async () => {
  expect(parseConfig({}).hidePeople).toBe(false);
  const [open, closed] = [new PuppetAgent(), new PuppetAgent()];
  const server = await openServer({
    agents: { open: { agent: open.run, hidePeople: false }, closed: closed.run },
    hidePeople: true,
  });
  const [ana, ben] = [await RawClient.hello(server.url, "Ana"), await RawClient.hello(server.url, "Ben")];
  for (const client of [ana, ben]) await client.join("t");
  for (const [agent, puppet] of [
    ["closed", closed],
    ["open", open],
  ] as const) {
    const messages = [{ id: `m-${agent}`, role: "user", content: "go" }];
    await ana.ask({ type: "submit", thread: "t", inputId: `i-${agent}`, agent, messages });
    const run = await puppet.next();
    run.start().finish().end();
    expect(told(run) !== undefined).toBe(agent === "open");
  }
});
