import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

let folder: string;
let browser: Browser;
let server: ServerProcess;

const start = (port = 0) =>
  startServer(["--store", `sqlite:${join(folder, "questions.db")}`, "--demo-speed", "8"], port);

beforeAll(async () => {
  if (reason) return;
  buildApp();
  folder = mkdtempSync(join(tmpdir(), "cothread-questions-"));
  [browser, server] = await Promise.all([openBrowser(), start()]);
});

afterAll(async () => {
  if (reason) return;
  await browser?.close();
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const box = ({ page }: AppWindow) => page.locator("[data-question]");
const press = ({ page }: AppWindow, name: string) => page.getByRole("button", { name, exact: true }).click();

async function asked() {
  const ana = await AppWindow.open(browser, server.url, "Ana");
  await ana.startThread();
  const ben = await AppWindow.open(browser, ana.page.url(), "Ben");
  await ana.send("Send the invitation");
  for (const window of [ana, ben]) await box(window).waitFor();
  return { ana, ben };
}

inBrowser(
  `what an agent asks is changed and approved by somebody else, and all see who did${reason}`,
  async () => {
    const { ana, ben } = await asked();
    await box(ben).getByText("Planner waits for an answer. Anyone who can write here can give it.").waitFor();
    await box(ben)
      .getByText(/^expires in (?:30:00|29:\d\d)$/)
      .waitFor();
    await box(ben).getByLabel("Subject").fill("long ".repeat(40));
    await press(ben, "Approve with changes");
    // The server holds it against the agent's schema.
    await box(ben).getByRole("alert").waitFor();
    expect(await box(ben).getByLabel("Subject").getAttribute("aria-invalid")).toBe("true");
    await box(ben).getByLabel("Subject").fill("Ben's words");
    await press(ben, "Approve with changes");
    for (const window of [ana, ben]) {
      await box(window).waitFor({ state: "detached" });
      await window.sees("Approved by Ben");
      await window.sees("Sent to 214 people, with your changes: “Ben's words”.");
    }
    expect([...ana.complaints, ...ben.complaints]).toEqual([]);
    await Promise.all([ana.close(), ben.close()]);
  },
);

inBrowser(`a question outlives a reload and a killed server, and is answered then${reason}`, async () => {
  const { ana, ben } = await asked();
  await ben.close();
  const port = Number(new URL(server.url).port);
  await server.kill();
  server = await start(port);
  await ana.page.reload();
  await box(ana).waitFor();
  await press(ana, "Decline");
  await ana.sees("Declined by Ana");
  await box(ana).waitFor({ state: "detached" });
  await ana.idle();
  await ana.close();
});

inBrowser(`something else can be said instead of an answer${reason}`, async () => {
  const { ana, ben } = await asked();
  await ben.send("Compare SQLite and Postgres");
  for (const window of [ana, ben]) {
    await box(window).waitFor({ state: "detached" });
    await window.sees("Set aside by Ben");
    await window.sees("SQLite and Postgres");
  }
  await Promise.all([ana.idle(), ben.idle()]);
  await Promise.all([ana.close(), ben.close()]);
});

inBrowser(`what waits is changed by who wrote it, and moved by anybody${reason}`, async () => {
  const agent = await startHeldAgent();
  const own = await startServer(["--store", "memory:", "--agent", `Helper=${agent.url}`]);
  const ana = await AppWindow.open(browser, own.url, "Ana");
  await ana.startThread();
  const ben = await AppWindow.open(browser, ana.page.url(), "Ben");
  await ana.send("go");
  await expect.poll(() => agent.runs).toBe(1);
  await ana.send("first");
  await ana.send("second");
  const rows = (window: AppWindow) => window.page.locator(".queue-text").allTextContents();
  await expect.poll(() => rows(ben)).toEqual(["Ana: “first”", "Ana: “second”"]);
  expect(await ben.page.locator(".queue").getByRole("button", { name: "edit" }).count()).toBe(0);
  await press(ben, "sooner");
  await expect.poll(() => rows(ana)).toEqual(["Ana: “second”", "Ana: “first”"]);
  await ana.page.locator(".queue").getByRole("button", { name: "edit" }).first().click();
  const field = ana.page.getByLabel("The message that waits");
  await field.fill("second thoughts");
  await field.press("Enter");
  await expect.poll(() => rows(ben)).toEqual(["Ana: “second thoughts”", "Ana: “first”"]);
  agent.finish();
  await expect.poll(() => agent.runs).toBe(2);
  await expect.poll(() => rows(ben)).toEqual(["Ana: “first”"]);
  expect(await ben.said("second thoughts")).toBe(1);
  agent.finish();
  await expect.poll(() => agent.runs).toBe(3);
  agent.finish();
  await Promise.all([ana.idle(), ben.idle()]);
  await Promise.all([ana.close(), ben.close()]);
  await own.kill();
  agent.close();
});

inBrowser(
  `a window that is asked and killed gives way to another one, and the day is taken there${reason}`,
  async () => {
    const { ana, ben } = await Promise.all([
      AppWindow.open(browser, server.url, "Ana"),
      AppWindow.open(browser, server.url, "Ben"),
    ]).then(([ana, ben]) => ({ ana, ben }));
    await ana.startThread();
    await ben.page.goto(ana.page.url());
    await ben.pill(/^live/);
    const card = ({ page }: AppWindow) => page.locator("[data-date]");
    await ana.send("Pick a date for the launch");
    await card(ana).waitFor();
    await ben.sees("Ana is asked (pick_date)");
    expect(await card(ben).count()).toBe(0);
    // As when a browser is killed: nothing is said, and the claim stands until its lease ends.
    await ana.close();
    await card(ben).waitFor({ timeout: 60_000 });
    await card(ben).getByLabel("A date").fill("2027-01-15");
    await press(ben, "Take this day");
    await ben.sees("Friday, 15 January 2027");
    await ben.idle();
    expect(ben.complaints).toEqual([]);
    await ben.close();
  },
);
