import type { Entry } from "../../shared/protocol/index.ts";

/** Names one thread of one tenant. Equal thread ids in two tenants never meet. */
export type ThreadKey = { tenant: string; thread: string };

/** An entry with its place in the log, as one line of JSON: stored and sent without encoding it twice. */
export type EncodedEntry = { seq: number; json: string };

/** A message or turn of the stored fold, as a row that is upserted when it changed. */
export type FoldMessage = {
  id: string;
  /** Order within the thread; fractions stand between whole numbers. */
  place: number;
  json: string;
};
/** A turn of the stored fold ([L6]), in its place among the thread's turns. */
export type FoldTurn = { id: string; place: number; json: string };

/** What brings the stored fold from where it stood to `seq`. */
export type FoldChange = {
  /** The fold stands for all entries up to and with this seq. */
  seq: number;
  /** Everything that is neither a message nor a turn. */
  rest: string;
  messages: FoldMessage[];
  turns: FoldTurn[];
  /** Ids of messages that are no longer there. */
  dropped: string[];
};

/** A submitted input with what is not in the log: tools, context, forwardedProps, who asked. */
export type InputRow = {
  inputId: string;
  status: "queued" | "running" | "done" | "failed" | "withdrawn";
  json: string;
};

/** How long an ack is remembered, ms: 24 h. */
export const ACK_KEPT_MS = 24 * 60 * 60 * 1000;

/** The answer to an idempotent request, kept for 24 h. */
export type AckRow = {
  user: string;
  /** Request type and key, e.g. `submit:<inputId>`. */
  key: string;
  /** Fingerprint of the request; another request under the same key is a conflict. */
  hash: string;
  /** When it was given, ms. */
  at: number;
  json: string;
};

/** [W4] Up to which seq somebody has read, and how many of the thread's messages they have read or written. */
export type ReadRow = { user: string; seq: number; heard: number };

/** What the thread list shows of a thread. Absent fields stay as they are. */
export type ThreadChange = {
  title?: string;
  archived?: boolean;
  agent?: string | null;
  updatedAt?: number;
  /** At most 120 characters. */
  lastMessage?: string;
  running?: boolean;
  waiting?: boolean;
  /** How many messages people and agents have written; see {@link ReadRow}. */
  said?: number;
  /** Has runs under way or inputs queued: looked at when a server boots. */
  unfinished?: boolean;
};

/** A thread as lists show it ([W3]); times in ms since the epoch, `lastMessage` at most 120 characters. */
export type ThreadRow = {
  id: string;
  title: string;
  archived: boolean;
  agent: string | null;
  createdAt: number;
  updatedAt: number;
  lastMessage: string;
  running: boolean;
  waiting: boolean;
};

/** What one entry changed of the shared state, with what takes it back; `run`: the one it belongs to. */
export type ChangeRow = { seq: number; run: string | null; json: string };
/** What is known of an agent in a thread. */
export type AgentRow = { agent: string; json: string };

/** What a turn does to the shared document and what belongs to it. */
export type StateWrite = {
  /** Yjs updates (v1), in order. */
  updates: Uint8Array[];
  /** All of the document, these updates included: takes the place of what is stored of it. */
  whole?: Uint8Array;
  /**
   * The document is made anew: `whole` is of this generation, one above the stored one's, or the batch is refused as
   * `conflict`. So is the same batch committed again, which finds the generation it has made.
   */
  generation?: number;
  /** By seq, of this turn's entries. */
  changes: ChangeRow[];
  /** Upserted by agent. */
  agents: AgentRow[];
};

