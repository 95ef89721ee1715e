import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium, openBrowser } from "../kit/chromium.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { buildApp } from "./app-build.ts";
import { AppWindow, writtenIn } from "./app-window.ts";
import { type HeldAgent, startHeldAgent } from "./held-agent.ts";
import { layWire } from "./wire.ts";

const found = await chromium();
const reason = "skip" in found ? ` (skipped: ${found.skip})` : "";
const inBrowser = reason ? test.skip : test;

let folder: string;
let browser: Browser;
/** What users start. */
let demo: ServerProcess;
/** A server whose agent does what a test says. */
let held: ServerProcess;
let agent: HeldAgent;

const startHeld = (port = 0) =>
  startServer(["--store", `sqlite:${join(folder, "held.db")}`, "--agent", `Helper=${agent.url}`], port);

beforeAll(async () => {
  if (reason) return;
  buildApp();
  folder = mkdtempSync(join(tmpdir(), "cothread-app-"));
  agent = await startHeldAgent();
  const store = `sqlite:${join(folder, "demo.db")}`;
  [browser, demo, held] = await Promise.all([
    openBrowser(),
    startServer(["--store", store, "--demo-speed", "4"]),
    startHeld(),
  ]);
});

afterAll(async () => {
  if (reason) return;
  await browser?.close();
  await Promise.all([demo?.kill(), held?.kill()]);
  agent?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** All windows show the same, and nothing of it twice. */
async function agree(windows: AppWindow[]) {
  for (const window of windows) await window.idle();
  const [first = "", ...others] = await Promise.all(windows.map((window) => window.text()));
  for (const other of others) expect(other).toBe(first);
  for (const window of windows) {
    const ids = await window.ids();
    expect(new Set(ids).size).toBe(ids.length);
    expect(window.complaints).toEqual([]);
  }
  return first;
}

inBrowser(`newcomers see a run live, and one who was cut off misses nothing${reason}`, async () => {
  const wire = await layWire(demo.url);
  const ana = await AppWindow.open(browser, demo.url, "Ana");
  const ben = await AppWindow.open(browser, wire.url, "Ben");
  await ana.pill(/^live · 2 here$/);

  // The first thread opened by itself, the same one for both; a suggestion starts a run that both see.
  await ana.page.getByRole("button", { name: /^Plan something/ }).click();
  for (const window of [ana, ben]) await window.sees(/run by Ana$/);

  wire.cut();
  await ben.pill(/^reconnecting/);
  await ben.send("Written without a network");
  await ben.sees("waits for the connection");
  await ben.pill(/1 unsent/);
  wire.mend();
  await ben.pill(/^live · 2 here$/);
  await ana.sees("Written without a network");
  await agree([ana, ben]);
  expect(await ana.said("Draft a launch plan for the mobile release")).toBe(1);
  expect(await ana.said("Written without a network")).toBe(1);
  await Promise.all([ana.close(), ben.close()]);
  await wire.close();
});

inBrowser(`a crash in the middle of a run loses nothing and doubles nothing${reason}`, async () => {
  const ana = await AppWindow.open(browser, held.url, "Ana");
  await ana.startThread();
  const ben = await AppWindow.open(browser, ana.page.url(), "Ben");
  const { runs } = agent;
  await ana.send("Tell me a story");
  await expect.poll(() => agent.runs).toBe(runs + 1);
  agent.say("Once upon a time\n\nthere was ");

  // Somebody comes in the middle and reads what all read.
  const chi = await AppWindow.open(browser, ana.page.url(), "Chi");
  await chi.sees("there was");
  await ana.sees("there was");
  expect(await chi.text()).toBe(await ana.text());
  agent.say("a log.");
  for (const window of [ana, ben, chi]) await window.sees("there was a log.");

  await held.kill();
  await ana.pill(/^reconnecting/);
  await ana.send("Written while the server was down");
  await ana.sees("waits for the connection");
  held = await startHeld(Number(new URL(held.url).port));
  // Nobody has to wait for the next attempt: a press on the pill makes one.
  for (const window of [ana, ben, chi]) await window.connectNow();
  await expect.poll(() => agent.runs, { timeout: 30_000 }).toBe(runs + 2);
  agent.say("It went on.");
  agent.finish();
  for (const window of [ana, ben, chi]) await window.sees("It went on.");
  const text = await agree([ana, ben, chi]);
  for (const part of ["there was a log.", "The server was restarted", "It went on."])
    expect(text.split(part), part).toHaveLength(2);
  expect(await chi.said("Tell me a story")).toBe(1);
  expect(await chi.said("Written while the server was down")).toBe(1);

  // Whoever comes afterwards reads the same.
  const dan = await AppWindow.open(browser, ana.page.url(), "Dan");
  await dan.sees("It went on.");
  expect(await agree([dan])).toBe(text);
  await Promise.all([ana, ben, chi, dan].map((window) => window.close()));
});

inBrowser(`what waits is shown and withdrawn, a note starts nothing, stop stops${reason}`, async () => {
  const ana = await AppWindow.open(browser, held.url, "Ana");
  await ana.startThread();
  const ben = await AppWindow.open(browser, ana.page.url(), "Ben");

  const { runs } = agent;
  await ana.send("Plan a workshop");
  await ben.stop.waitFor();
  await expect.poll(() => agent.runs).toBe(runs + 1);
  agent.say("First things **fir");
  await ben.sees("First things fir");
  await ben.send("Compare tea and coffee");
  await ana.send("Plan a trip to Lisbon");
  for (const window of [ana, ben]) {
    await window.page.getByText("2 waiting").waitFor();
    await window.page.locator(".queue").getByText("Ben: “Compare tea and coffee”").waitFor();
  }
  await ana.page.locator(".queue li", { hasText: "Ben:" }).getByRole("button", { name: "withdraw" }).click();
  await ben.page.getByText("1 waiting").waitFor();
  await ana.page.locator(".queue").getByRole("button", { name: "withdraw" }).click();
  await ben.page.locator(".queue").waitFor({ state: "detached" });

  await ben.page.getByRole("button", { name: "Note", exact: true }).click();
  await ben.send("Just so you know");
  await ana.sees("Just so you know");

  await ben.page.keyboard.press("Escape");
  for (const window of [ana, ben]) await window.sees("Stopped by Ben");
  const text = await agree([ana, ben]);
  expect(text).not.toMatch(/tea and coffee|Lisbon/);
  expect(text).toMatch(/Just so you know\s*note/);
  expect(agent.runs).toBe(runs + 1);
  await Promise.all([ana.close(), ben.close()]);
});

inBrowser(`a second window is somebody else, and what is typed outlives a reload${reason}`, async () => {
  const ana = await AppWindow.open(browser, held.url, "Ana");
  await ana.startThread();
  const [opened] = await Promise.all([
    ana.page.context().waitForEvent("page"),
    ana.page.getByRole("link", { name: /Open a second window/ }).click(),
  ]);
  await opened.getByLabel("Your name").fill("Ben");
  await opened.getByRole("button", { name: "Join" }).click();
  await ana.pill(/^live · 2 here$/);
  expect(opened.url()).toBe(ana.page.url());

  await opened.getByLabel("Message").pressSequentially("half a thought");
  await ana.page.getByText("Ben is typing").waitFor();
  await opened.reload();
  await ana.pill(/^live · 2 here$/);
  await expect.poll(() => writtenIn(opened)).toBe("half a thought");
  expect(ana.complaints).toEqual([]);
  await ana.close();
});

inBrowser(`whoever reads is left in peace while an answer grows, on a phone too${reason}`, async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const ana = await AppWindow.open(browser, held.url, "Ana", phone);
  const { page } = ana;
  await ana.startThread();
  const { runs } = agent;
  await ana.send("Tell me more");
  await expect.poll(() => agent.runs).toBe(runs + 1);
  const paragraphs = (from: number) =>
    Array.from({ length: 40 }, (_, i) => `Paragraph ${from + i} has a few words.\n\n`).join("");
  agent.say(paragraphs(0));
  await ana.sees("Paragraph 39 has");
  const box = page.locator(".flow-box");
  const below = () => box.evaluate((e) => e.scrollHeight - e.clientHeight - e.scrollTop);
  await expect.poll(below).toBeLessThan(2);

  await box.evaluate((element) => {
    element.scrollTop -= 300;
  });
  await page.getByRole("button", { name: "To the end" }).waitFor();
  const place = () =>
    page.getByText("Paragraph 25 has").evaluate((element) => Math.round(element.getBoundingClientRect().top));
  const before = await place();
  agent.say(paragraphs(40));
  await ana.sees("Paragraph 79 has");
  expect(await place()).toBe(before);
  agent.finish();
  await ana.idle();
  expect(await place()).toBe(before);
  await page.getByRole("button", { name: "To the end" }).click();
  await expect.poll(below).toBeLessThan(2);

  const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  expect(wide).toBe(seen);
  // Everything one can press is as large as a finger.
  const small = await page
    .locator(".head button, .composer button, .composer select")
    .evaluateAll((all) =>
      all
        .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 40)
        .map((e) => e.textContent),
    );
  expect(small).toEqual([]);
  expect(ana.complaints).toEqual([]);
  await ana.close();
});
