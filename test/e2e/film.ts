import type { Page } from "playwright-core";
import { animatedPng, type Still } from "./animated-png.ts";

/** What a film is, as a browser plays it. Pixels, ms. */
export type Played = { frames: number; width: number; height: number; length: number };

/**
 * An animated picture made of screenshots of a page. Each still holds only what differs from the one before, so that
 * the film is small and its text sharp.
 */
export class Film {
  private readonly page: Page;
  private readonly table: Page;
  private readonly stills: Still[] = [];

  /**
   * @param page what is filmed
   * @param table an empty page, where a browser compares the pictures
   */
  constructor(page: Page, table: Page) {
    this.page = page;
    this.table = table;
  }

  /** Takes what the page looks like now, to be shown for so many ms. */
  async take(shownFor: number): Promise<void> {
    const png = await this.page.screenshot({ caret: "initial" });
    const change = await this.table.evaluate(compare, png.toString("base64"));
    const last = this.stills.at(-1);
    if (change) this.stills.push({ ...change, rgba: Buffer.from(change.rgba, "base64"), shownFor });
    else if (last) last.shownFor += shownFor;
  }

  /** All that was taken, as the bytes of an animated PNG. @throws Error when nothing was taken */
  develop(): Buffer {
    return animatedPng(this.stills);
  }
}

/** Plays a film. @param page one of a secure origin @throws Error for what no browser can play */
export function play(page: Page, film: Buffer): Promise<Played> {
  return page.evaluate(async (base64) => {
    const data = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const decoder = new ImageDecoder({ data, type: "image/png" });
    await Promise.all([decoder.completed, decoder.tracks.ready]);
    const frames = decoder.tracks.selectedTrack?.frameCount ?? 0;
    let [length, width, height] = [0, 0, 0];
    for (let frameIndex = 0; frameIndex < frames; frameIndex++) {
      const { image } = await decoder.decode({ frameIndex });
      length += (image.duration ?? 0) / 1_000;
      [width, height] = [image.displayWidth, image.displayHeight];
      image.close();
    }
    return { frames, width, height, length };
  }, film.toString("base64"));
}

type Change = { rgba: string; x: number; y: number; width: number; height: number };

/**
 * Runs in the page of a film's table: finds what is other than in the picture before; in between everything is
 * transparent.
 * @param png base64, as is what it gives
 * @returns `null` when nothing is
 */
async function compare(png: string): Promise<Change | null> {
  const table = window as unknown as { before?: Uint32Array };
  const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("this browser has no canvas");
  context.drawImage(bitmap, 0, 0);
  const now = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const { before } = table;
  table.before = now;
  let [left, top, right, bottom] = [canvas.width, canvas.height, 0, 0];
  for (let i = 0; i < now.length; i++) {
    if (now[i] === before?.[i]) continue;
    const [x, y] = [i % canvas.width, Math.floor(i / canvas.width)];
    left = Math.min(left, x);
    right = Math.max(right, x + 1);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y + 1);
  }
  if (right === 0) return null;
  const [width, height] = [right - left, bottom - top];
  const change = new Uint32Array(width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const i = (top + y) * canvas.width + left + x;
      if (now[i] !== before?.[i]) change[y * width + x] = now[i] as number;
    }
  const address = await new Promise<string>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.readAsDataURL(new Blob([change]));
  });
  return { rgba: address.slice(address.indexOf(",") + 1), x: left, y: top, width, height };
}
