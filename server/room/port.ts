import type {
  CloseCode,
  Cursor,
  Entry,
  Person,
  RejectCode,
  Role,
  Snapshot,
  ThreadInfo,
  ThreadQuery,
  UpFrameOf,
} from "../../shared/protocol/index.ts";
import { REJECTS } from "../../shared/protocol/index.ts";
import type { ThreadKey } from "../store/store.ts";
import type { PeopleChange } from "./people.ts";

/** Who asks. Everything in it is the server's own knowledge, nothing the client claims. */
export type Caller = {
  tenant: string;
  user: { id: string; name: string };
  client: string;
  connection: string;
  /** What they may do in threads. */
  role: Role;
};

/** The frames that a room answers. */
export type RoomRequest = UpFrameOf<
  | ("submit" | "edit" | "move" | "withdraw" | "cancel" | "answer" | "head")
  | ("tools" | "claim" | "release" | "result")
  | ("patch" | "revert" | "update" | "read" | "earlier")
>;

/**
 * Everything an SDK's reader needs to stand at `seq`: the entries for it behind its cursor ([B5]), or the thread as it
 * is.
 * `window` is the place of the oldest message it holds for certain, -Infinity when it holds all.
 */
export type CatchUp =
  | { kind: "entries"; after: number; seq: number; mark: string; items: Entry[]; window: number }
  | { kind: "snapshot"; snapshot: Snapshot; window: number };

/**
 * Answer to a join ([J1]): where the log stands, what the reader needs to stand there too, and who is here.
 * `n` numbers the changes of `people`, so that those in `all` already are told from later ones.
 */
export type JoinReply = {
  epoch: string;
  seq: number;
  mark: string;
  generation: number;
  recovered: boolean;
  role: Role;
  catchUp: CatchUp;
  people: { n: number; all: Person[]; count?: number };
};

/** Entries as text, encoded once. `sdk`: those of them that the SDK's clients are sent ([B5]). */
export type LoggedText = { json: string[]; sdk: string[] };

/** What a room tells everybody who listens. */
export type Broadcast =
  | ({
      kind: "entries";
      after: number;
      seq: number;
      mark: string;
      /** Readers whose first message stands behind this place need a new snapshot; see MessageList.reach. */
      reach: number;
      /** All readers need a new snapshot: turns are shown that were not shown before. */
      anew: boolean;
    } & LoggedText)
  | ({ kind: "people" } & PeopleChange)
  /**
   * [Y2] What a commit did to the document, in one update; `by`: the connection that all of it came from, which has
   * it already.
   */
  | { kind: "doc"; seq: number; update: Uint8Array; by: string | null }
  /** [Y5] What clients of the document tell about themselves; `by` as above. */
  | { kind: "awareness"; update: Uint8Array; by: string | null }
  /** The room has started over from the store: what was sent to it and not acknowledged is to be sent again. */
  | { kind: "resync" }
  /** The room cannot go on here; readers must join again. */
  | { kind: "lost"; reason: string };

/** The document as far as it is committed, for a peer that lacks something of it. */
export type DocSync = {
  generation: number;
  seq: number;
  /** What the peer lacks. */
  update: Uint8Array;
  /** State vector of the document. */
  vector: Uint8Array;
  /** What the others tell about themselves; `null` when nobody does. */
  awareness: Uint8Array | null;
};

/**
 * What became of an update of a peer: it is committed at `seq`; it builds on something that is not here, in a
 * document of this state vector; its sender may only read; or it is refused, and its sender's connection with it.
 */
export type DocTaken =
  | { kind: "saved"; seq: number }
  | { kind: "missing"; reason: string; vector: Uint8Array }
  | { kind: "forbidden"; reason: string }
  | { kind: "refused"; code: CloseCode; reason: string };

/** A thread as everybody's list shows it. */
export type ListedThread = Omit<ThreadInfo, "unread">;

/**
 * How the gateway reaches rooms: asynchronous, and with arguments that could be sent to another node.
 * A reader first listens, then joins, and drops what it heard up to the seq of the reply.
 */
export interface RoomsPort {
  /** @throws Rejection not_found when there is no such thread and `create` is not set; store_failed */
  join(request: {
    key: ThreadKey;
    caller: Caller;
    cursor: unknown;
    create: boolean;
    history: number;
    /** The first message the reader holds, where it lacks earlier ones. */
    oldest?: string;
  }): Promise<JoinReply>;
  leave(request: { key: ThreadKey; connection: string }): Promise<void>;
  /** Where a reader that fell behind goes on. Without a cursor, or when it is no use: a snapshot. */
  catchUp(request: {
    key: ThreadKey;
    cursor: Cursor | null;
    history: number;
    /** That of the last reply: place of the oldest message the reader holds for certain. */
    window: number;
  }): Promise<Pick<JoinReply, "epoch" | "catchUp" | "people">>;
  /** @returns the fields of the ack @throws Rejection */
  request(request: { key: ThreadKey; caller: Caller; frame: RoomRequest }): Promise<Record<string, unknown>>;
  presence(request: { key: ThreadKey; connection: string; data: Record<string, unknown> }): Promise<void>;
  /**
   * [Y1] Answers a peer's sync step 1.
   * @param request.vector its state vector
   * @returns what it lacks, or why its connection is to be closed
   * @throws Rejection not_found, store_failed
   */
  docSync(request: {
    key: ThreadKey;
    vector: Uint8Array;
  }): Promise<DocSync | (DocTaken & { kind: "refused" })>;
  /** [Y3] Takes in an update of a peer. @throws Rejection not_found, store_failed */
  docUpdate(request: {
    key: ThreadKey;
    caller: Caller;
    update: Uint8Array;
    via: "doc" | "door";
  }): Promise<DocTaken>;
  /** [Y5] Takes in what a peer tells about itself. @returns why its connection is to be closed, else `null` */
  awareness(request: {
    key: ThreadKey;
    caller: Caller;
    update: Uint8Array;
  }): Promise<{ code: CloseCode; reason: string } | null>;
  /** [W3] What lists show of threads, whoever looks. */
  threads(request: { tenant: string; query: ThreadQuery; ids?: string[] }): Promise<ListedThread[]>;
  /** [W4] Of the threads named, those in which somebody has messages to read, and how many. */
  unread(request: { tenant: string; user: string; ids: string[] }): Promise<[id: string, count: number][]>;
  /** Hears a thread's broadcasts on this node. @returns stops it */
  listen(key: ThreadKey, listener: (broadcast: Broadcast) => void): () => void;
  /** Hears that something a thread list shows has changed. @returns stops it */
  onThreadChange(listener: (key: ThreadKey) => void): () => void;
}

/** A request that is refused: a documented code and a sentence for the person behind the client. */
export class Rejection extends Error {
  override name = "Rejection";
  readonly code: RejectCode;
  readonly details: unknown;
  constructor(code: RejectCode, message: string, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
  /** Whether the same request may succeed later. */
  get retry(): boolean {
    return REJECTS[this.code].retry;
  }
}
