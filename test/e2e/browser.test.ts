import { expect, test } from "vitest";
import { openBrowser } from "../kit/chromium.ts";

test("a browser opens a page", async ({ skip, onTestFinished }) => {
  const browser = await openBrowser(skip);
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto("data:text/html,<title>Cothread</title>");
  expect(await page.title()).toBe("Cothread");
});
