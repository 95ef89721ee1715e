import { expect, test } from "vitest";
import type { CothreadError } from "../client/index.ts";
import type { Json } from "../shared/protocol/index.ts";
import { PairedServer } from "./kit/paired-server.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    (error: CothreadError) => error.code,
  );

/** Two people in one thread whose state is a list of three. */
async function open() {
  const puppet = new PuppetAgent();
  const server = new PairedServer({ puppet });
  const [ann, ben] = [server.client("Ann"), server.client("Ben")];
  const [anns, bens] = [ann.thread("t"), ben.thread("t")];
  await server.settle();
  void anns.patch([{ op: "add", path: "/items", value: ["a", "b", "c"] }]);
  await server.settle();
  await server.pass(300);
  const close = () => {
    ann.close();
    ben.close();
  };
  return { puppet, server, anns, bens, close };
}

test("[H14] a patch shows at once, reaches the other, and keeps what it did not touch", async () => {
  const { server, anns, bens, close } = await open();
  expect(bens.state).toEqual({ items: ["a", "b", "c"] });
  const before = anns.state as { items: Json };
  const ack = anns.patch([{ op: "add", path: "/title", value: "Launch" }]);
  expect(anns.state).toEqual({ items: ["a", "b", "c"], title: "Launch" });
  expect((anns.state as { items: Json }).items).toBe(before.items);
  const shown = anns.state;
  await server.settle();
  await server.pass(300);
  expect(await ack).toMatchObject({ patch: [{ path: "/title" }] });
  expect(anns.state).toEqual(shown);
  expect(bens.state).toEqual(shown);
  close();
});

test("[H14] what several people change at one moment means what each of them saw", async () => {
  const { server, anns, bens, close } = await open();
  void anns.patch([{ op: "add", path: "/items/0", value: "ann" }]);
  void anns.patch([{ op: "replace", path: "/items/2", value: "B" }]);
  void bens.patch([{ op: "remove", path: "/items/0" }]);
  void bens.patch([{ op: "replace", path: "/items/1", value: "C" }]);
  expect(anns.state).toEqual({ items: ["ann", "a", "B", "c"] });
  expect(bens.state).toEqual({ items: ["b", "C"] });
  await server.settle();
  await server.pass(300);
  expect(anns.state).toEqual({ items: ["ann", "B", "C"] });
  expect(bens.state).toEqual(anns.state);
  close();
});

test("[H14] a change of what is gone is stale, and so is what was changed on top of it", async () => {
  const { server, anns, bens, close } = await open();
  server.cut("Ann");
  await server.settle();
  const changes = [
    codeOf(anns.patch([{ op: "replace", path: "/items/1", value: "B" }])),
    codeOf(anns.patch([{ op: "add", path: "/items/-", value: "on top" }])),
  ];
  expect(anns.state).toEqual({ items: ["a", "B", "c", "on top"] });
  void bens.patch([{ op: "remove", path: "/items/1" }]);
  for (let i = 0; i < 30; i += 1) await server.pass(1_000);
  expect(await Promise.all(changes)).toEqual(["stale", "stale"]);
  expect(anns.state).toEqual({ items: ["a", "c"] });
  expect(bens.state).toEqual(anns.state);
  expect(await codeOf(anns.patch([{ op: "add", path: "/items/1/x", value: 1 }]))).toBe("bad_message");
  const after = codeOf(anns.patch([{ op: "add", path: "/items/-", value: "again" }]));
  await server.settle();
  await server.pass(300);
  expect(await after).toBe("done");
  close();
});

test("a change made without a connection is kept, shown, and made when it is back, once", async () => {
  const { server, anns, bens, close } = await open();
  server.cut("Ann");
  await server.settle();
  void anns.patch([{ op: "add", path: "/items/-", value: "offline" }]);
  expect(anns.state).toEqual({ items: ["a", "b", "c", "offline"] });
  void bens.patch([{ op: "remove", path: "/items/0" }]);
  for (let i = 0; i < 30; i += 1) await server.pass(1_000);
  expect(bens.state).toEqual({ items: ["b", "c", "offline"] });
  expect(anns.state).toEqual(bens.state);
  close();
});

test("[H9] a run's changes are taken back where others have left them alone", async () => {
  const { puppet, server, anns, bens, close } = await open();
  void anns.send("go", { inputId: "i" });
  await server.settle();
  const run = await puppet.next();
  expect(run.input.state).toEqual({ items: ["a", "b", "c"] });
  run.start({ type: "STATE_DELTA", delta: [{ op: "add", path: "/done", value: true }] });
  run.emit({ type: "STATE_DELTA", delta: [{ op: "replace", path: "/items/0", value: "A" }] });
  run.finish().end();
  await server.settle();
  await server.pass(2_000);
  void bens.patch([{ op: "replace", path: "/items/0", value: "Ben's" }]);
  await server.settle();
  await server.pass(300);
  const reverted = anns.revert(run.input.runId);
  await server.settle();
  await server.pass(300);
  expect(await reverted).toMatchObject({ skipped: ["/items/0"] });
  expect(bens.state).toEqual({ items: ["Ben's", "b", "c"] });
  expect(anns.state).toEqual(bens.state);
  close();
});
