import { expect, onTestFinished, test, vi } from "vitest";
import WebSocket from "ws";
import * as Y from "yjs";
import { openDoc, type ThreadDoc } from "../client/doc/index.ts";
import { type Client, createClient, type Thread } from "../client/index.ts";
import { echoAgent } from "../server/agents/echo.ts";
import { openServer } from "./kit/server.ts";

function clientOf(url: string, name: string): Client {
  const client = createClient({ url, user: { id: name.toLowerCase(), name }, WebSocket });
  onTestFinished(() => client.close());
  return client;
}

/** Resolves when something holds of a document, looked at after each change of it. */
function until(doc: ThreadDoc, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds()) return;
      doc.doc.off("update", look);
      end();
      awarenessOff();
      resolve();
    };
    const end = doc.subscribe(look);
    doc.doc.on("update", look);
    const { awareness } = doc;
    awareness.on("change", look);
    const awarenessOff = () => awareness.off("change", look);
    look();
  });
}

async function open(client: Client, thread = "t") {
  const doc = openDoc(client.thread(thread));
  onTestFinished(() => doc.close());
  await doc.ready;
  return doc;
}

test("[Y1] the documents of two clients are one, and what is typed is stored", async () => {
  const { url } = await openServer();
  const ana = await open(clientOf(url, "Ana"));
  const ben = await open(clientOf(url, "Ben"));
  ana.draft.insert(0, "Hello");
  expect(ana.unsaved).toBe(true);
  await until(ben, () => ben.draft.toString() === "Hello");
  await until(ana, () => !ana.unsaved);
  ben.state.set("title", "Launch");
  await until(ana, () => ana.state.get("title") === "Launch");
});

test("[Y1] what is edited offline on both sides is merged on return, and reaches those who never left", async () => {
  const { url } = await openServer();
  const clients = ["Ana", "Ben", "Cy"].map((name) => clientOf(url, name));
  const [ana, ben, cy] = (await Promise.all(clients.map((client) => open(client)))) as [
    ThreadDoc,
    ThreadDoc,
    ThreadDoc,
  ];
  ana.draft.insert(0, "one two");
  await until(ben, () => ben.draft.toString() === "one two");
  for (const client of clients.slice(0, 2)) client.reconnect();
  // Nobody is there yet: the sockets are new ones.
  expect([ana.synced, ben.synced]).toEqual([false, false]);
  ana.draft.insert(3, " and a half");
  ben.draft.insert(7, " three");
  await until(cy, () => cy.draft.toString() === "one and a half two three");
  await until(ana, () => ana.draft.toString() === "one and a half two three" && !ana.unsaved);
  await until(ben, () => ben.synced && !ben.unsaved);
});

test("[Y5] carets come back with their client, and who left meanwhile is gone", async () => {
  const { url } = await openServer();
  const [anaClient, benClient, cyClient] = ["Ana", "Ben", "Cy"].map((name) => clientOf(url, name)) as [
    Client,
    Client,
    Client,
  ];
  const [ana, ben, cy] = [await open(anaClient), await open(benClient), await open(cyClient)];
  for (const doc of [ana, ben, cy]) doc.awareness.setLocalStateField("cursor", { at: doc.doc.clientID });
  const names = (doc: ThreadDoc) =>
    [...doc.awareness.getStates().values()]
      .map((state) => (state.user as { name?: string } | undefined)?.name)
      .filter(Boolean);
  await until(ana, () => names(ana).sort().join() === "Ben,Cy");
  anaClient.reconnect();
  cyClient.close();
  await until(ana, () => ana.synced && names(ana).join() === "Ben");
  await until(ben, () => names(ben).join() === "Ana");
});

