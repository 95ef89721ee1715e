import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import WebSocket from "ws";
import * as Y from "yjs";
import { many } from "./many.ts";
import { monotonicMs } from "./monotonic.ts";
import type { PartRole } from "./part-role.ts";
import { percentile } from "./statistics.ts";
import { joinThread, openClient } from "./wire-client.ts";

/** By which way editors reach a document. */
export type Way = "lane" | "door" | "hocuspocus";
/** How many editors type how often. */
export type Typing = { way: Way; url: string; name: string; editors: number; keys: number; everyMs: number };
/** How it went: when all had all, ms; carets' ages, ms. */
export type Typed = { ms: number; delivered: number; p50: number; p99: number };

const SYNC = 0;
const AWARENESS = 1;
/** Of the first thread that a connection joins. */
const CHANNEL = 1;
/** Client ids of the editors. */
const FIRST = 10_000;
/** A caret moves with every so many keys. */
const CARET = 5;

/** Editors without documents: they send what was typed before, and count what the others' typing brought. */
export const yjsEditors: PartRole = () => ({
  async type(typing: Typing): Promise<Typed> {
    const { editors, keys, everyMs } = typing;
    const ages: number[] = [];
    const all: Editor[] = [];
    await many(editors, 20, async (i) => {
      all[i] = await Editor.open(typing, i, (age) => ages.push(age));
    });
    const start = monotonicMs();
    await Promise.all(
      all.map(async (editor, i) => {
        // Not all at the same moment.
        await pause((i * everyMs) / editors);
        for (let n = 0; n < keys; n += 1) {
          editor.press(n);
          await pause(everyMs);
        }
      }),
    );
    await Promise.all(all.map((editor) => editor.hasAll((editors - 1) * keys)));
    const ms = monotonicMs() - start;
    for (const editor of all) editor.close();
    return {
      ms,
      delivered: editors * (editors - 1) * keys,
      p50: percentile(ages, 50),
      p99: percentile(ages, 99),
    };
  },
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

class Editor {
  private readonly updates: Uint8Array[];
  private readonly socket: WebSocket;
  private readonly head: (encoder: encoding.Encoder) => void;
  private readonly id: number;
  private readonly clocks = new Map<number, number>();
  private waiting: (() => void) | null = null;

  private constructor(
    socket: WebSocket,
    id: number,
    updates: Uint8Array[],
    head: (encoder: encoding.Encoder) => void,
    body: (decoder: decoding.Decoder) => boolean,
    seen: (age: number) => void,
  ) {
    this.socket = socket;
    this.id = id;
    this.updates = updates;
    this.head = head;
    socket.on("message", (data: Buffer, binary: boolean) => {
      if (!binary) return;
      const decoder = decoding.createDecoder(new Uint8Array(data));
      if (body(decoder)) this.read(decoder, seen);
    });
  }

  static async open(
    { way, url, name, keys }: Typing,
    i: number,
    seen: (age: number) => void,
  ): Promise<Editor> {
    const id = FIRST + i;
    const updates = typed(id, keys);
    if (way === "lane") {
      const socket = await openClient(url, `${name}-${i}`);
      await joinThread(socket, name);
      const editor = new Editor(
        socket,
        id,
        updates,
        (encoder) => encoding.writeVarUint(encoder, CHANNEL),
        (decoder) => decoding.readVarUint(decoder) === CHANNEL && decoding.readVarUint(decoder) >= 0,
        seen,
      );
      await editor.sync();
      return editor;
    }
    const path = way === "door" ? `/v1/yjs/${name}?user=e${i}&name=e${i}` : "";
    const socket = new WebSocket(`${url.replace("http", "ws")}${path}`, { perMessageDeflate: false });
    socket.binaryType = "nodebuffer";
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const hocuspocus = way === "hocuspocus";
    const editor = new Editor(
      socket,
      id,
      updates,
      (encoder) => hocuspocus && encoding.writeVarString(encoder, name),
      (decoder) => !hocuspocus || decoding.readVarString(decoder) === name,
      seen,
    );
    // Its authentication: a message of its own, which any token passes here.
    if (hocuspocus)
      editor.send(2, (encoder) => {
        encoding.writeVarUint(encoder, 0);
        encoding.writeVarString(encoder, "token");
        encoding.writeVarString(encoder, "bench");
      });
    await editor.sync();
    return editor;
  }

  /** Sends one typed character, and now and then where the caret is. */
  press(n: number): void {
    this.send(SYNC, (encoder) => {
      encoding.writeVarUint(encoder, 2);
      encoding.writeVarUint8Array(encoder, this.updates[n] as Uint8Array);
    });
    if (n % CARET !== 0) return;
    this.send(AWARENESS, (encoder) => {
      const state = encoding.createEncoder();
      encoding.writeVarUint(state, 1);
      encoding.writeVarUint(state, this.id);
      encoding.writeVarUint(state, n + 1);
      encoding.writeVarString(state, JSON.stringify({ cursor: n, at: monotonicMs() }));
      encoding.writeVarUint8Array(encoder, encoding.toUint8Array(state));
    });
  }

  /** Resolves when so many characters of others have come. */
  hasAll(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.waiting = () => {
        const sum = [...this.clocks].reduce((all, [id, clock]) => (id === this.id ? all : all + clock), 0);
        if (sum >= count) resolve();
      };
      this.waiting();
    });
  }

  close(): void {
    this.socket.close();
  }

  private sync(): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      this.waiting = resolve;
    });
    this.send(SYNC, (encoder) => {
      encoding.writeVarUint(encoder, 0);
      encoding.writeVarUint8Array(encoder, Y.encodeStateVector(new Y.Doc()));
    });
    return answered;
  }

  private send(about: number, write: (encoder: encoding.Encoder) => void): void {
    const encoder = encoding.createEncoder();
    this.head(encoder);
    encoding.writeVarUint(encoder, about);
    write(encoder);
    this.socket.send(encoding.toUint8Array(encoder));
  }

  private read(decoder: decoding.Decoder, seen: (age: number) => void): void {
    const about = decoding.readVarUint(decoder);
    if (about === AWARENESS) return this.look(decoding.readVarUint8Array(decoder), seen);
    // Hocuspocus answers step 1 with a kind of its own.
    if (about !== SYNC && about !== 4) return;
    if (decoding.readVarUint(decoder) === 0) return;
    const { to } = Y.parseUpdateMeta(decoding.readVarUint8Array(decoder));
    for (const [id, clock] of to) this.clocks.set(id, Math.max(clock, this.clocks.get(id) ?? 0));
    this.waiting?.();
  }

  private look(update: Uint8Array, seen: (age: number) => void): void {
    const now = monotonicMs();
    const decoder = decoding.createDecoder(update);
    for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
      const id = decoding.readVarUint(decoder);
      decoding.readVarUint(decoder);
      const state = JSON.parse(decoding.readVarString(decoder)) as { at?: number } | null;
      if (id !== this.id && state?.at !== undefined) seen(now - state.at);
    }
  }
}

/** The updates of somebody who types so many characters into the draft, one each. */
function typed(id: number, keys: number): Uint8Array[] {
  const doc = new Y.Doc();
  doc.clientID = id;
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  for (let n = 0; n < keys; n += 1) doc.getText("draft").insert(n, "x");
  return updates;
}
