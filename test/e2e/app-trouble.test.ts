import { networkInterfaces } from "node:os";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium, openBrowser } from "../kit/chromium.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { buildApp } from "./app-build.ts";
import { AppWindow } from "./app-window.ts";
import { startHeldAgent } from "./held-agent.ts";

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
  await ana.together();
  /** How long the page is busy with something, ms. */
  const busy = async (work: () => Promise<unknown>) => {
    const started = performance.now();
    await work();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    return performance.now() - started;
  };
  const text = "A".repeat(50_000);
  // Each of these took more than ten seconds.
  expect(await busy(() => ana.paste(text))).toBeLessThan(4_000);
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

inBrowser(`what is too long comes back to be changed, and hides nothing${reason}`, async () => {
  const ana = await AppWindow.open(browser, server.url, "Ana");
  const { page } = ana;
  await ana.startThread();
  const long = "too long ".repeat(150_000);
  await ana.send(long);
  await ana.sees("Not sent.");
  expect(await page.getByRole("button", { name: "Retry" }).count()).toBe(0);
  await ana.send("thanks");
  await ana.sees(/run by Ana$/);
  await ana.idle();
  // Both are seen at once, in the order in which they were written.
  const boxes = await page
    .locator(".said, .markdown")
    .evaluateAll((all) =>
      all.map((each) => each.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]),
    );
  expect(boxes.flat()).toEqual(boxes.flat().toSorted((a, b) => a - b));
  expect(boxes.flat().at(0)).toBeGreaterThan(0);
  expect(boxes.flat().at(-1)).toBeLessThan(800);
  await page.getByRole("button", { name: "Edit" }).click();
  expect(await page.getByText("Not sent.").count()).toBe(0);
  expect(await ana.written()).toBe(long.trimEnd());
  await ana.field.fill("short enough");
  await ana.field.press("Enter");
  await ana.idle();
  expect(await ana.said("short enough")).toBe(1);
  await ana.close();
});

const network = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .some(({ family, internal }) => family === "IPv4" && !internal);

(network ? inBrowser : test.skip)(
  `a join code is asked for before a name, and the whole link will do${reason || (network ? "" : " (skipped: no network)")}`,
  async () => {
    // The one that was built serves the app.
    const built = new URL("../../dist/server/index.js", import.meta.url).href;
    const { createServer } = (await import(built)) as typeof import("../../server/index.ts");
    const shared = await createServer({
      port: 0,
      host: "0.0.0.0",
      share: true,
      store: "memory:",
      logLevel: "silent",
    });
    try {
      const link = shared.shareUrl ?? "";
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(link.split("#")[0] ?? "");
      await page.getByRole("alert").getByText("This server asks for a join code.").waitFor();
      const field = page.getByLabel("Join code or link");
      await field.fill("WRONGCODE2");
      await page.getByRole("button", { name: "Join" }).click();
      await page.getByRole("alert").getByText("This join code is not right.").waitFor();
      expect(await page.locator(".pill").count()).toBe(0);
      expect(await page.getByLabel("Your name").count()).toBe(0);
      await field.fill(link);
      await page.getByRole("button", { name: "Join" }).click();
      await page.getByLabel("Your name").fill("Ana");
      await page.getByRole("button", { name: "Join" }).click();
      await expect.poll(() => page.locator(".pill").textContent()).toMatch(/^live/);
      await context.close();
    } finally {
      await shared.close({ drainMs: 0 });
    }
  },
);

inBrowser(`a lost network is said at once, and not for longer than it is lost${reason}`, async () => {
  const ana = await AppWindow.open(browser, server.url, "Ana");
  await ana.startThread();
  await ana.page.context().setOffline(true);
  const pill = ana.page.locator(".pill");
  await expect.poll(() => pill.textContent(), { timeout: 2_000 }).toBe("offline");
  await ana.page.context().setOffline(false);
  await ana.pill(/^live/);
  await ana.close();
});

inBrowser(`while the server is away one is told what becomes of what one writes${reason}`, async () => {
  let own = await startServer(["--store", "memory:", "--demo-speed", "0.2"]);
  const ana = await AppWindow.open(browser, own.url, "Ana");
  const { page } = ana;
  await ana.startThread();
  await ana.send("Draft a launch plan");
  await ana.sees("Planner");
  await ana.stop.waitFor();
  await own.kill();
  await page.getByText("what you send is kept here").waitFor();
  await ana.sees("At work when last seen");
  expect(await ana.stop.isDisabled()).toBe(true);
  const now = page.getByRole("button", { name: "Connect now", exact: true });
  expect(await now.isVisible()).toBe(true);
  own = await startServer(["--store", "memory:"], Number(new URL(own.url).port));
  // It may have come back by itself.
  await now.click({ timeout: 1_000 }).catch(() => {});
  await ana.pill(/^live/);
  expect(await page.getByText("what you send is kept here").count()).toBe(0);
  await ana.close();
  await own.kill();
});

inBrowser(`behind a failure stands no empty space${reason}`, async () => {
  const agent = await startHeldAgent();
  const own = await startServer(["--store", "memory:", "--agent", `Helper=${agent.url}`]);
  const ana = await AppWindow.open(browser, own.url, "Ana");
  await ana.startThread();
  await ana.send("Anybody there?");
  await expect.poll(() => agent.runs).toBe(1);
  agent.say("I am just");
  await ana.sees("I am just");
  agent.close();
  const box = ana.page.locator(".trouble");
  await box.waitFor();
  await ana.idle();
  const below = await box.evaluate((each) => {
    const group = each.closest("article");
    return (group?.getBoundingClientRect().bottom ?? 0) - each.getBoundingClientRect().bottom;
  });
  expect(below).toBeLessThan(2);
  await ana.close();
  await own.kill();
});

inBrowser(`the page fills its window, however that is resized${reason}`, async () => {
  const ana = await AppWindow.open(browser, server.url, "Ana");
  const { page } = ana;
  const empty = () =>
    page.evaluate(
      () => window.innerHeight - (document.querySelector(".shell")?.getBoundingClientRect().bottom ?? 0),
    );
  for (const height of [825, 700, 725, 640, 800]) {
    await page.setViewportSize({ width: 900 + height, height });
    await expect.poll(empty, { timeout: 2_000 }).toBe(0);
  }
  // Nothing of a long conversation makes the page itself longer, so that it could be scrolled away.
  await ana.startThread();
  await ana.send("Draft a launch plan");
  await ana.sees("Checking the calendar");
  await ana.idle();
  await ana.send("Compare SQLite and Postgres");
  await ana.sees("Checking sources");
  await ana.idle();
  await page.setViewportSize({ width: 900, height: 420 });
  await page.locator(".flow-box").evaluate((box) => {
    box.scrollTop = 0;
  });
  const heights = () =>
    page.evaluate(() => [document.documentElement.scrollHeight, document.body.scrollHeight]);
  await expect.poll(heights).toEqual([420, 420]);
  await ana.close();
});