test("a document opened twice is one, and stays until the last one lets go", async () => {
  const { url } = await openServer();
  const thread = clientOf(url, "Ana").thread("t");
  const [one, two] = [openDoc(thread), openDoc(thread)];
  expect(one.doc).toBe(two.doc);
  await one.ready;
  one.close();
  one.close();
  two.draft.insert(0, "x");
  await until(two, () => !two.unsaved);
  two.close();
  const again = openDoc(thread);
  expect(again.doc).not.toBe(two.doc);
  await again.ready;
  expect(again.draft.toString()).toBe("x");
  again.close();
  await expect(openDoc(clientOf(url, "Ben").peek("t")).ready).resolves.toBeUndefined();
});

test("a text field is found by its pointer", async () => {
  const { url } = await openServer();
  const client = clientOf(url, "Ana");
  const ana = await open(client);
  const { text } = ana;
  expect(text("/document")).toBeUndefined();
  await client.thread("t").patch([
    { op: "add", path: "/document", value: "One." },
    { op: "add", path: "/title", value: "Launch" },
  ]);
  await until(ana, () => ana.text("/document") !== undefined);
  expect(ana.text("/title")).toBeUndefined();
  ana.text("/document")!.insert(4, " Two.");
  const thread = client.thread("t");
  await vi.waitFor(() => expect(thread.state).toMatchObject({ document: "One. Two." }));
});

test("[Y1] undo takes back one's own edits only", async () => {
  const { url } = await openServer();
  const ana = await open(clientOf(url, "Ana"));
  const ben = await open(clientOf(url, "Ben"));
  const undo = new Y.UndoManager(ana.draft);
  ana.draft.insert(0, "mine ");
  await until(ben, () => ben.draft.length > 0);
  ben.draft.insert(5, "hers");
  await until(ana, () => ana.draft.toString() === "mine hers");
  undo.undo();
  await until(ben, () => ben.draft.toString() === "hers");
});

test("[S5] two presses, one message: the second is told who sent it, and what was typed since stays", async () => {
  const { url } = await openServer({ agents: { echo: { agent: echoAgent() } } });
  const [anaClient, benClient] = [clientOf(url, "Ana"), clientOf(url, "Ben")];
  const [ana, ben] = [await open(anaClient), await open(benClient)];
  const [anaThread, benThread] = [anaClient.thread("t"), benClient.thread("t")];
  ana.draft.insert(0, "Plan the launch");
  await until(ben, () => ben.draft.toString() === "Plan the launch");
  const [first, second] = await Promise.allSettled([
    anaThread.sendDraft("Plan the launch"),
    benThread.sendDraft("Plan the launch"),
    ben.draft.insert(15, " and the party"),
  ]);
  expect(first).toMatchObject({ status: "fulfilled" });
  expect(second).toMatchObject({
    status: "rejected",
    reason: { code: "draft_sent", details: { by: { kind: "user", id: "guest:ana", name: "Ana" } } },
  });
  for (const doc of [ana, ben]) await until(doc, () => doc.draft.toString() === " and the party");
  const said = (thread: Thread) =>
    thread.messages.filter(({ role }) => role === "user").map(({ content }) => content);
  for (const thread of [anaThread, benThread])
    await vi.waitFor(() => expect(said(thread)).toEqual(["Plan the launch"]));
  // A note is sent the same way.
  await benThread.sendDraft(" and the party", { note: true });
  await until(ana, () => ana.draft.toString() === "");
  await expect(anaThread.sendDraft("   ")).rejects.toMatchObject({ code: "bad_message" });
});

