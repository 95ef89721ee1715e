import { crc32, deflateSync } from "node:zlib";

/** A picture that is laid over those before it, and how long it stays. */
export type Still = {
  /** Four bytes a pixel, row by row. Where it is transparent, what was there before stays. */
  rgba: Uint8Array;
  /** Its upper left corner, in pixels. */
  x: number;
  y: number;
  width: number;
  height: number;
  /** ms, at most 65535 */
  shownFor: number;
};

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const BITS = 8;
const RGBA = 6;
/** Of a still: it stays when the next one comes, and lets through what is under it. */
const KEPT = 0;
const OVER = 1;

/**
 * Puts stills together to an animated PNG that plays for ever, as the third edition of the PNG specification has it.
 * @param stills the first one is as large as the whole
 */
export function animatedPng(stills: readonly Still[]): Buffer {
  const [first] = stills;
  if (!first) throw new Error("nothing was taken");
  const parts = [SIGNATURE, chunk("IHDR", words(first.width, first.height), bytes(BITS, RGBA, 0, 0, 0))];
  parts.push(chunk("acTL", words(stills.length, 0)));
  // One sequence numbers both kinds of chunks of a still.
  let next = 0;
  for (const still of stills) {
    const { x, y, width, height, shownFor } = still;
    const delay = Buffer.alloc(4);
    delay.writeUInt16BE(shownFor);
    delay.writeUInt16BE(1_000, 2);
    parts.push(chunk("fcTL", words(next++, width, height, x, y), delay, bytes(KEPT, OVER)));
    parts.push(still === first ? chunk("IDAT", pixels(still)) : chunk("fdAT", words(next++), pixels(still)));
  }
  return Buffer.concat([...parts, chunk("IEND")]);
}

/** Rows without a filter: on even ground and text it would help nothing. */
function pixels({ rgba, width, height }: Still): Buffer {
  const row = width * 4;
  const rows = Buffer.alloc((row + 1) * height);
  for (let y = 0; y < height; y++) rows.set(rgba.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  return deflateSync(rows, { level: 9 });
}

function chunk(name: string, ...content: Buffer[]): Buffer {
  const data = Buffer.concat([Buffer.from(name, "latin1"), ...content]);
  return Buffer.concat([words(data.length - name.length), data, words(crc32(data))]);
}

const bytes = (...values: number[]) => Buffer.from(values);

function words(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) buffer.writeUInt32BE(value, i * 4);
  return buffer;
}
