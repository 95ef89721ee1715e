import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium, openBrowser } from "../kit/chromium.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { buildApp } from "./app-build.ts";
import { AppWindow } from "./app-window.ts";

const found = await chromium();
const reason = "skip" in found ? ` (skipped: ${found.skip})` : "";
const inBrowser = reason ? test.skip : test;

let folder: string;
let browser: Browser;
let demo: ServerProcess;

const start = (port = 0) =>
  startServer(["--store", `sqlite:${join(folder, "state.db")}`, "--demo-speed", "8"], port);

beforeAll(async () => {
  if (reason) return;
  buildApp();
  folder = mkdtempSync(join(tmpdir(), "cothread-state-"));
  [browser, demo] = await Promise.all([openBrowser(), start()]);
});

afterAll(async () => {
  if (reason) return;
  await browser?.close();
  await demo?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const panel = ({ page }: AppWindow) => page.getByRole("complementary", { name: "What is shared here" });
const boxes = (window: AppWindow) => panel(window).getByRole("checkbox");
const openSteps = (window: AppWindow) => panel(window).locator(".step-open, .step-active");

inBrowser(`a plan is ticked by one, seen by the other, kept, and undone${reason}`, async () => {
  const ana = await AppWindow.open(browser, demo.url, "Ana");
  await ana.startThread();
  const ben = await AppWindow.open(browser, ana.page.url(), "Ben");
  expect(await panel(ana).count()).toBe(0);
  await ana.send("Draft a launch plan for the mobile release");
  for (const window of [ana, ben]) await boxes(window).first().waitFor();
  for (const window of [ana, ben]) await window.idle();
  const count = await boxes(ana).count();
  expect(count).toBeGreaterThan(2);
  expect(await boxes(ben).count()).toBe(count);
  await panel(ben).getByText("Planner").first().waitFor();

  // Whether a step is done is for people to say too.
  if ((await openSteps(ana).count()) === 0) {
    await boxes(ana).last().click();
    await expect.poll(() => openSteps(ben).count()).toBe(1);
  }
  const left = await openSteps(ana).count();
  await boxes(ana).last().click();
  await expect.poll(() => openSteps(ben).count()).toBe(left - 1);
  await panel(ben).locator(".step").last().getByText("Ana, just now").waitFor();

  await demo.kill();
  demo = await start(Number(new URL(demo.url).port));
  for (const window of [ana, ben]) {
    await window.connectNow();
    await expect.poll(() => openSteps(window).count()).toBe(left - 1);
  }
  await ben.page.reload();
  await expect.poll(() => openSteps(ben).count()).toBe(left - 1);

  // What Ana has ticked is hers; the rest of what the run made goes.
  await ana.page.getByRole("button", { name: "Undo what this run changed" }).click();
  await ben.page.getByText("Ana has undone what this run changed.").waitFor();
  await expect.poll(() => boxes(ben).count()).toBeLessThan(count);
  for (const window of [ana, ben]) expect(window.complaints).toEqual([]);
  await Promise.all([ana.close(), ben.close()]);
});

inBrowser(`on a phone the plan is a drawer that opens and closes${reason}`, async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const ana = await AppWindow.open(browser, demo.url, "Ana", phone);
  await ana.startThread();
  await ana.send("Plan a workshop");
  await ana.page.getByRole("button", { name: "Show plan and data" }).waitFor();
  await ana.idle();
  expect(await panel(ana).count()).toBe(0);
  await ana.page.getByRole("button", { name: "Show plan and data" }).click();
  await boxes(ana).first().waitFor();
  const [wide, seen] = await ana.page.evaluate(() => [
    document.documentElement.scrollWidth,
    window.innerWidth,
  ]);
  expect(wide).toBe(seen);
  const small = await panel(ana)
    .locator("button, label")
    .evaluateAll((each) =>
      each.filter((e) => e.getBoundingClientRect().height < 40).map((e) => e.textContent),
    );
  expect(small).toEqual([]);
  await ana.page.keyboard.press("Escape");
  await expect.poll(() => panel(ana).count()).toBe(0);
  expect(ana.complaints).toEqual([]);
  await ana.close();
});
