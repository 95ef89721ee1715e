import * as decoding from "lib0/decoding";

/** Bytes a state vector may have: some ten thousand clients. */
const LONGEST = 256 * 1024;

/**
 * Reads a peer's state vector without believing its numbers.
 * @returns the clock of each client; `null` when it is no state vector, or one of more than 256 KiB
 */
export function readStateVector(bytes: Uint8Array): Map<number, number> | null {
  if (bytes.byteLength > LONGEST) return null;
  const clocks = new Map<number, number>();
  try {
    const decoder = decoding.createDecoder(bytes);
    for (let left = decoding.readVarUint(decoder); left > 0; left -= 1)
      clocks.set(decoding.readVarUint(decoder), decoding.readVarUint(decoder));
    return decoding.hasContent(decoder) ? null : clocks;
  } catch {
    return null;
  }
}
