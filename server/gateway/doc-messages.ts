import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { binaryFrame, type SharedFrame } from "./shared-frame.ts";

// The numbers of y-protocols: what a message is about, and for sync what of it.
const SYNC = 0;
const AWARENESS = 1;
const QUERY_AWARENESS = 3;
const STEP_1 = 0;
const STEP_2 = 1;
const UPDATE = 2;

/** A message of y-protocols, as far as a server gets any. */
export type DocMessage =
  | { kind: "step1"; vector: Uint8Array }
  | { kind: "update"; update: Uint8Array }
  | { kind: "awareness"; update: Uint8Array }
  | { kind: "query-awareness" };

/** Reads a message of y-protocols ([Y1]). @returns `null` when it is none */
export function readDocMessage(bytes: Uint8Array): DocMessage | null {
  try {
    const decoder = decoding.createDecoder(bytes);
    const message = readBody(decoder);
    return decoding.hasContent(decoder) ? null : message;
  } catch {
    return null;
  }
}

function readBody(decoder: decoding.Decoder): DocMessage | null {
  switch (decoding.readVarUint(decoder)) {
    case SYNC: {
      const step = decoding.readVarUint(decoder);
      const body = decoding.readVarUint8Array(decoder);
      if (step === STEP_1) return { kind: "step1", vector: body };
      // Both are updates; step 2 is only the first of them.
      return step === STEP_2 || step === UPDATE ? { kind: "update", update: body } : null;
    }
    case AWARENESS:
      return { kind: "awareness", update: decoding.readVarUint8Array(decoder) };
    case QUERY_AWARENESS:
      return { kind: "query-awareness" };
    default:
      return null;
  }
}

/** Sync step 1: what the server has. */
export function step1Message(vector: Uint8Array): Uint8Array {
  return message([SYNC, STEP_1], vector);
}

/** Sync step 2: what the peer lacks. */
export function step2Message(update: Uint8Array): Uint8Array {
  return message([SYNC, STEP_2], update);
}

/** What a commit has changed. */
export function updateMessage(update: Uint8Array): Uint8Array {
  return message([SYNC, UPDATE], update);
}

/** What clients tell about themselves. */
export function awarenessMessage(update: Uint8Array): Uint8Array {
  return message([AWARENESS], update);
}

function message(head: readonly number[], body: Uint8Array): Uint8Array {
  return encoded((encoder) => {
    for (const number of head) encoding.writeVarUint(encoder, number);
    encoding.writeVarUint8Array(encoder, body);
  });
}

/** A frame of the document lane: the channel, the seq the message is as of, the message. */
export function laneFrame(channel: number, seq: number, body: Uint8Array): Uint8Array {
  return encoded((encoder) => {
    encoding.writeVarUint(encoder, channel);
    encoding.writeVarUint(encoder, seq);
    encoding.writeUint8Array(encoder, body);
  });
}

function encoded(write: (encoder: encoding.Encoder) => void): Uint8Array {
  const encoder = encoding.createEncoder();
  write(encoder);
  return encoding.toUint8Array(encoder);
}

/** A message for many peers, encoded when the first one wants it, and once for each channel number. */
export class SharedMessage {
  private readonly encode: () => Uint8Array;
  private body: SharedFrame | null = null;
  private readonly frames = new Map<string, SharedFrame>();

  constructor(encode: () => Uint8Array) {
    this.encode = encode;
  }

  /** The message by itself. */
  get bare(): SharedFrame {
    this.body ??= binaryFrame(this.encode());
    return this.body;
  }

  /** The same as a frame of a lane. Most connections have the same few channel numbers. */
  onLane(channel: number, seq: number): SharedFrame {
    const key = `${channel} ${seq}`;
    let frame = this.frames.get(key);
    if (!frame) {
      frame = binaryFrame(laneFrame(channel, seq, this.bare.frame));
      this.frames.set(key, frame);
    }
    return frame;
  }
}
