import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { openDoc } from "../../client/doc/index.ts";
import { createClient } from "../../client/index.ts";
import { compact } from "../../server/compact.ts";
import { chromium, openBrowser } from "../kit/chromium.ts";
import { openServer } from "../kit/server.ts";
import type {} from "./yjs-page.ts";

const found = await chromium();
const reason = "skip" in found ? ` (skipped: ${found.skip})` : "";
const inBrowser = reason ? test.skip : test;

let browser: Browser;
let script: string;

beforeAll(async () => {
  if (reason) return;
  browser = await openBrowser();
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("yjs-page.ts", import.meta.url))],
    bundle: true,
    format: "iife",
    write: false,
  });
  script = outputFiles[0]!.text;
});

afterAll(async () => {
  await browser?.close();
});

type Way = "openStock" | "openSdk" | "openKept";

/** A window that has the document, by one way or the other. @param own keeps what it keeps to itself */
async function open(url: string, way: Way, name: string, own?: BrowserContext): Promise<Page> {
  const page = await (own ?? browser).newPage();
  await page.goto(`${url}/healthz`);
  await begin(page, way, name);
  await page.evaluate(() => window.yjsPage.ready.then(() => true));
  return page;
}

async function begin(page: Page, way: Way, name: string): Promise<void> {
  await page.addScriptTag({ content: script });
  await page.evaluate(([way, name]) => window[way]("t", name), [way, name] as const);
}

const draftOf = (page: Page) => page.evaluate(() => window.yjsPage.doc.getText("draft").toString());
const write = (page: Page, at: number, text: string) =>
  page.evaluate(([at, text]) => window.yjsPage.doc.getText("draft").insert(at, text), [at, text] as const);

inBrowser(
  `[Y1] [Y7] two stock providers and an SDK client in windows, one in Node: edits, offline ones and undo end equal${reason}`,
  async () => {
    const { url } = await openServer();
    const client = createClient({ url, user: { id: "node", name: "Node" }, WebSocket });
    const node = openDoc(client.thread("t"));
    await node.ready;
    const [ana, ben, cy] = [
      await open(url, "openStock", "ana"),
      await open(url, "openStock", "ben"),
      await open(url, "openSdk", "cy"),
    ];
    const pages = [ana, ben, cy];
    const all = async (text: string) => {
      for (const page of pages) await expect.poll(() => draftOf(page)).toBe(text);
      await expect.poll(() => node.draft.toString()).toBe(text);
    };
    await write(ana, 0, "one two");
    await all("one two");

    // Two are cut off, one of each kind; those who stay go on.
    for (const page of [ana, cy]) await page.evaluate(() => window.yjsPage.cut());
    await write(ana, 7, " three");
    await write(cy, 0, "zero ");
    await write(ben, 3, ",");
    node.state.set("title", "Launch");
    await expect.poll(() => node.draft.toString()).toBe("one, two");
    for (const page of [ana, cy]) await page.evaluate(() => window.yjsPage.mend());
    await all("zero one, two three");
    for (const page of pages)
      await expect
        .poll(() => page.evaluate(() => window.yjsPage.doc.getMap("state").get("title")))
        .toBe("Launch");

    // Undo takes back one's own, and nobody else's.
    await cy.evaluate(() => window.yjsPage.undo.undo());
    await all("one, two three");
    await ben.evaluate(() => window.yjsPage.undo.undo());
    await all("one two three");
    await ben.evaluate(() => window.yjsPage.undo.redo());
    await all("one, two three");
    for (const page of pages) await page.close();
    node.close();
    client.close();
  },
  60_000,
);

inBrowser(
  `[Y8] what a browser keeps of a document is there at once, and of one made anew since nothing comes back${reason}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "cothread-kept-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = `sqlite:${join(folder, "threads.db")}`;
    const first = await openServer({ store });
    const { url } = first;
    const port = Number(new URL(url).port);
    const own = await browser.newContext();
    const ana = await open(url, "openKept", "ana", own);
    await write(ana, 0, "gone and kept");
    await ana.evaluate(() => window.yjsPage.doc.getText("draft").delete(0, 9));
    const ben = await open(url, "openStock", "ben");
    await expect.poll(() => draftOf(ben)).toBe("kept");
    await ben.close();

    // Opened again without a server, it is there, and is edited.
    const page = await own.newPage();
    await page.goto(`${url}/healthz`);
    await ana.close();
    await first.close();
    await begin(page, "openKept", "ana");
    await expect.poll(() => draftOf(page)).toBe("kept");
    await write(page, 4, ", and more");

    const quiet = { print: () => {}, note: () => {}, now: () => 0 };
    await compact({ store, threads: [], minGain: "0%", dryRun: false, json: false }, quiet);
    await openServer({ store, port });
    await expect.poll(() => page.evaluate(() => window.yjsPage.synced), { timeout: 20_000 }).toBe(true);
    const cy = await open(url, "openStock", "cy");
    await expect.poll(() => draftOf(cy)).toBe("kept, and more");
    await expect.poll(() => draftOf(page)).toBe("kept, and more");
    // Neither does it when the page is loaded anew, which has kept both documents.
    await page.reload();
    await begin(page, "openKept", "ana");
    await page.evaluate(() => window.yjsPage.ready.then(() => true));
    await expect.poll(() => draftOf(page)).toBe("kept, and more");
    expect(await draftOf(cy)).toBe("kept, and more");
    const generations = await page.evaluate(async () =>
      (await indexedDB.databases()).map(({ name }) => name),
    );
    expect(generations).toContain("cothread t 1");
    await own.close();
    await cy.close();
  },
  60_000,
);

inBrowser(
  `[Y5] a duplicated tab is a window of its own: both type, both are among the people, and neither closes the other${reason}`,
  async () => {
    const { url } = await openServer();
    const own = await browser.newContext();
    const ana = await open(url, "openSdk", "ana", own);
    // What a browser does: a second tab with the session's storage of the first.
    const copied = await ana.evaluate(() => JSON.stringify(sessionStorage));
    const twin = await own.newPage();
    await twin.goto(`${url}/healthz`);
    await twin.evaluate((all) => {
      for (const [key, value] of Object.entries(JSON.parse(all) as object))
        sessionStorage.setItem(key, value);
    }, copied);
    await begin(twin, "openSdk", "ana");
    await twin.evaluate(() => window.yjsPage.ready.then(() => true));
    await write(ana, 0, "one ");
    await expect.poll(() => draftOf(twin)).toBe("one ");
    await write(twin, 4, "two");
    await expect.poll(() => draftOf(ana)).toBe("one two");
    const node = createClient({ url, user: { id: "node", name: "Node" }, WebSocket });
    const thread = node.thread("t");
    await thread.ready;
    await expect.poll(() => thread.people.filter(({ user }) => user.name === "ana").length).toBe(2);
    expect(await ana.evaluate(() => window.yjsPage.synced)).toBe(true);
    expect(await twin.evaluate(() => window.yjsPage.synced)).toBe(true);
    node.close();
    await own.close();
  },
  60_000,
);
