import { expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { openDoc } from "../client/doc/index.ts";
import { createClient } from "../client/index.ts";
import type { Authenticate } from "../server/auth/authenticator.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";

type Options = NonNullable<ConstructorParameters<typeof WebsocketProvider>[3]>;

/** A stock provider, as an application makes it. */
function provide(url: string, name: string, options: Options = {}, thread = "t") {
  const doc = new Y.Doc();
  const provider = new WebsocketProvider(`${url.replace("http", "ws")}/v1/yjs`, thread, doc, {
    WebSocketPolyfill: WebSocket as unknown as NonNullable<Options["WebSocketPolyfill"]>,
    disableBc: true,
    params: { user: name.toLowerCase(), name },
    ...options,
  });
  onTestFinished(() => provider.destroy());
  return { doc, provider, awareness: provider.awareness };
}

/** Resolves when something holds of a document or its awareness. */
function until(doc: Y.Doc, holds: () => boolean, provider?: WebsocketProvider): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds()) return;
      doc.off("update", look);
      provider?.awareness.off("change", look);
      resolve();
    };
    doc.on("update", look);
    provider?.awareness.on("change", look);
    look();
  });
}

const synced = ({ provider }: { provider: WebsocketProvider }) =>
  new Promise<void>((resolve) => {
    if (provider.synced) resolve();
    else provider.once("sync", () => resolve());
  });

const closed = ({ provider }: { provider: WebsocketProvider }) =>
  new Promise<number>((resolve) =>
    provider.on("connection-close", (event) => event && resolve((event as { code: number }).code)),
  );

test("[Y7] two stock providers, one client of the SDK and the log agree, and the log knows who did what", async () => {
  const { url } = await openServer();
  const client = createClient({ url, user: { id: "cy", name: "Cy" }, WebSocket });
  onTestFinished(() => client.close());
  const thread = client.thread("t");
  const cy = openDoc(thread);
  onTestFinished(() => cy.close());
  const [ana, ben] = [provide(url, "Ana"), provide(url, "Ben")];
  await Promise.all([cy.ready, synced(ana), synced(ben)]);
  const raw = await RawClient.hello(url, "Dee");
  await raw.join("t");
  ana.doc.getMap("state").set("title", "Launch");
  ben.doc.getText("draft").insert(0, "Hello");
  await until(cy.doc, () => cy.state.get("title") === "Launch" && cy.draft.toString() === "Hello");
  cy.draft.insert(5, "!");
  for (const { doc } of [ana, ben]) await until(doc, () => doc.getText("draft").toString() === "Hello!");
  const entry = await raw.entry(({ kind }) => kind === "state");
  expect(entry).toMatchObject({
    via: "door",
    by: { kind: "user", id: "guest:ana", name: "Ana" },
    patch: [{ op: "add", path: "/title", value: "Launch" }],
  });
});

test("[Y7] what a provider edited offline reaches peers that were there all the while", async () => {
  const { url } = await openServer();
  const [ana, ben] = [provide(url, "Ana"), provide(url, "Ben")];
  await Promise.all([synced(ana), synced(ben)]);
  ana.doc.getText("draft").insert(0, "one two");
  await until(ben.doc, () => ben.doc.getText("draft").length === 7);
  ana.provider.disconnect();
  ana.doc.getText("draft").insert(7, " three");
  ben.doc.getText("draft").insert(0, "zero ");
  ana.provider.connect();
  for (const { doc } of [ana, ben])
    await until(doc, () => doc.getText("draft").toString() === "zero one two three");
});

test("[Y7] whoever is at the door is among the people, and their caret has the name the server knows", async () => {
  const { url } = await openServer();
  const raw = await RawClient.hello(url, "Dee");
  await raw.join("t");
  const [ana, ben] = [provide(url, "Ana"), provide(url, "Ben")];
  const people = await raw.find(
    (frame) => frame.type === "people" && frame.join?.some(({ user }) => user.name === "Ana") === true,
  );
  expect(people).toMatchObject({
    join: expect.arrayContaining([expect.objectContaining({ user: { id: "guest:ana", name: "Ana" } })]),
  });
  ana.awareness.setLocalStateField("user", { name: "The boss", id: "guest:ben", color: "#123456" });
  const seen = () => ben.awareness.getStates().get(ana.doc.clientID)?.user;
  await until(ben.doc, () => seen()?.name === "Ana", ben.provider);
  expect(seen()).toEqual({ id: "guest:ana", name: "Ana", color: "#123456" });
});

