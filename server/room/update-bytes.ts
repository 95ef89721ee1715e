import { createDecoder, type Decoder, readVarString, readVarUint } from "lib0/decoding";
import { malformed } from "./update-refusal.ts";

/** What Yjs counts clocks and lengths up to here; honest documents stay far below. */
const CLOCK_END = 2 ** 31;

/** Reads the bytes of an update once, and never past their end or by a number that they cannot hold. */
export class UpdateBytes {
  private readonly from: Decoder;

  constructor(bytes: Uint8Array) {
    this.from = createDecoder(bytes);
  }

  /** Bytes behind the current place. */
  get left(): number {
    return this.from.arr.length - this.from.pos;
  }

  byte(): number {
    const { arr, pos } = this.from;
    if (pos >= arr.length) throw malformed("it ends too early");
    this.from.pos += 1;
    return arr[pos] as number;
  }

  /** @throws UpdateRefusal malformed for what is no safe integer too */
  uint(): number {
    const found = readVarUint(this.from);
    // A long row of continuation bytes adds up to NaN.
    if (!Number.isSafeInteger(found)) throw malformed("a number in it is out of range");
    return found;
  }

  /** Reads how many things follow that take at least `size` bytes each. */
  count(size: number): number {
    const found = this.uint();
    if (found * size > this.left) throw malformed("it announces more than it holds");
    return found;
  }

  clock(): number {
    const found = this.uint();
    if (found >= CLOCK_END) throw malformed("a clock in it is out of range");
    return found;
  }

  /** Reads a length that may not be 0, of what begins at a clock. */
  length(clock: number): number {
    const found = this.uint();
    if (found === 0) throw malformed("something in it has no length");
    if (clock + found >= CLOCK_END) throw malformed("a clock in it is out of range");
    return found;
  }

  /** Reads a string; bytes that are no UTF-8 throw, so it never holds half a surrogate pair. */
  text(): string {
    return readVarString(this.from);
  }

  skip(bytes: number): void {
    if (bytes > this.left) throw malformed("it ends too early");
    this.from.pos += bytes;
  }

  /** Reads a float of 4 or 8 bytes. */
  float(bytes: 4 | 8): number {
    const { arr, pos } = this.from;
    this.skip(bytes);
    const view = new DataView(arr.buffer, arr.byteOffset + pos, bytes);
    return bytes === 4 ? view.getFloat32(0) : view.getFloat64(0);
  }
}
