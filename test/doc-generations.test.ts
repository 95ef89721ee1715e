import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import WebSocket from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { openDoc, type Persistence, type ThreadDoc } from "../client/doc/index.ts";
import { type Client, createClient } from "../client/index.ts";
import { compact } from "../server/compact.ts";
import { type CothreadServer, createServer } from "../server/index.ts";
import { openStore } from "../server/store/open.ts";
import { PuppetAgent } from "./kit/puppet-agent.ts";

let store: string;
const agent = new PuppetAgent();
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "cothread-generations-"));
  store = `sqlite:${join(folder, "threads.db")}`;
  return () => rmSync(folder, { recursive: true, force: true });
});

const isOpen = new Set<CothreadServer>();
async function serve(port = 0): Promise<CothreadServer> {
  const agents = { puppet: { agent: agent.run } };
  const server = await createServer({ port, store, agents, app: false, logLevel: "silent", drainMs: 0 });
  isOpen.add(server);
  onTestFinished(() => stop(server));
  return server;
}

async function stop(server: CothreadServer): Promise<void> {
  if (isOpen.delete(server)) await server.close();
}

const portOf = ({ url }: CothreadServer) => Number(new URL(url).port);
const compactAll = () =>
  compact(
    { store, threads: [], minGain: "0%", dryRun: false, json: false },
    { print: () => {}, note: () => {}, now: () => 0 },
  );

function clientOf(url: string, name: string): Client {
  const client = createClient({ url, user: { id: name.toLowerCase(), name }, WebSocket });
  onTestFinished(() => client.close());
  return client;
}

/** What is stored of the document, in a document. */
async function stored(): Promise<Y.Doc> {
  const opened = await openStore(store);
  const { doc = [] } = (await opened.load({ tenant: "default", thread: "t" })) ?? {};
  await opened.close();
  const read = new Y.Doc();
  for (const update of doc) Y.applyUpdate(read, update);
  return read;
}

type Options = NonNullable<ConstructorParameters<typeof WebsocketProvider>[3]>;
function provide(url: string, doc: Y.Doc): WebsocketProvider {
  const provider = new WebsocketProvider(`${url.replace("http", "ws")}/v1/yjs`, "t", doc, {
    WebSocketPolyfill: WebSocket as unknown as NonNullable<Options["WebSocketPolyfill"]>,
    disableBc: true,
    params: { user: "pat", name: "Pat" },
  });
  onTestFinished(() => provider.destroy());
  return provider;
}

const synced = (provider: WebsocketProvider) =>
  new Promise<void>((resolve) => provider.on("sync", (isSynced) => isSynced && resolve()));

/** A thread with some state and a draft; what was typed before has been deleted. */
async function fill(client: Client) {
  const thread = client.thread("t");
  const doc = openDoc(thread);
  onTestFinished(() => doc.close());
  await doc.ready;
  await thread.patch([
    { op: "add", path: "/document", value: "One. Two." },
    { op: "add", path: "/items", value: [{ id: "a" }, { id: "b" }] },
  ]);
  for (let i = 0; i < 50; i += 1) doc.draft.insert(0, "typed ");
  doc.draft.delete(0, doc.draft.length);
  doc.draft.insert(0, "Plan the launch");
  doc.doc.getXmlFragment("app").insert(0, [new Y.XmlText("an application's own")]);
  await vi.waitFor(() => expect(doc.text("/document")?.toString()).toBe("One. Two."));
  await vi.waitFor(() => expect(doc.unsaved).toBe(false));
  return { thread, doc };
}

/** Somebody else edits the document, on a server that those who are away do not reach. */
async function meanwhile(work: (doc: ThreadDoc) => Promise<void> | void): Promise<void> {
  const server = await serve();
  const doc = openDoc(clientOf(server.url, "Cy").thread("t"));
  await doc.ready;
  await work(doc);
  await vi.waitFor(() => expect(doc.unsaved).toBe(false));
  doc.close();
  await stop(server);
}

