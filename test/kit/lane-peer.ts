import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import * as awareness from "y-protocols/awareness";
import * as sync from "y-protocols/sync";
import * as Y from "yjs";
import type { RawClient } from "./raw-client.ts";

/** A Yjs document on the document lane of a raw socket, as the SDK's is, without anything clever. */
export class LanePeer {
  readonly doc = new Y.Doc();
  readonly awareness: awareness.Awareness;
  readonly raw: RawClient;
  readonly channel: number;
  /** Seqs of the frames that came. */
  readonly seqs: number[] = [];
  /** Sync steps 1 that the server has sent. */
  asked = 0;
  private waiting: (() => void)[] = [];
  private isOpen = false;
  /** While this is set, what is edited here is not sent. */
  isMuted = false;

  constructor(raw: RawClient, channel: number, clientId?: number) {
    this.raw = raw;
    this.channel = channel;
    if (clientId !== undefined) this.doc.clientID = clientId;
    this.awareness = new awareness.Awareness(this.doc);
    raw.socket.on("message", (data: Buffer, binary: boolean) => {
      if (binary) this.receive(new Uint8Array(data));
    });
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== this && this.isOpen && !this.isMuted)
        this.say((encoder) => {
          encoding.writeVarUint(encoder, 0);
          sync.writeUpdate(encoder, update);
        });
    });
    this.awareness.on("update", ({ added, updated, removed }: Record<string, number[]>, origin: unknown) => {
      if (origin === this || !this.isOpen) return;
      this.tell([...added!, ...updated!, ...removed!]);
    });
  }

  /** Opens the lane: what one side lacks, the other sends. */
  open(): void {
    this.isOpen = true;
    this.say((encoder) => {
      encoding.writeVarUint(encoder, 0);
      sync.writeSyncStep1(encoder, this.doc);
    });
  }

  /** Sends sync step 1 with a state vector of the test's own. */
  ask(clocks: Map<number, number>): void {
    this.say((encoder) => {
      encoding.writeVarUint(encoder, 0);
      encoding.writeVarUint(encoder, 0);
      encoding.writeVarUint8Array(encoder, Y.encodeStateVector(clocks));
    });
  }

  /** Sends any bytes on the channel. */
  send(bytes: Uint8Array): void {
    this.say((encoder) => encoding.writeUint8Array(encoder, bytes));
  }

  /** Sends an update that is not in this document. */
  sendUpdate(update: Uint8Array): void {
    this.say((encoder) => {
      encoding.writeVarUint(encoder, 0);
      sync.writeUpdate(encoder, update);
    });
  }

  /** Resolves when something holds, looked at after each frame. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private tell(ids: number[]): void {
    this.say((encoder) => {
      encoding.writeVarUint(encoder, 1);
      encoding.writeVarUint8Array(encoder, awareness.encodeAwarenessUpdate(this.awareness, ids));
    });
  }

  private say(write: (encoder: encoding.Encoder) => void): void {
    const encoder = encoding.createEncoder();
    encoding.writeVarUint(encoder, this.channel);
    write(encoder);
    this.raw.send(encoding.toUint8Array(encoder));
  }

  private receive(frame: Uint8Array): void {
    const decoder = decoding.createDecoder(frame);
    if (decoding.readVarUint(decoder) !== this.channel) return;
    this.seqs.push(decoding.readVarUint(decoder));
    if (decoding.readVarUint(decoder) === 0) {
      const answer = encoding.createEncoder();
      encoding.writeVarUint(answer, 0);
      const step = sync.readSyncMessage(decoder, answer, this.doc, this);
      if (step === sync.messageYjsSyncStep1) this.asked += 1;
      if (encoding.length(answer) > 1) this.send(encoding.toUint8Array(answer));
    } else awareness.applyAwarenessUpdate(this.awareness, decoding.readVarUint8Array(decoder), this);
    const { waiting } = this;
    this.waiting = [];
    for (const look of waiting) look();
  }
}
