/** A frame for many readers, encoded once: by itself, and with its WebSocket header. */
export type SharedFrame = { frame: Uint8Array; framed: Uint8Array };

/** @returns a text frame (RFC 6455, 5.2: final, unmasked) */
export function textFrame(text: string): SharedFrame {
  const { framed, head } = headed(0x81, Buffer.byteLength(text));
  framed.write(text, head);
  return { frame: framed.subarray(head), framed };
}

/** @returns a binary frame */
export function binaryFrame(bytes: Uint8Array): SharedFrame {
  const { framed, head } = headed(0x82, bytes.byteLength);
  framed.set(bytes, head);
  return { frame: framed.subarray(head), framed };
}

/** Room for a frame behind its header. */
function headed(first: number, length: number): { framed: Buffer; head: number } {
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const framed = Buffer.allocUnsafe(head + length);
  framed[0] = first;
  if (head === 2) framed[1] = length;
  else if (head === 4) {
    framed[1] = 126;
    framed.writeUInt16BE(length, 2);
  } else {
    framed[1] = 127;
    framed.writeBigUInt64BE(BigInt(length), 2);
  }
  return { framed, head };
}
