import { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { parsePointer } from "../../shared/json-crdt/pointer.ts";
import { DRAFT, STATE, stateOf } from "../../shared/json-crdt/y-json.ts";
import { CothreadError } from "../cothread-error.ts";
import { createEmitter } from "../emitter.ts";
import { createGate } from "../gate.ts";
import type { Thread } from "../index.ts";
import { Lane } from "./lane.ts";
import { type OfflineWork, replayWork, takeOfflineWork } from "./offline-work.ts";
import {
  keepGeneration,
  keptGeneration,
  type Persistence,
  type PersistenceConstructor,
} from "./persistence.ts";

/** How a document is opened. */
export type DocOptions = {
  /**
   * Keeps the document in this browser too, so that it is there at once and without a connection: the class
   * `IndexeddbPersistence` of the package y-indexeddb, or one like it. What was edited without a connection and kept
   * is lost when the server makes the document anew before this page is open again.
   */
  persist?: PersistenceConstructor;
};

/** A thread's shared document in this client. */
export interface ThreadDoc {
  /**
   * The document. It may become another one, when the server has made it anew: so it, `state`, `draft` and `awareness`
   * are to be read where they are needed, and anew when {@link ThreadDoc.subscribe} says that something has changed.
   */
  readonly doc: Y.Doc;
  /** The agent's state, while that is an object: the root type `state`. */
  readonly state: Y.Map<unknown>;
  /** The prompt that people write together: the root type `draft`. */
  readonly draft: Y.Text;
  /** Carets and whatever else clients tell about themselves. */
  readonly awareness: Awareness;
  /** Whether everything the server had is here. */
  readonly synced: boolean;
  /** Whether something that was edited here is not stored yet: it is lost when the page goes, unless it persists. */
  readonly unsaved: boolean;
  /** Resolves when it is synced for the first time. Rejects when it is closed before. */
  readonly ready: Promise<void>;
  /** The text field at a pointer into the state; `undefined` where there is none. @throws PointerError */
  text(pointer: string): Y.Text | undefined;
  /** Calls the listener when `synced`, `unsaved` or `doc` changed. Returns the way out. */
  subscribe(listener: () => void): () => void;
  /** Lets go of it: as often as it was opened. */
  close(): void;
}

const open = new WeakMap<Thread, { doc: OpenDoc; holds: number }>();

/**
 * Opens the shared document of a thread, which stays joined meanwhile. Opened twice it is one document.
 * @param thread of a client of this page
 */
export function openDoc(thread: Thread, options: DocOptions = {}): ThreadDoc {
  let held = open.get(thread);
  if (!held) {
    held = { doc: new OpenDoc(thread, options), holds: 0 };
    open.set(thread, held);
  }
  held.holds += 1;
  const { doc } = held;
  let isOpen = true;
  return Object.create(doc, {
    close: {
      value() {
        if (!isOpen || !held) return;
        isOpen = false;
        held.holds -= 1;
        if (held.holds > 0) return;
        open.delete(thread);
        doc.end();
      },
    },
  });
}

class OpenDoc implements Omit<ThreadDoc, "close"> {
  doc!: Y.Doc;
  awareness!: Awareness;
  synced = false;
  unsaved = false;
  private readonly thread: Thread;
  private readonly options: DocOptions;
  private readonly emitter = createEmitter<{ change: [] }>();
  private readonly gate = createGate();
  private readonly ends: (() => void)[];
  private lane!: Lane;
  private generation: number | undefined;
  private persistence: Persistence | undefined;
  /** What the document was when the connection was lost, until it is synced again. */
  private offline: OfflineWork | null = null;
  /** Whether the document has been synced since it is open; before, it may be anything that was kept. */
  private wasSynced = false;
  /** What was kept of the document in this browser, and nothing that was edited since it is open. */
  private kept!: Y.Doc;
  /** What was edited in a document that has been made anew since: it is done again in the new one. */
  private again: { work: OfflineWork; doc: Y.Doc } | null = null;

  constructor(thread: Thread, options: DocOptions) {
    this.thread = thread;
    this.options = options;
    this.generation = options.persist ? keptGeneration(thread.id) : undefined;
    this.begin();
    this.ends = [
      thread.hold(),
      thread.on("joined", (generation) => this.joined(generation)),
      thread.on("presence", () => this.tellPresence()),
      thread.on("status", () => {
        if (thread.generation === undefined && this.wasSynced)
          this.offline ??= takeOfflineWork(thread.state, this.doc);
      }),
    ];
    if (thread.generation !== undefined) this.joined(thread.generation);
  }

  get state(): Y.Map<unknown> {
    return this.doc.getMap(STATE);
  }

  get draft(): Y.Text {
    return this.doc.getText(DRAFT);
  }

  get ready(): Promise<void> {
    return this.gate.promise;
  }

  // Arrows, so that they can be taken out of the object.
  readonly text = (pointer: string): Y.Text | undefined => {
    let found: unknown = this.state;
    for (const token of parsePointer(pointer)) {
      if (found instanceof Y.Map) found = found.get(token);
      else if (found instanceof Y.Array) found = found.get(Number(token));
      else return undefined;
    }
    return found instanceof Y.Text ? found : undefined;
  };

  readonly subscribe = (listener: () => void): (() => void) => this.emitter.on("change", listener);

  end(): void {
    for (const end of this.ends) end();
    this.gate.bar(new CothreadError("closed", "The document was closed."));
    this.drop();
  }

  private joined(generation: number): void {
    const before = this.generation;
    this.generation = generation;
    const isAnother = before !== undefined && before !== generation;
    if (isAnother) {
      if (this.unsaved) {
        const work = this.offline ?? takeOfflineWork(stateOf(this.kept), this.kept);
        this.again ??= { work, doc: this.doc };
      }
      this.drop();
      this.begin();
    } else if (before === undefined) this.persist();
    this.lane.open();
    this.emitter.emit("change");
  }

  private begin(): void {
    this.doc = new Y.Doc();
    this.awareness = new Awareness(this.doc);
    this.tellPresence();
    this.synced = this.unsaved = this.wasSynced = false;
    this.offline = null;
    this.kept = new Y.Doc();
    this.lane = new Lane(this.thread, this.doc, this.awareness, {
      synced: (isSynced) => {
        this.synced = isSynced;
        if (isSynced) {
          this.gate.open();
          this.wasSynced = true;
          this.offline = null;
          this.kept = new Y.Doc();
          const { again } = this;
          this.again = null;
          if (again) replayWork(again.work, again.doc, this.thread, this.doc);
        }
        this.emitter.emit("change");
      },
      unsaved: (isUnsaved) => {
        this.unsaved = isUnsaved;
        this.emitter.emit("change");
      },
    });
    this.doc.on("update", (update: Uint8Array, origin: unknown, _doc: Y.Doc, { local }: Y.Transaction) => {
      if (!local && origin !== this.lane && !this.wasSynced) Y.applyUpdate(this.kept, update);
    });
    if (this.generation !== undefined) this.persist();
  }

  /** Who follows the awareness learns what others learn of the people ([W2]). */
  private tellPresence(): void {
    const { ownPresence } = this.thread;
    const isNew = JSON.stringify(this.awareness.getLocalState()?.data ?? {}) !== JSON.stringify(ownPresence);
    if (isNew) this.awareness.setLocalStateField("data", ownPresence);
  }

  private persist(): void {
    const { persist } = this.options;
    if (!persist || this.persistence) return;
    const { generation = 0, thread } = this;
    keepGeneration(thread.id, generation);
    this.persistence = new persist(`cothread ${thread.id} ${generation}`, this.doc);
  }

  private drop(): void {
    this.lane.end();
    void this.persistence?.destroy();
    this.persistence = undefined;
    this.awareness.destroy();
  }
}