test("[S6] a draft says whom it mentions, and where none is an agent it starts nothing", async () => {
  const { url } = await openServer({ agents: { echo: { agent: echoAgent() } } });
  const client = clientOf(url, "Ana");
  const doc = await open(client);
  const thread = client.thread("t");
  await thread.update({ settings: { trigger: "mention" } });
  const sent = async (text: string, kind: "agent" | "user", id: string) => {
    doc.draft.insert(0, text);
    await until(doc, () => !doc.unsaved);
    const ack = await thread.sendDraft(text, { mentions: [{ kind, id }] });
    await until(doc, () => doc.draft.length === 0);
    return ack;
  };
  expect(await sent("@Ben lunch?", "user", "guest:ben")).toMatchObject({ status: "done" });
  expect(await sent("@echo hello", "agent", "echo")).toMatchObject({ status: "running" });
  await vi.waitFor(() =>
    expect(
      thread.messages.map(({ metadata }) => (metadata?.cothread as { mentions?: object })?.mentions),
    ).toEqual([[{ kind: "user", id: "guest:ben" }], [{ kind: "agent", id: "echo" }], undefined]),
  );
});

test("[Y1] what one deletes and another edits meanwhile is gone for all, and nothing else is", async () => {
  const { url } = await openServer();
  const [anaClient, benClient] = [clientOf(url, "Ana"), clientOf(url, "Ben")];
  const [ana, ben] = [await open(anaClient), await open(benClient)];
  const thread = anaClient.thread("t");
  const items = ["a", "b", "c"].map((id) => ({ id, done: false }));
  await thread.patch([{ op: "add", path: "", value: { items, document: "One.\n\nTwo.\n\nThree.\n" } }]);
  const list = (doc: ThreadDoc) => doc.state.get("items") as Y.Array<Y.Map<unknown>>;
  await until(ben, () => list(ben)?.length === 3);
  await until(ana, () => list(ana)?.length === 3);
  benClient.reconnect();
  // Ben is away for a moment, and edits what Ana deletes.
  list(ben).get(1).set("done", true);
  list(ben).get(2).set("done", true);
  ben.text("/document")?.insert(9, ", and a half");
  list(ana).delete(1, 1);
  ana.text("/document")?.delete(6, 6);
  const end = {
    items: [
      { id: "a", done: false },
      { id: "c", done: true },
    ],
    document: expect.stringMatching(/^One\.\n\n.*and a half.*Three\.\n$/s),
  };
  for (const doc of [ana, ben]) await until(doc, () => list(doc).length === 2 && !doc.unsaved && doc.synced);
  await vi.waitFor(() => expect(ana.state.toJSON()).toEqual(ben.state.toJSON()));
  await vi.waitFor(() => expect(thread.state).toEqual(end));
  expect(ana.state.toJSON()).toEqual(end);
});

test("[Y5] two windows of one person have a caret each, and closing one takes its own", async () => {
  const { url } = await openServer();
  const [one, two, other] = [clientOf(url, "Ana"), clientOf(url, "Ana"), clientOf(url, "Ben")];
  const [first, second, ben] = [await open(one), await open(two), await open(other)];
  for (const doc of [first, second]) doc.awareness.setLocalStateField("cursor", { at: 1 });
  const carets = () => [...ben.awareness.getStates().keys()].filter((id) => id !== ben.doc.clientID);
  await until(ben, () => carets().length === 2);
  two.close();
  await until(ben, () => carets().length === 1);
  expect(carets()).toEqual([first.doc.clientID]);
  first.draft.insert(0, "x");
  await until(ben, () => ben.draft.length === 1);
});

test("[W2] presence is told by awareness too, also what was told before the document was opened", async () => {
  const { url } = await openServer();
  const client = clientOf(url, "Ana");
  const thread = client.thread("t");
  await thread.ready;
  thread.setPresence({ page: 3 });
  const ana = await open(client);
  const ben = await open(clientOf(url, "Ben"));
  const said = () =>
    [...ben.awareness.getStates().values()].find(({ user }) => user?.name === "Ana")?.data as
      | object
      | undefined;
  await until(ben, () => said() !== undefined);
  expect(said()).toEqual({ page: 3 });
  thread.setTyping(true);
  await until(ben, () => "typing" in (said() ?? {}));
  expect(said()).toEqual({ page: 3, typing: true });
  expect(ana.awareness.getStates().size).toBe(2);
});
