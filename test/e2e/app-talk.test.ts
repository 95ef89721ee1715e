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
