import { byteSize } from "../../shared/byte-size.ts";
import { RunFailure } from "./failure.ts";

/**
 * Cuts a response body at the borders of its events, so that a parser is only ever given whole ones: the
 * stock parsers look at all they hold again with each chunk, which for a large event in small chunks is the
 * square of its size.
 */
export interface Framing {
  /** Takes a chunk. @returns the whole events it completed, if any @throws RunFailure AGENT_TOO_BIG */
  push(chunk: Uint8Array): Uint8Array | null;
  /** What is left when the body has ended: the beginning of an event, or one without its border. */
  rest(): Uint8Array | null;
}

/**
 * Server-sent events, which end at an empty line. Line ends of all three kinds become "\n", the only one
 * that the stock parser knows.
 * @param limit bytes of one event
 * @param agent name for the sentence
 */
export function sseFraming(limit: number, agent: string): Framing {
  const held = hold(limit, agent);
  let afterReturn = false;
  let afterNewline = false;
  return {
    push(raw) {
      const chunk = plainLines(raw, afterReturn);
      afterReturn = raw.at(-1) === 0x0d;
      if (chunk.length === 0) return null;
      const last = chunk.lastIndexOf("\n\n");
      const end = last >= 0 ? last + 2 : afterNewline && chunk[0] === 0x0a ? 1 : 0;
      afterNewline = chunk.at(-1) === 0x0a;
      if (end > 0) return held.take(chunk, end);
      held.add(chunk);
      return null;
    },
    rest: held.rest,
  };
}

/** AG-UI's binary form: each event behind its length, a 32-bit big-endian number. */
export function protobufFraming(limit: number, agent: string): Framing {
  const held = hold(limit, agent);
  /** Bytes until the event under way is whole; unknown while its length is not. */
  let missing: number | null = null;
  let head: number[] = [];
  return {
    push(raw) {
      const chunk = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
      let border = -1;
      for (let at = 0; at < chunk.length; ) {
        if (missing === null) {
          head.push(chunk[at] as number);
          at += 1;
          if (head.length < 4) continue;
          missing = head.reduce((sum, byte) => sum * 256 + byte, 0);
          head = [];
          if (missing > limit) throw tooBig(limit, agent);
        }
        const step = Math.min(missing, chunk.length - at);
        at += step;
        missing -= step;
        if (missing > 0) continue;
        missing = null;
        border = at;
      }
      if (border < 0) {
        held.add(chunk);
        return null;
      }
      return held.take(chunk, border);
    },
    rest: held.rest,
  };
}

function hold(limit: number, agent: string) {
  let pieces: Uint8Array[] = [];
  let size = 0;
  const add = (piece: Uint8Array) => {
    size += piece.length;
    // Some room for what frames an event beside its JSON.
    if (size > limit + 1_024) throw tooBig(limit, agent);
    if (piece.length > 0) pieces.push(piece);
  };
  return {
    add,
    /** @returns what was held, with the chunk up to `end`; the chunk's rest is held from then on */
    take(chunk: Uint8Array, end: number): Uint8Array {
      const whole =
        pieces.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...pieces, chunk.subarray(0, end)]);
      pieces = [];
      size = 0;
      add(chunk.subarray(end));
      return whole;
    },
    rest(): Uint8Array | null {
      const left = size > 0 ? Buffer.concat(pieces) : null;
      pieces = [];
      size = 0;
      return left;
    },
  };
}

/** @param afterReturn whether the chunk before ended in "\r", which was made a line end already */
function plainLines(chunk: Uint8Array, afterReturn: boolean): Buffer {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  if (!afterReturn && !bytes.includes(0x0d)) return bytes;
  const plain = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let last = afterReturn ? 0x0d : 0;
  for (const byte of bytes) {
    if (byte !== 0x0a || last !== 0x0d) {
      plain[length] = byte === 0x0d ? 0x0a : byte;
      length += 1;
    }
    last = byte;
  }
  return plain.subarray(0, length);
}

function tooBig(limit: number, agent: string): RunFailure {
  return new RunFailure("AGENT_TOO_BIG", `${agent} sent an event of more than ${byteSize(limit)}.`);
}
