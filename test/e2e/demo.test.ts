import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium, openBrowser } from "../kit/chromium.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { buildApp } from "./app-build.ts";
import { complaintsOf, textIn } from "./app-window.ts";
import { Film, play } from "./film.ts";

/** The film of the README; `COTHREAD_RECORD=1` makes it anew. */
const FILE = fileURLToPath(new URL("demo.png", import.meta.url));
const LARGEST = 1_500_000;
const RECORDS = process.env.COTHREAD_RECORD === "1";

const found = await chromium();
const reason = "skip" in found ? ` (skipped: ${found.skip})` : "";
const inBrowser = reason ? test.skip : test;

let browser: Browser;
let server: ServerProcess;

beforeAll(async () => {
  if (reason) return;
  buildApp();
  // Slow enough for people to do something meanwhile.
  [browser, server] = await Promise.all([openBrowser(), startServer(["--demo", "--demo-speed", "0.25"])]);
});

afterAll(async () => {
  if (reason) return;
  await browser?.close();
  await server?.kill();
});

const OLD_OPENING = "From the day we name here";
const NEW_OPENING =
  "What a few customers have tried is now for everybody. This page says what it does, for whom, and where to ask.";
const SENTENCE = " And whoever writes on a train.";
const ITEM = "- Support, from day one";
const STEP = "Try it with a handful of customers";

/** One of the two windows on the demo page. */
class Side {
  readonly frame: FrameLocator;

  constructor(page: Page, name: string) {
    this.frame = page.frameLocator(`iframe[name=${name}]`);
  }

  get panel() {
    return this.frame.getByRole("complementary", { name: "What is shared here" });
  }

  get field() {
    return this.frame.getByLabel("Message");
  }

  get stop() {
    return this.frame.locator("[data-stop]");
  }

  get document() {
    return this.panel.getByLabel("Text of the document");
  }

  get stock() {
    return this.panel.getByRole("switch", { name: "As a stock client" });
  }

  step(title: string) {
    return this.panel.getByRole("checkbox", { name: title });
  }

  async show(tab: "Plan" | "Document"): Promise<void> {
    await this.panel.getByRole("tab", { name: tab }).click();
  }

  async edit(): Promise<void> {
    await this.show("Document");
    await this.panel.getByRole("button", { name: "Edit" }).click();
    await this.document.waitFor();
  }
}

inBrowser(`two write and tick while an agent writes, and only a stock client loses it${reason}`, async () => {
  const page = await browser.newPage({ viewport: { width: 960, height: 540 }, deviceScaleFactor: 1.5 });
  page.setDefaultTimeout(30_000);
  const complaints = complaintsOf(page);
  const table = await browser.newPage();
  await table.goto(`${server.url}/healthz`);
  const film = new Film(page, table);
  const [ana, ben] = [new Side(page, "demo-ana"), new Side(page, "demo-ben")];
  /** A picture of something that moves: many make a film, none is needed for a test. */
  const moves = () => (RECORDS ? film.take(130) : undefined);
  const movesUntil = async (isThere: () => Promise<boolean>) => {
    const look = async () => {
      await moves();
      return isThere();
    };
    await expect.poll(look, { timeout: 60_000, interval: 100 }).toBe(true);
  };
  const types = async (text: string) => {
    for (const part of text.match(/.{1,2}/g) ?? []) {
      await page.keyboard.type(part);
      await moves();
    }
  };
  const says = (text: string) =>
    page.locator("p").evaluate((line, text) => {
      line.textContent = text;
    }, text);

  await page.goto(`${server.url}/demo.html`);
  for (const side of [ana, ben]) {
    await side.frame.getByText("live").first().waitFor();
    await side.edit();
    expect(await textIn(side.document)).toContain(OLD_OPENING);
    expect(await side.frame.getByRole("button", { name: "Start a new thread" }).count()).toBe(0);
  }
  await ana.field.click();
  await says("Ana, Ben and an agent share a thread, a plan and a document.");
  await film.take(1_600);

  await types("Rewrite the opening");
  await page.keyboard.press("Enter");
  await says("Ana has asked Planner to rewrite the opening. Ben writes on in the same document.");
  // From here on the agent works on the state as it is now.
  await movesUntil(() => ben.stop.isVisible());
  await ben.document.getByText("Teams that have asked for it.").click();
  await page.keyboard.press("End");
  await types(SENTENCE);
  await page.keyboard.press("Enter");
  await types(ITEM);
  await movesUntil(async () => (await textIn(ana.document)).includes(NEW_OPENING));
  await film.take(1_000);

  await says("Planner is still at work. Ben ticks a step.");
  for (const side of [ana, ben]) await side.show("Plan");
  await ben.step(STEP).click();
  await expect.poll(() => ana.step(STEP).isChecked()).toBe(true);
  expect(await ana.stop.isVisible()).toBe(true);
  await film.take(1_400);

  await movesUntil(async () => !(await ana.stop.isVisible()) && !(await ben.stop.isVisible()));
  await says("Planner ends with a snapshot of the state as it knew it, without Ben's work. Nothing is lost.");
  for (const side of [ana, ben]) {
    expect(await side.step(STEP).isChecked()).toBe(true);
    await side.edit();
    const text = await textIn(side.document);
    for (const part of [NEW_OPENING, `Teams that have asked for it.${SENTENCE}\n${ITEM}`])
      expect(text).toContain(part);
    expect(text).not.toContain(OLD_OPENING);
  }
  expect(await textIn(ana.document)).toBe(await textIn(ben.document));
  await film.take(2_400);

  await says("The switch shows what AG-UI alone would have made of the same events: Ben's work is gone.");
  await ana.stock.click();
  await ana.panel.getByText("2 things differ").waitFor();
  const lost = (await ana.panel.locator("del").allTextContents()).join("");
  for (const part of [SENTENCE, ITEM]) expect(lost).toContain(part);
  expect(await ana.panel.locator("ins").count()).toBe(0);
  await film.take(2_600);
  await ana.show("Plan");
  await ana.panel.locator(".step", { hasText: STEP }).getByText("the tick would be lost").waitFor();
  expect(await ana.step(STEP).isChecked()).toBe(false);
  await film.take(2_000);
  await ana.stock.click();
  expect(await ana.step(STEP).isChecked()).toBe(true);
  expect(complaints).toEqual([]);

  const developed = film.develop();
  expect(await play(table, developed)).toMatchObject({ width: 1_440, height: 810 });
  if (RECORDS) writeFileSync(FILE, developed);
  await Promise.all([page.close(), table.close()]);
});

test("the film of it is small enough for a README", () => {
  expect(readFileSync(FILE).length).toBeLessThanOrEqual(LARGEST);
});

inBrowser(`the film of it is short, and plays${reason}`, async () => {
  const page = await browser.newPage();
  await page.goto(`${server.url}/healthz`);
  const { frames, length } = await play(page, readFileSync(FILE));
  expect(frames).toBeGreaterThan(40);
  expect(length).toBeGreaterThan(12_000);
  expect(length).toBeLessThan(20_000);
  await page.close();
});