test("[Y8] what was edited while the document was made anew is there once, in the new one", async () => {
  const server = await serve();
  const ana = clientOf(server.url, "Ana");
  const { thread, doc } = await fill(ana);
  const old = doc.doc;
  await stop(server);
  await vi.waitFor(() => expect(thread.status).not.toBe("live"));
  doc.state.set("title", "Launch");
  (doc.state.get("items") as Y.Array<unknown>).push([new Y.Map([["id", "c"]])]);
  doc.text("/document")!.insert(4, " And a half.");
  doc.draft.insert(15, " and the party");
  doc.draft.delete(0, 5);

  expect(await compactAll()).toBe(true);
  await meanwhile(async (cy) => {
    cy.text("/document")!.insert(0, "Zero. ");
    cy.draft.insert(15, "!");
    cy.state.set("more", 1);
  });
  const again = await serve(portOf(server));
  ana.reconnect();
  const state = {
    document: "Zero. One. And a half. Two.",
    items: [{ id: "a" }, { id: "b" }, { id: "c" }],
    title: "Launch",
    more: 1,
  };
  await vi.waitFor(() => expect(thread.state).toEqual(state), { timeout: 10_000 });
  await vi.waitFor(() => expect([doc.synced, doc.unsaved]).toEqual([true, false]));
  expect(thread.generation).toBe(1);
  expect(doc.doc).not.toBe(old);
  await vi.waitFor(() => expect(doc.state.toJSON()).toEqual(state));
  const drafts = ["the launch and the party!", "the launch! and the party"];
  expect(drafts).toContain(doc.draft.toString());
  expect(doc.doc.getXmlFragment("app").toString()).toBe("an application's own");

  // A run writes with an id that was used before, and everybody has what it did.
  const ben = openDoc(clientOf(again.url, "Ben").thread("t"));
  onTestFinished(() => ben.close());
  await ben.ready;
  void thread.send("go on").catch(() => {});
  (await agent.next())
    .start({ type: "STATE_DELTA", delta: [{ op: "remove", path: "/items/0" }] })
    .finish()
    .end();
  await vi.waitFor(() => expect(ben.state.toJSON()).toMatchObject({ items: [{ id: "b" }, { id: "c" }] }));
  await vi.waitFor(() => expect(doc.state.toJSON()).toEqual(ben.state.toJSON()));
  await vi.waitFor(() => expect(thread.state).toEqual(ben.state.toJSON()));
  await stop(again);
  const kept = await stored();
  expect(kept.getMap("state").toJSON()).toEqual({ ...state, items: state.items.slice(1) });
  expect(kept.getText("draft").toString()).toBe(doc.draft.toString());
});

test("[Y6] [Y8] a stock provider with a document of the old generation is closed, and one with a new one is not", async () => {
  const server = await serve();
  const doc = new Y.Doc();
  const provider = provide(server.url, doc);
  await synced(provider);
  // All of it is of peers: only what begins the generation tells which it is of.
  for (let i = 0; i < 50; i += 1) doc.getText("draft").insert(0, "typed ");
  doc.getText("draft").delete(0, 290);
  const reader = clientOf(server.url, "Ana").thread("t");
  const seen = openDoc(reader);
  onTestFinished(() => seen.close());
  await vi.waitFor(() => expect(seen.draft.length).toBe(10));
  seen.close();
  provider.disconnect();
  await stop(server);

  doc.getText("draft").insert(0, "offline ");
  expect(await compactAll()).toBe(true);
  const before = Y.encodeStateAsUpdate(await stored());
  const again = await serve(portOf(server));
  const closed = new Promise<unknown>((resolve) =>
    provider.on("connection-close", (event) => event && resolve((event as { code: number }).code)),
  );
  provider.connect();
  expect(await closed).toBe(4410);
  expect(provider.shouldConnect).toBe(false);

  const fresh = new Y.Doc();
  await synced(provide(again.url, fresh));
  expect(fresh.getText("draft").toString()).toBe("yped typed ".slice(-10));
  expect(Y.encodeStateAsUpdate(fresh)).toEqual(before);
  fresh.getText("draft").insert(0, "new: ");
  await vi.waitFor(async () => {
    const look = new Y.Doc();
    await synced(provide(again.url, look));
    expect(look.getText("draft").toString()).toBe(`new: ${"yped typed ".slice(-10)}`);
  });
  await stop(again);
  expect((await stored()).getText("draft").toString()).toMatch(/^new: /);
});

