import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import * as protocol from "y-protocols/awareness";
import * as sync from "y-protocols/sync";
import type * as Y from "yjs";
import type { Thread } from "../index.ts";

// The numbers of y-protocols for what a message is about.
const SYNC = 0;
const AWARENESS = 1;

/** What a lane tells. */
export type LaneListener = {
  /** Everything the server had is here, or no longer for certain. */
  synced(isSynced: boolean): void;
  /** Whether something of this document is not stored yet. */
  unsaved(isUnsaved: boolean): void;
};

/**
 * Keeps a Yjs document equal to a thread's while the thread is joined ([Y1]–[Y5]). What is edited meanwhile without
 * a connection is sent when there is one again.
 */
export class Lane {
  private readonly thread: Thread;
  private readonly doc: Y.Doc;
  private readonly awareness: protocol.Awareness;
  private readonly listener: LaneListener;
  private readonly ends: (() => void)[];
  /** Updates sent since the thread was joined, and how many of them are stored. */
  private sent = 0;
  private isOpen = false;
  private isSynced = false;
  private isUnsaved = false;
  /** The next awareness message tells of all who are here. */
  private tellsAll = false;

  constructor(thread: Thread, doc: Y.Doc, awareness: protocol.Awareness, listener: LaneListener) {
    this.thread = thread;
    this.doc = doc;
    this.awareness = awareness;
    this.listener = listener;
    doc.on("update", this.onUpdate);
    awareness.on("update", this.onAwareness);
    this.ends = [
      thread.on("document", (message) => this.receive(message)),
      thread.on("saved", (n) => {
        if (this.isSynced && n >= this.sent) this.setUnsaved(false);
      }),
      thread.on("status", () => {
        if (thread.generation === undefined) this.shut();
      }),
    ];
  }

  /** Begins anew on a channel that was just joined. */
  open(): void {
    this.sent = 0;
    this.isOpen = true;
    this.tellsAll = true;
    this.setSynced(false);
    this.say(SYNC, (encoder) => sync.writeSyncStep1(encoder, this.doc));
    // Said anew, so that it counts more than that this client had gone.
    this.awareness.setLocalState(this.awareness.getLocalState());
  }

  end(): void {
    // Told before it ends, so that nobody has to wait for the connection to go.
    protocol.removeAwarenessStates(this.awareness, [this.awareness.clientID], "end");
    this.isOpen = false;
    this.doc.off("update", this.onUpdate);
    this.awareness.off("update", this.onAwareness);
    for (const end of this.ends) end();
  }

  private readonly onUpdate = (update: Uint8Array, origin: unknown) => {
    if (origin === this) return;
    this.setUnsaved(true);
    if (!this.isOpen) return;
    this.sent += 1;
    this.say(SYNC, (encoder) => sync.writeUpdate(encoder, update));
  };

  private readonly onAwareness = (
    { added, updated, removed }: Record<"added" | "updated" | "removed", number[]>,
    origin: unknown,
  ) => {
    if (origin !== this && this.isOpen) this.tell([...added, ...updated, ...removed]);
  };

  private tell(ids: number[]): void {
    // What others tell is for them to say: their states go here when they are old.
    const own = ids.filter((id) => id === this.awareness.clientID);
    if (own.length === 0) return;
    this.say(AWARENESS, (encoder) =>
      encoding.writeVarUint8Array(encoder, protocol.encodeAwarenessUpdate(this.awareness, own)),
    );
  }

  private say(about: number, write: (encoder: encoding.Encoder) => void): void {
    const encoder = encoding.createEncoder();
    encoding.writeVarUint(encoder, about);
    write(encoder);
    this.thread.sendDocument(encoding.toUint8Array(encoder));
  }

  private receive(message: Uint8Array): void {
    if (!this.isOpen) return;
    const decoder = decoding.createDecoder(message);
    switch (decoding.readVarUint(decoder)) {
      case SYNC: {
        const answer = encoding.createEncoder();
        encoding.writeVarUint(answer, SYNC);
        const step = sync.readSyncMessage(decoder, answer, this.doc, this);
        if (step === sync.messageYjsSyncStep1) {
          this.sent += 1;
          this.thread.sendDocument(encoding.toUint8Array(answer));
        } else if (step === sync.messageYjsSyncStep2) this.setSynced(true);
        return;
      }
      case AWARENESS: {
        const update = decoding.readVarUint8Array(decoder);
        protocol.applyAwarenessUpdate(this.awareness, update, this);
        if (this.tellsAll) this.forgetOthersThan(update);
        this.tellsAll = false;
      }
    }
  }

  /** Who went while this client was away is gone. */
  private forgetOthersThan(update: Uint8Array): void {
    const here = new Set([this.awareness.clientID]);
    const decoder = decoding.createDecoder(update);
    for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
      here.add(decoding.readVarUint(decoder));
      decoding.readVarUint(decoder);
      decoding.readVarString(decoder);
    }
    const gone = [...this.awareness.getStates().keys()].filter((id) => !here.has(id));
    protocol.removeAwarenessStates(this.awareness, gone, this);
  }

  private shut(): void {
    this.isOpen = false;
    this.setSynced(false);
  }

  private setSynced(isSynced: boolean): void {
    if (this.isSynced === isSynced) return;
    this.isSynced = isSynced;
    this.listener.synced(isSynced);
  }

  private setUnsaved(isUnsaved: boolean): void {
    if (this.isUnsaved === isUnsaved) return;
    this.isUnsaved = isUnsaved;
    this.listener.unsaved(isUnsaved);
  }
}