/** One room's turn: all of it is committed or none. */
export type Batch = {
  key: ThreadKey;
  /** Fencing token of the room's owner; a lower one than the stored is refused. */
  ownerEpoch: number;
  /** Unique id of this commit. The same batch committed again succeeds and changes nothing. */
  mark: string;
  /** The seq the log must stand at; entries are dense from `after + 1`. */
  after: number;
  entries: EncodedEntry[];
  /** Present in the batch that creates the thread; refused as `conflict` when it is there already. */
  create?: { epoch: string; at: number };
  fold?: FoldChange;
  /** Upserted by inputId. */
  inputs?: InputRow[];
  acks?: AckRow[];
  /** Upserted by user; one whose seq is below the stored one is left out: a mark never moves back. */
  reads?: ReadRow[];
  info?: ThreadChange;
  state?: StateWrite;
};

/**
 * `fenced`: another owner has the thread. `conflict`: the log does not stand at `after`. `failed`: nothing
 * was written. `unknown`: it may have been written; commit the same batch again to find out.
 */
export type CommitResult =
  | { ok: true; duplicate: boolean }
  | { ok: false; code: "fenced" | "conflict" | "failed" | "unknown"; error: Error };

/** What a room starts from: the stored fold, and where log and document stand. */
export type Loaded = {
  epoch: string;
  seq: number;
  mark: string;
  generation: number;
  ownerEpoch: number;
  createdAt: number;
  fold: { seq: number; rest: string; messages: FoldMessage[]; turns: FoldTurn[] } | null;
  /** Inputs that are queued or running. */
  inputs: InputRow[];
  /** The shared document, as Yjs updates to be applied in order; none when there is no document. */
  doc: Uint8Array[];
  agents: AgentRow[];
  reads: ReadRow[];
};

/** Which threads a list has: those of one tenant that match everything given, at most `limit`. */
export type ThreadsQuery = {
  tenant: string;
  archived?: boolean;
  /** Case-insensitive part of title or last message. */
  text?: string;
  limit: number;
  /** Only these threads. */
  ids?: string[];
};

/**
 * Where threads live. Every implementation passes `test/contract/store.ts`.
 *
 * Guarantees: a batch is all or nothing; what `commit` reported as `ok` survives kill -9 of the process;
 * batches of one call fail one by one; a read that cannot be done throws and never gives an empty result.
 */
export interface Store {
  /** For people: `sqlite:/path/file.db`, `memory:`. */
  readonly name: string;
  /** Commits the batches, each by itself, and reports on each at its index. Never throws. */
  commit(batches: Batch[]): Promise<CommitResult[]>;
  /** Up to `limit` entries behind `after`, in order. */
  read(key: ThreadKey, after: number, limit: number): Promise<Entry[]>;
  /** `null` when there is no such thread. */
  load(key: ThreadKey): Promise<Loaded | null>;
  /** The mark of the commit that wrote `seq`; `null` when the log does not have it. */
  mark(key: ThreadKey, seq: number): Promise<string | null>;
  /** A remembered ack not older than 24 h before `now`. */
  ack(key: ThreadKey, user: string, ackKey: string, now: number): Promise<AckRow | null>;
  /** An input by id, whatever its status. */
  input(key: ThreadKey, inputId: string): Promise<InputRow | null>;
  /** Up to `limit` messages of the stored fold before the one named, oldest first; none when it has no such. */
  messages(key: ThreadKey, before: string, limit: number): Promise<FoldMessage[]>;
  /** The changes of the state from the first one of a run on, in order; none when it made none. */
  changes(key: ThreadKey, run: string): Promise<ChangeRow[]>;
  /** The changes of the state behind a seq, in order. */
  changesAfter(key: ThreadKey, seq: number): Promise<ChangeRow[]>;
  /** Newest first. */
  threads(query: ThreadsQuery): Promise<ThreadRow[]>;
  /** How many messages somebody has not read, by thread; only of threads where they have a mark and there are some. */
  unread(tenant: string, user: string, threads: readonly string[]): Promise<Map<string, number>>;
  /** Threads that were left with runs under way or inputs queued. */
  unfinished(): Promise<ThreadKey[]>;
  /** Threads of all tenants that have a stored document. */
  documents(): Promise<ThreadKey[]>;
  /** Removes acks older than 24 h before `now`. */
  sweep(now: number): Promise<void>;
  close(): Promise<void>;
}