const tokens: Authenticate = async (request, { token }) => {
  const given = token ?? /(?:^|; )session=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
  const name = { "ana-secret": "Ana", "vic-secret": "Vic" }[given ?? ""];
  if (!name) return { refused: "That token is not known." };
  return { tenant: "default", user: { id: name, name }, ...(name === "Vic" && { role: "viewer" as const }) };
};

test("[Y7] a token comes as a subprotocol or in a cookie; without one nothing that was sent counts", async () => {
  const { url } = await openServer({ authenticate: tokens });
  const ana = provide(url, "Ana", { protocols: ["cothread.yjs", "auth.ana-secret"] });
  await synced(ana);
  expect(ana.provider.ws?.protocol).toBe("cothread.yjs");
  class WithCookie extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { headers: { cookie: "a=b; session=ana-secret" } });
    }
  }
  const cookie = provide(url, "Ana", { WebSocketPolyfill: WithCookie as never });
  await synced(cookie);
  const eve = provide(url, "Eve", { connect: false });
  eve.doc.getMap("state").set("title", "Eve's");
  const gone = closed(eve);
  eve.provider.connect();
  expect(await gone).toBe(4401);
  // 44xx: a stock provider stays away.
  expect(eve.provider.shouldConnect).toBe(false);
  ana.doc.getMap("state").set("more", 1);
  await until(cookie.doc, () => cookie.doc.getMap("state").get("more") === 1);
  expect(cookie.doc.getMap("state").toJSON()).toEqual({ more: 1 });
});

test("[Y4] who may only read is connected and changes nothing", async () => {
  const { url } = await openServer({ authenticate: tokens });
  const ana = provide(url, "Ana", { protocols: ["cothread.yjs", "auth.ana-secret"] });
  const vic = provide(url, "Vic", { protocols: ["cothread.yjs", "auth.vic-secret"] });
  await Promise.all([synced(ana), synced(vic)]);
  vic.doc.getMap("state").set("title", "Vic's");
  ana.doc.getMap("state").set("more", 1);
  await until(vic.doc, () => vic.doc.getMap("state").get("more") === 1);
  vic.awareness.setLocalStateField("cursor", { at: 1 });
  await until(
    ana.doc,
    () => ana.awareness.getStates().get(vic.doc.clientID)?.cursor !== undefined,
    ana.provider,
  );
  expect(ana.doc.getMap("state").toJSON()).toEqual({ more: 1 });
});

test("[Y7] an address without a thread is refused for good, and text is no message", async () => {
  const { url } = await openServer();
  expect(await closed(provide(url, "Ana", {}, "%00"))).toBe(4404);
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/yjs/t`);
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send("hello");
  expect(await new Promise((resolve) => socket.once("close", resolve))).toBe(4402);
});

test("[Y5] a provider that comes back at once does not flicker, and one that stays away is gone", async () => {
  const { url } = await openServer();
  const [ana, ben] = [provide(url, "Ana"), provide(url, "Ben")];
  await Promise.all([synced(ana), synced(ben)]);
  ana.awareness.setLocalStateField("cursor", { at: 1 });
  const isThere = () => ben.awareness.getStates().has(ana.doc.clientID);
  await until(ben.doc, isThere, ben.provider);
  const lost: number[] = [];
  ben.awareness.on("change", ({ removed }: { removed: number[] }) => lost.push(...removed));
  // As a network does it: the socket is gone, and the provider comes back by itself.
  (ana.provider.ws as unknown as WebSocket).terminate();
  await new Promise<void>((resolve) => ana.provider.on("sync", (isSynced) => isSynced && resolve()));
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  expect(lost).toEqual([]);
  ana.awareness.setLocalStateField("cursor", { at: 2 });
  await until(ben.doc, () => ben.awareness.getStates().get(ana.doc.clientID)?.cursor?.at === 2, ben.provider);
  ana.provider.shouldConnect = false;
  (ana.provider.ws as unknown as WebSocket).terminate();
  await until(ben.doc, () => !isThere(), ben.provider);
}, 20_000);
