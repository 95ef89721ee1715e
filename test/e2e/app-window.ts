import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Long enough for a machine that has other things to do, ms. */
const PATIENCE = 30_000;

/** A window of the web app, with somebody in front of it. */
export class AppWindow {
  readonly page: Page;
  /** What the page complained about; refused connections are none. */
  readonly complaints: readonly string[];

  private constructor(page: Page) {
    this.page = page;
    page.setDefaultTimeout(PATIENCE);
    this.complaints = complaintsOf(page);
  }

  /** Opens the app as a newcomer who says their name. */
  static async open(
    browser: Browser,
    url: string,
    name: string,
    options: BrowserContextOptions = {},
  ): Promise<AppWindow> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const opened = new AppWindow(await context.newPage());
    await opened.page.goto(url);
    await opened.introduce(name);
    return opened;
  }

  /** Begins a thread of its own. */
  async startThread(): Promise<void> {
    const list = this.page.getByRole("button", { name: "Show threads" });
    if (await list.isVisible()) await list.click();
    await this.page.getByRole("button", { name: "Start a new thread" }).click();
    await this.page.getByText("What shall we work on?").waitFor();
  }

  /** Answers the question who is there. */
  async introduce(name: string): Promise<void> {
    await this.page.getByLabel("Your name").fill(name);
    await this.page.getByRole("button", { name: "Join" }).click();
    await this.pill(/^live/);
  }

  get field() {
    return this.page.getByLabel("Message");
  }

  get stop() {
    return this.page.locator("[data-stop]");
  }

  async send(text: string): Promise<void> {
    await this.field.fill(text);
    await this.field.press("Enter");
  }

  /** Puts a text into the field as one does that is on the clipboard. */
  async paste(text: string): Promise<void> {
    await this.field.focus();
    await this.field.evaluate((field, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      const pasted = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
      // Fields of the browser take what comes from the clipboard itself only.
      if (field.dispatchEvent(pasted)) document.execCommand("insertText", false, text);
    }, text);
  }

  /** What stands in the field, whichever kind it is of: all of it unless it is longer than fits on the page. */
  written(): Promise<string> {
    return writtenIn(this.page);
  }

  /** Waits until one writes together with the others. */
  async together(): Promise<void> {
    await this.page.locator(".draft-field").waitFor();
  }

  /** Waits until the pill says this. */
  async pill(text: RegExp): Promise<void> {
    const pill = this.page.locator(".pill");
    await expect.poll(() => pill.textContent(), { timeout: PATIENCE }).toMatch(text);
  }

  /** Connects at once, unless that happened meanwhile. */
  async connectNow(): Promise<void> {
    const pill = this.page.locator("button.pill");
    await pill.click({ timeout: 1_000 }).catch(() => {});
    await this.pill(/^live/);
  }

  /** Waits until a text stands in the conversation. */
  async sees(text: string | RegExp): Promise<void> {
    await this.page.locator(".column").getByText(text).first().waitFor();
  }

  /** Waits until nothing runs and nothing waits. */
  async idle(): Promise<void> {
    await this.pill(/^live/);
    await expect
      .poll(() => this.page.locator("[data-stop], .queue, .said-sending, .said-queued").count(), {
        timeout: PATIENCE,
      })
      .toBe(0);
  }

  /** Ids of the messages that are shown, in order. */
  async ids(): Promise<string[]> {
    return this.page
      .locator("[data-message]")
      .evaluateAll((all) => all.map((element) => element.getAttribute("data-message") ?? ""));
  }

  /** The whole conversation. */
  async text(): Promise<string> {
    return (await this.page.locator(".column").textContent()) ?? "";
  }

  /** How often people said exactly this. */
  said(text: string): Promise<number> {
    return this.page.locator(".said-text").getByText(text, { exact: true }).count();
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}

/** What a page and its frames complain about from now on; refused connections are none. */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !/WebSocket connection|net::ERR_/.test(text)) complaints.push(text);
  });
  return complaints;
}

/** What stands in the field of a page of the app. */
export function writtenIn(page: Page): Promise<string> {
  return textIn(page.getByLabel("Message"));
}

/** What stands in a field, one that people write in together too; there the carets of others are no part of it. */
export function textIn(field: Locator): Promise<string> {
  return field.evaluate((field) => {
    if (field instanceof HTMLTextAreaElement) return field.value;
    const lines = [...field.querySelectorAll(".cm-line")].map((line) => {
      const text = line.cloneNode(true) as Element;
      for (const caret of text.querySelectorAll(".caret")) caret.remove();
      return text.textContent;
    });
    return lines.join("\n");
  });
}
