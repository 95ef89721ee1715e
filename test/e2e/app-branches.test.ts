import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium, openBrowser } from "../kit/chromium.ts";
import { startServer } from "../kit/server-process.ts";
import { buildApp } from "./app-build.ts";
import { AppWindow } from "./app-window.ts";
import { startHeldAgent } from "./held-agent.ts";

const found = await chromium();
const reason = "skip" in found ? ` (skipped: ${found.skip})` : "";
const inBrowser = reason ? test.skip : test;

let browser: Browser;

beforeAll(async () => {
  if (reason) return;
  buildApp();
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
});

inBrowser(
  `an answer is made again, a question said differently, and everybody follows a switch${reason}`,
  async () => {
    const agent = await startHeldAgent();
    const server = await startServer(["--store", "memory:", "--agent", `Helper=${agent.url}`]);
    const ana = await AppWindow.open(browser, server.url, "Ana");
    await ana.startThread();
    const ben = await AppWindow.open(browser, ana.page.url(), "Ben");
    let runs = 0;
    const answer = async (text: string) => {
      runs += 1;
      await expect.poll(() => agent.runs).toBe(runs);
      agent.say(text);
      agent.finish();
      for (const window of [ana, ben]) await window.sees(text);
      for (const window of [ana, ben]) await window.idle();
    };
    await ana.send("Name a colour");
    await answer("Blue it is");

    await ben.page.getByRole("button", { name: "Answer again" }).click();
    await answer("Green it is");
    for (const window of [ana, ben]) {
      expect(await window.text()).not.toContain("Blue");
      await window.page.locator(".branches").getByText("2 of 2").waitFor();
    }
    await ana.page.getByRole("button", { name: "The version before" }).click();
    for (const window of [ana, ben]) {
      await window.sees("Blue it is");
      expect(await window.text()).not.toContain("Green");
    }

    // Only who said it says it differently.
    expect(await ben.page.getByRole("button", { name: "Say it differently" }).count()).toBe(0);
    await ana.page.locator(".said").hover();
    await ana.page.getByRole("button", { name: "Say it differently" }).click();
    const field = ana.page.getByLabel("What you say instead");
    await field.fill("Name a warm colour");
    await field.press("Enter");
    await answer("Red it is");
    for (const window of [ana, ben]) {
      expect(await window.said("Name a warm colour")).toBe(1);
      expect(await window.text()).not.toMatch(/Blue|Green/);
    }
    await ben.page.getByRole("button", { name: "The version before" }).click();
    for (const window of [ana, ben]) await window.sees("Name a colour");
    expect([...ana.complaints, ...ben.complaints]).toEqual([]);
    await Promise.all([ana.close(), ben.close()]);
    await server.kill();
    agent.close();
  },
);
