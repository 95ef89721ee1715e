import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import type { AppWindow } from "./app-window.ts";

const FILE = fileURLToPath(new URL("two-windows.png", import.meta.url));
const SIZE = { width: 1000, height: 740 };

/** Takes the picture of the README: two windows on one thread while an agent works, side by side. */
export async function takeScreenshot(browser: Browser, left: AppWindow, right: AppWindow): Promise<void> {
  for (const { page } of [left, right]) await page.setViewportSize(SIZE);
  await left.page.locator(".streaming td").nth(3).waitFor({ timeout: 60_000 });
  await right.field.pressSequentially("And who writes the FAQ?");
  await left.page.getByText("Ben is typing").waitFor();
  const [one, other] = await Promise.all([left.page.screenshot(), right.page.screenshot()]);
  const page = await browser.newPage({ viewport: { width: 2 * SIZE.width + 72, height: SIZE.height + 48 } });
  const image = (bytes: Buffer) => `<img src="data:image/png;base64,${bytes.toString("base64")}">`;
  await page.setContent(
    `<style>body{margin:0;padding:24px;display:flex;gap:24px;background:#d9d5cc}img{border-radius:10px}</style>${image(one)}${image(other)}`,
  );
  await page.waitForFunction(() => [...document.images].every((each) => each.complete));
  writeFileSync(FILE, await page.screenshot());
  await page.close();
  await right.field.fill("");
}
