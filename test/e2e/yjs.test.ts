import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { openDoc } from "../../client/doc/index.ts";
import { createClient } from "../../client/index.ts";
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

/** A window that has the document, by one way or the other. */
async function open(url: string, way: "openStock" | "openSdk", name: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`${url}/healthz`);
  await page.addScriptTag({ content: script });
  await page.evaluate(([way, name]) => window[way]("t", name), [way, name] as const);
  await page.evaluate(() => window.yjsPage.ready.then(() => true));
  return page;
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