/** What was kept in a browser, by name, and when it is read. */
const kept = new Map<string, Uint8Array>();
let shelfOpens = Promise.resolve();
class Shelf implements Persistence {
  readonly isThere: Promise<void>;
  private readonly save: () => void;
  private readonly doc: Y.Doc;

  constructor(name: string, doc: Y.Doc) {
    this.doc = doc;
    this.save = () => kept.set(name, Y.encodeStateAsUpdate(doc));
    this.isThere = shelfOpens.then(() => {
      const found = kept.get(name);
      if (found) Y.applyUpdate(doc, found, this);
      doc.on("update", this.save);
    });
  }

  destroy(): void {
    this.doc.off("update", this.save);
  }
}

function browserStorage(): void {
  const items = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    kept.clear();
    shelfOpens = Promise.resolve();
  });
}

test("[Y8] what a browser kept of an old generation is not put into the new one", async () => {
  browserStorage();
  const server = await serve();
  const before = clientOf(server.url, "Ana");
  const first = openDoc(before.thread("t"), { persist: Shelf });
  await first.ready;
  first.draft.insert(0, "Plan the launch");
  first.state.set("title", "Launch");
  await vi.waitFor(() => expect(first.unsaved).toBe(false));
  first.close();
  before.close();
  expect([...kept.keys()]).toEqual(["cothread t 0"]);
  await stop(server);
  expect(await compactAll()).toBe(true);
  await meanwhile((cy) => void cy.state.set("title", "Party"));

  // The page is opened while there is no server: what was kept is shown, after some time.
  let open = () => {};
  shelfOpens = new Promise((resolve) => {
    open = resolve;
  });
  const ana = clientOf(server.url, "Ana");
  const thread = ana.thread("t");
  const doc = openDoc(thread, { persist: Shelf });
  onTestFinished(() => doc.close());
  doc.state.set("early", true);
  await vi.waitFor(() => expect(thread.status).toBe("offline"));
  open();
  await vi.waitFor(() => expect(doc.draft.toString()).toBe("Plan the launch"));
  expect(doc.state.toJSON()).toEqual({ title: "Launch", early: true });
  doc.draft.insert(15, " now");
  const again = await serve(portOf(server));
  ana.reconnect();
  await doc.ready;
  expect(thread.generation).toBe(1);
  await vi.waitFor(() => expect([doc.synced, doc.unsaved]).toEqual([true, false]));
  // Only what was edited on this page is done again.
  const state = { title: "Party", early: true };
  expect(doc.draft.toString()).toBe("Plan the launch now");
  await vi.waitFor(() => expect(doc.state.toJSON()).toEqual(state));
  await vi.waitFor(() => expect(thread.state).toEqual(state));
  await vi.waitFor(() => expect([...kept.keys()]).toEqual(["cothread t 0", "cothread t 1"]));
  doc.close();
  ana.close();

  // The page is opened again: what is kept is of the same generation, and nothing is sent.
  const third = openDoc(clientOf(again.url, "Ana").thread("t"), { persist: Shelf });
  onTestFinished(() => third.close());
  await third.ready;
  expect(third.draft.toString()).toBe("Plan the launch now");
  expect(third.state.toJSON()).toEqual(state);
  third.close();
  await stop(again);
  expect((await stored()).getText("draft").toString()).toBe("Plan the launch now");
});
