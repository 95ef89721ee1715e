import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium, openBrowser } from "../kit/chromium.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { buildApp } from "./app-build.ts";
import { AppWindow } from "./app-window.ts";
import { type HeldAgent, startHeldAgent } from "./held-agent.ts";

const found = await chromium();
const reason = "skip" in found ? ` (skipped: ${found.skip})` : "";
const inBrowser = reason ? test.skip : test;

let browser: Browser;
let server: ServerProcess;
let agent: HeldAgent;

beforeAll(async () => {
  if (reason) return;
  buildApp();
  agent = await startHeldAgent();
  [browser, server] = await Promise.all([
    openBrowser(),
    startServer(["--store", "memory:", "--agent", `Helper=${agent.url}`]),
  ]);
});

afterAll(async () => {
  if (reason) return;
  await browser?.close();
  await server?.kill();
  agent?.close();
});

inBrowser(`the list says what came into other threads, until one reads it${reason}`, async () => {
  const ana = await AppWindow.open(browser, server.url, "Ana");
  await ana.startThread();
  const first = ana.page.url();
  const ben = await AppWindow.open(browser, first, "Ben");
  await ben.together();
  await ben.send("Tell me a story");
  await ana.sees("Tell me a story");
  await expect.poll(() => agent.runs).toBe(1);

  const news = (window: AppWindow) => window.page.locator(".rows").getByRole("img", { name: / new message/ });
  await ana.startThread();
  await ana.pill(/^live/);
  await ben.page.getByRole("button", { name: "Note", exact: true }).click();
  await ben.send("The date is fixed");
  await ben.sees("The date is fixed");
  agent.say("Once upon a time");
  agent.finish();
  await ben.sees("Once upon a time");
  await expect.poll(() => news(ana).allTextContents()).toEqual(["2"]);
  expect(await news(ben).count()).toBe(0);

  await ana.page.goto(first);
  await ana.sees("Once upon a time");
  await ana.startThread();
  await ana.pill(/^live/);
  await expect.poll(() => news(ana).count()).toBe(0);
  expect([...ana.complaints, ...ben.complaints]).toEqual([]);
  await Promise.all([ana.close(), ben.close()]);
});

inBrowser(`where agents answer when mentioned, people talk, and ask when they want to${reason}`, async () => {
  const ana = await AppWindow.open(browser, server.url, "Ana");
  await ana.startThread();
  const ben = await AppWindow.open(browser, ana.page.url(), "Ben");
  for (const window of [ana, ben]) await window.together();
  const { runs } = agent;
  await ana.page.getByRole("button", { name: "When agents answer here" }).click();
  await ana.page.getByRole("menuitemradio", { name: "When mentioned" }).click();
  const rule = "Helper answers when it is mentioned";
  for (const window of [ana, ben]) await window.page.getByText(rule).waitFor();

  await ben.send("Lunch at noon?");
  await ana.sees("Lunch at noon?");
  await ana.send("Fine with me");
  await ben.sees("Fine with me");
  expect(agent.runs).toBe(runs);

  // The names lie over the draft of all; keys choose one.
  await ana.field.focus();
  await ana.page.keyboard.type("@");
  const names = ana.page.getByRole("option");
  await expect.poll(() => names.allTextContents()).toEqual(["Helper", "BBen"]);
  await ana.page.keyboard.press("ArrowDown");
  await ana.page.keyboard.press("Enter");
  expect(await ana.written()).toBe("@Ben ");
  await ana.page.keyboard.type("and @he");
  await ana.page.keyboard.press("Tab");
  await ana.page.getByText("Helper answers", { exact: true }).waitFor();
  await ana.page.keyboard.type("book a table");
  await ana.page.keyboard.press("Enter");
  await expect.poll(() => agent.runs).toBe(runs + 1);
  agent.say("Booked.");
  agent.finish();
  for (const window of [ana, ben]) await window.sees("Booked.");

  // One press asks for what was only said.
  await ben.send("For three, that is");
  await ana.sees("For three, that is");
  expect(await ana.page.getByRole("button", { name: "Ask Helper" }).count()).toBe(1);
  await ben.page.getByRole("button", { name: "Ask Helper" }).click();
  await expect.poll(() => agent.runs).toBe(runs + 2);
  agent.say("Three it is.");
  agent.finish();
  for (const window of [ana, ben]) {
    await window.sees("Three it is.");
    await expect.poll(() => window.page.getByRole("button", { name: "Ask Helper" }).count()).toBe(0);
  }

  // The same in a draft that only its writer sees.
  await ben.page.getByRole("button", { name: "Shared draft" }).click();
  await ben.field.focus();
  await ben.page.keyboard.type("@h");
  await ben.page.keyboard.press("Escape");
  await expect.poll(() => ben.page.getByRole("option").count()).toBe(0);
  await ben.page.keyboard.press("Backspace");
  await ben.page.keyboard.press("Backspace");
  await ben.page.keyboard.type("@");
  await ben.page.getByRole("option", { name: "Helper" }).click();
  expect(await ben.written()).toBe("@Helper ");
  await ben.page.keyboard.type("thanks");
  await ben.page.keyboard.press("Enter");
  await expect.poll(() => agent.runs).toBe(runs + 3);
  agent.say("You are welcome.");
  agent.finish();
  await ana.sees("You are welcome.");
  expect([...ana.complaints, ...ben.complaints]).toEqual([]);
  await Promise.all([ana.close(), ben.close()]);
});
