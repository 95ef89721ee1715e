import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium, openBrowser } from "../kit/chromium.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { buildApp } from "./app-build.ts";
import { AppWindow } from "./app-window.ts";
import { layWire } from "./wire.ts";

const found = await chromium();
const reason = "skip" in found ? ` (skipped: ${found.skip})` : "";
const inBrowser = reason ? test.skip : test;

let browser: Browser;
let server: ServerProcess;
let writer: Awaited<ReturnType<typeof startWriter>>;

/** An agent over HTTP that changes the state as a test says, with patches. */
async function startWriter() {
  let write = (_event: object) => {};
  let end = () => {};
  let runs = 0;
  const http = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
    write = (event) => void response.write(`data: ${JSON.stringify(event)}\n\n`);
    end = () => {
      write({ type: "RUN_FINISHED", threadId, runId });
      response.end();
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    write({ type: "RUN_STARTED", threadId, runId });
    runs += 1;
  });
  await new Promise<void>((listening) => http.listen(0, "127.0.0.1", listening));
  let document = "";
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/agent`,
    /** Says what the document is by now, as an agent that knows nothing of what others do. */
    say(text: string) {
      document += text;
      write({ type: "STATE_DELTA", delta: [{ op: "add", path: "/document", value: document }] });
    },
    remove() {
      write({ type: "STATE_DELTA", delta: [{ op: "remove", path: "/document" }] });
    },
    finish() {
      document = "";
      end();
    },
    get runs() {
      return runs;
    },
    close() {
      http.closeAllConnections();
      http.close();
    },
  };
}

beforeAll(async () => {
  if (reason) return;
  buildApp();
  writer = await startWriter();
  [browser, server] = await Promise.all([
    openBrowser(),
    startServer(["--store", "memory:", "--agent", `Writer=${writer.url}`]),
  ]);
});

afterAll(async () => {
  if (reason) return;
  await browser?.close();
  await server?.kill();
  writer?.close();
});

/** Two people in one thread, both at the shared draft. */
async function two(options = {}): Promise<[AppWindow, AppWindow]> {
  const ana = await AppWindow.open(browser, server.url, "Ana", options);
  await ana.startThread();
  const ben = await AppWindow.open(browser, ana.page.url(), "Ben", options);
  await Promise.all([ana.together(), ben.together()]);
  return [ana, ben];
}

const caretOf = ({ page }: AppWindow, name: string, where = ".composer") =>
  page.locator(`${where} .caret[data-caret="${name}"]`);
const told = ({ page }: AppWindow) => page.locator(".composer-told");
const editor = ({ page }: AppWindow) => page.getByLabel("Text of the document");
const documentText = (window: AppWindow) =>
  window.page.locator(".document-text .cm-line").evaluateAll((lines) =>
    lines
      .map((line) => {
        const text = line.cloneNode(true) as Element;
        for (const caret of text.querySelectorAll(".caret")) caret.remove();
        return text.textContent;
      })
      .join("\n"),
  );

async function close(...windows: AppWindow[]) {
  for (const window of windows) expect(window.complaints).toEqual([]);
  await Promise.all(windows.map((window) => window.close()));
}

inBrowser(`two write one message, see where the other is, and it is sent once${reason}`, async () => {
  const [ana, ben] = await two();
  await Promise.all([
    ana.field.pressSequentially("Please shorten it."),
    (async () => {
      await ben.field.focus();
      await ben.page.keyboard.press("Control+Home");
      await ben.page.keyboard.type("Hello! ");
    })(),
  ]);
  for (const window of [ana, ben])
    await expect.poll(async () => (await window.written()).length).toBe("Please shorten it.Hello! ".length);
  expect(await ana.written()).toBe(await ben.written());
  await caretOf(ana, "Ben").waitFor();
  await caretOf(ben, "Ana").waitFor();
  // The colour of somebody's caret is that of their face.
  const colours = await ana.page.evaluate(() => [
    getComputedStyle(document.querySelector('.caret[data-caret="Ben"]') as Element).backgroundColor,
    ...[...document.querySelectorAll(".head .avatar")].map((e) => getComputedStyle(e).backgroundColor),
  ]);
  expect(colours.slice(1)).toContain(colours[0]);

  // Both press at once: neither has heard of the other.
  const text = await ana.written();
  const { runs } = writer;
  await Promise.all([
    ana.page.getByRole("button", { name: /^Send|^Queue/ }).click(),
    ben.page.getByRole("button", { name: /^Send|^Queue/ }).click(),
  ]);
  await expect.poll(async () => (await told(ana).count()) + (await told(ben).count())).toBe(1);
  const isAna = (await told(ana).count()) === 1;
  const second = isAna ? ana : ben;
  expect(await told(second).textContent()).toBe(`${isAna ? "Ben" : "Ana"} has sent it.`);
  for (const window of [ana, ben]) {
    await expect.poll(() => window.said(text.trim())).toBe(1);
    await expect.poll(() => window.written()).toBe("");
  }
  await second.field.pressSequentially("And");
  expect(await told(second).count()).toBe(0);
  await expect.poll(() => writer.runs).toBe(runs + 1);
  writer.finish();
  for (const window of [ana, ben]) await window.idle();
  expect(writer.runs).toBe(runs + 1);
  await close(ana, ben);
});

inBrowser(`what one types behind what another sends stays in the draft${reason}`, async () => {
  const wire = await layWire(server.url);
  const ana = await AppWindow.open(browser, server.url, "Ana");
  await ana.startThread();
  const ben = await AppWindow.open(browser, ana.page.url().replace(server.url, wire.url), "Ben");
  await Promise.all([ana.together(), ben.together()]);
  const { runs } = writer;
  await ana.field.pressSequentially("Draft a plan");
  await expect.poll(() => ben.written()).toBe("Draft a plan");

  // Ben hears nothing for a while, writes on, and presses too.
  wire.cut();
  await ben.pill(/^reconnecting|^offline/);
  await ana.page.getByRole("button", { name: "Send" }).click();
  await expect.poll(() => ana.written()).toBe("");
  await ben.field.press("Control+End");
  await ben.field.pressSequentially(" for May");
  wire.mend();
  await ben.connectNow();
  for (const window of [ana, ben]) {
    await expect.poll(() => window.written()).toBe(" for May");
    expect(await window.said("Draft a plan")).toBe(1);
  }
  await expect.poll(() => writer.runs).toBe(runs + 1);
  writer.finish();
  await close(ana, ben);
  await wire.close();
});

inBrowser(
  `what is written without a network is merged, and what is sent without it goes out once${reason}`,
  async () => {
    const wire = await layWire(server.url);
    const ana = await AppWindow.open(browser, server.url, "Ana");
    await ana.startThread();
    const ben = await AppWindow.open(browser, ana.page.url().replace(server.url, wire.url), "Ben");
    await Promise.all([ana.together(), ben.together()]);
    await ana.field.pressSequentially("one two");
    await expect.poll(() => ben.written()).toBe("one two");
    wire.cut();
    await ben.pill(/^reconnecting|^offline/);
    await ben.field.press("Control+End");
    await ben.field.pressSequentially(" three");
    await ana.field.press("Control+Home");
    await ana.field.pressSequentially("zero ");
    wire.mend();
    await ben.connectNow();
    for (const window of [ana, ben]) await expect.poll(() => window.written()).toBe("zero one two three");

    wire.cut();
    await ben.pill(/^reconnecting|^offline/);
    const { runs } = writer;
    await ben.field.press("Control+End");
    await ben.field.pressSequentially(" four");
    await ben.field.press("Enter");
    await ben.sees("waits for the connection");
    expect(await ben.written()).toBe("");
    wire.mend();
    await ben.connectNow();
    await ana.sees("zero one two three four");
    for (const window of [ana, ben]) await expect.poll(() => window.written()).toBe("");
    await expect.poll(() => writer.runs).toBe(runs + 1);
    writer.finish();
    await close(ana, ben);
    await wire.close();
  },
);

inBrowser(`a private draft is seen by nobody, and shared by a press${reason}`, async () => {
  const [ana, ben] = await two();
  await ana.page.getByRole("button", { name: "Shared draft" }).click();
  await ana.field.pressSequentially("just for me");
  await ben.field.pressSequentially("for all");
  await ana.page.reload();
  await ana.page.getByRole("button", { name: "Private draft" }).waitFor();
  expect(await ana.written()).toBe("just for me");
  expect(await ben.written()).toBe("for all");
  expect(await caretOf(ben, "Ana").count()).toBe(0);
  await ana.page.getByRole("button", { name: "Private draft" }).click();
  for (const window of [ana, ben]) await expect.poll(() => window.written()).toBe("for all\n\njust for me");
  // Whoever begins a thread next is given one that is empty.
  await ana.field.fill("");
  await expect.poll(() => ben.written()).toBe("");
  await close(ana, ben);
});

inBrowser(
  `Enter ends the composition of a character, and then sends; Shift Enter is a new line${reason}`,
  async () => {
    const [ana, ben] = await two();
    const { runs } = writer;
    const keyboard = await ana.page.context().newCDPSession(ana.page);
    await ana.field.focus();
    const composed = { text: "かん", selectionStart: 2, selectionEnd: 2 };
    await keyboard.send("Input.imeSetComposition", composed);
    // As a keyboard of that kind says it.
    const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 229 };
    await keyboard.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...enter });
    await keyboard.send("Input.insertText", { text: "漢" });
    await keyboard.send("Input.dispatchKeyEvent", { type: "keyUp", ...enter });
    await ana.page.keyboard.press("Shift+Enter");
    await ana.page.keyboard.type("b");
    await expect.poll(() => ben.written()).toMatch(/^漢\n+b$/);
    expect(writer.runs).toBe(runs);
    await ana.page.keyboard.press("Enter");
    await ben.sees("漢");
    await expect.poll(() => writer.runs).toBe(runs + 1);
    writer.finish();
    await close(ana, ben);
  },
);

inBrowser(
  `on a small phone carets and buttons have room, and no field is so small that it zooms${reason}`,
  async () => {
    const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
    const [ana, ben] = await two(phone);
    const { runs } = writer;
    await ana.send("Write something");
    await expect.poll(() => writer.runs).toBe(runs + 1);
    await ben.field.pressSequentially("to the very end of this line of it");
    await caretOf(ana, "Ben").waitFor();
    const over = await ana.page.evaluate(() => {
      const { left, right } = (document.querySelector(".composer") as Element).getBoundingClientRect();
      return [...document.querySelectorAll(".composer button, .composer select, .composer .caret-name")]
        .filter((each) => {
          const box = each.getBoundingClientRect();
          return box.left < left || box.right > right;
        })
        .map((each) => each.textContent);
    });
    expect(over).toEqual([]);
    expect(await ana.field.evaluate((field) => Number.parseFloat(getComputedStyle(field).fontSize))).toBe(16);
    const name = caretOf(ana, "Ben").locator(".caret-name");
    const opacity = () => name.evaluate((each) => getComputedStyle(each).opacity);
    await expect.poll(opacity, { timeout: 10_000 }).toBe("0");
    await caretOf(ana, "Ben").hover();
    await expect.poll(opacity).toBe("1");
    writer.finish();
    await close(ana, ben);
  },
);

inBrowser(`a document is edited by two and the agent at once${reason}`, async () => {
  const [ana, ben] = await two();
  const { runs } = writer;
  await ana.send("Write the one-pager");
  await expect.poll(() => writer.runs).toBe(runs + 1);
  writer.say("# Launch\n\nWe release in May.\n\nRollout");
  for (const { page } of [ana, ben]) {
    await page.getByRole("tab", { name: "Document" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
  }
  await Promise.all([editor(ana).waitFor(), editor(ben).waitFor()]);
  await editor(ana).press("Control+Home");
  await editor(ana).press("End");
  await editor(ana).pressSequentially(" plan");
  await editor(ben).getByText("We release in May.").click();
  await editor(ben).press("End");
  await Promise.all([
    editor(ben).pressSequentially(" Or June."),
    (async () => {
      for (const word of [" happens", " in", " three", " waves."]) {
        writer.say(word);
        await ben.page.waitForTimeout(30);
      }
    })(),
  ]);
  const all = "# Launch plan\n\nWe release in May. Or June.\n\nRollout happens in three waves.";
  for (const window of [ana, ben]) await expect.poll(() => documentText(window)).toBe(all);
  await caretOf(ana, "Ben", ".document").waitFor();
  await caretOf(ben, "Ana", ".document").waitFor();
  for (const window of [ana, ben]) {
    const before = await caretOf(window, "Writer", ".document").evaluate((caret) => {
      const range = document.createRange();
      range.setStart(caret.closest(".cm-line") as Element, 0);
      range.setEndBefore(caret);
      return range.toString();
    });
    expect(before.endsWith("three waves.")).toBe(true);
  }
  // What one undoes is what one did oneself.
  await editor(ana).press("Control+z");
  for (const window of [ana, ben])
    await expect.poll(() => documentText(window)).toBe(all.replace("Launch plan", "Launch"));
  writer.finish();
  for (const window of [ana, ben])
    await expect.poll(() => caretOf(window, "Writer", ".document").count()).toBe(0);
  await close(ana, ben);
});

inBrowser(`a document that is removed while one is in it can be put back${reason}`, async () => {
  const [ana, ben] = await two();
  const { runs } = writer;
  await ana.send("Write the one-pager");
  await expect.poll(() => writer.runs).toBe(runs + 1);
  writer.say("First line");
  await ana.page.getByRole("tab", { name: "Document" }).click();
  await ana.page.getByRole("button", { name: "Edit" }).click();
  await editor(ana).press("Control+End");
  await editor(ana).pressSequentially(" and mine");
  await ana.page.locator(".document").getByText("saved", { exact: true }).waitFor();
  writer.remove();
  await ana.page.getByText("The document was removed while you were in it.").waitFor();
  await ana.page.locator(".document").getByText("First line and mine").waitFor();
  expect(await ben.page.getByText("The document was removed").count()).toBe(0);
  await ana.page.getByRole("button", { name: "Put it back" }).click();
  await ben.page.getByRole("tab", { name: "Document" }).click();
  await ben.page.locator(".document").getByText("First line and mine").waitFor();
  writer.finish();
  await close(ana, ben);
});
