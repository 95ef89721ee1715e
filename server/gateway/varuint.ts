/**
 * Reads the unsigned LEB128 number at the start of a binary frame: its channel.
 * @returns the number, or `null` when the bytes end in it or it is over 53 bits
 */
export function readVaruint(bytes: Uint8Array): number | null {
  let value = 0;
  for (let i = 0; i < Math.min(bytes.length, 8); i += 1) {
    const byte = bytes[i] as number;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return Number.isSafeInteger(value) ? value : null;
  }
  return null;
}

/** How many bytes a number takes as {@link readVaruint} reads it. */
export function varuintLength(value: number): number {
  let length = 1;
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) length += 1;
  return length;
}
