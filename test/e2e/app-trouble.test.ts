import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium, openBrowser } from "../kit/chromium.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { buildApp } from "./app-build.ts";
import { AppWindow } from "./app-window.ts";

const found = await chromium();
const reason = "skip" in found ? ` (skipped: ${found.skip})` : "";
const inBrowser = reason ? test.skip : test;

let browser: Browser;
let server: ServerProcess;

beforeAll(async () => {
  if (reason) return;
  buildApp();
  [browser, server] = await Promise.all([
    openBrowser(),
    startServer(["--store", "memory:", "--demo-speed", "0"]),
  ]);
});

afterAll(async () => {
  if (reason) return;
  await browser?.close();
  await server?.kill();
});

inBrowser(`a long run without a break freezes neither the field nor the conversation${reason}`, async () => {
  const ana = await AppWindow.open(browser, server.url, "Ana");
  const { page } = ana;
  await ana.startThread();
  /** How long the page is busy with something, ms. */
  const busy = async (work: () => Promise<unknown>) => {
    const started = performance.now();
    await work();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    return performance.now() - started;
  };
  const text = "A".repeat(50_000);
  // Each of these took more than ten seconds.
  expect(await busy(() => ana.field.fill(text))).toBeLessThan(4_000);
  expect(await busy(() => ana.field.press("b"))).toBeLessThan(4_000);
  await page.getByLabel("Who answers").selectOption({ label: "Echo" });
  await ana.field.press("Enter");
  await ana.sees(/run by Ana$/);
  await ana.idle();
  const whole = page.getByRole("button", { name: /Show all/ });
  expect(await busy(() => whole.click())).toBeLessThan(4_000);
  expect(await busy(() => page.setViewportSize({ width: 900, height: 700 }))).toBeLessThan(4_000);
  expect(ana.complaints).toEqual([]);
  await ana.close();
});
