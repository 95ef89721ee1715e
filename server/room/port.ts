import type {
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

/** Who asks. Everything in it is the server's own knowledge, nothing the client claims. */
export type Caller = {
  tenant: string;
  user: { id: string; name: string };
  client: string;
  connection: string;
};

/** The frames that a room answers. */
export type RoomRequest = UpFrameOf<
  "submit" | "withdraw" | "cancel" | "patch" | "revert" | "update" | "earlier"
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
  people: { n: number; all: Person[] };
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
    } & LoggedText)
  | { kind: "people"; n: number; join: Person[]; leave: string[]; update: Person[] }
  /** The room cannot go on here; readers must join again. */
  | { kind: "lost"; reason: string };

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
  threads(request: { tenant: string; query: ThreadQuery; ids?: string[] }): Promise<ThreadInfo[]>;
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
