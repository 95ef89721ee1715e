/**
 * Reads an unsigned LEB128 number of a binary frame ([Y1]).
 * @param at where it begins
 * @returns the number and where it ends, or `null` when the bytes end in it or it is over 53 bits
 */
export function readVaruint(bytes: Uint8Array, at = 0): [value: number, end: number] | null {
  let value = 0;
  for (let i = 0; i < 8; i += 1) {
    const byte = bytes[at + i];
    if (byte === undefined) return null;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return Number.isSafeInteger(value) ? [value, at + i + 1] : null;
  }
  return null;
}

/** Bytes with a number before them. @param value an unsigned integer of at most 53 bits */
export function withVaruint(value: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const head: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) head.push((left % 0x80) + 0x80);
  const all = new Uint8Array(head.length + 1 + bytes.length);
  all.set([...head, left]);
  all.set(bytes, head.length + 1);
  return all;
}
