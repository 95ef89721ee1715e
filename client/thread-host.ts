import type { Clock } from "../shared/clock.ts";
import type { Author, DownFrameOf, UpFrameOf } from "../shared/protocol/index.ts";
import type { Backoff } from "./backoff.ts";
import type { ConnectionState } from "./connection.ts";
import type { Outbox } from "./outbox.ts";
import type { Requests } from "./requests.ts";
import type { Phase } from "./thread-sync.ts";

/** What `update` can change. */
export type ThreadUpdate = Pick<UpFrameOf<"update">, "title" | "archived" | "settings" | "members">;

/** Frames that belong to a thread. */
export type ThreadFrame = DownFrameOf<"snapshot" | "entries" | "people" | "saved">;

/** What the client tells a joined thread. */
export interface ThreadControl {
  /** A frame of this thread. */
  frame(frame: ThreadFrame): void;
  /** The server said welcome. */
  welcome(): void;
  /** The connection is gone. */
  down(): void;
  /** The state of the connection changed. */
  connection(): void;
  /** The client was closed. */
  close(): void;
  /** Whether changes may be sent. */
  joined(): boolean;
  /** Number of its document lane on this connection; `undefined` while it is not joined. */
  channel(): number | undefined;
  /** A message of its document lane. @param seq see [Y2] */
  bytes(message: Uint8Array, seq: number): void;
  /** How far its join has come. */
  phase(): Phase;
}

/** What a thread needs from its client. */
export interface ThreadHost {
  readonly clock: Clock;
  readonly random: () => number;
  readonly backoff: Backoff;
  /** How many messages a snapshot holds unless the thread asks for another number. */
  readonly history: number;
  readonly requests: Requests;
  readonly outbox: Outbox;
  connection(): ConnectionState;
  /** The id of this client, known once it has said hello. */
  client(): string | undefined;
  /** The author of what is submitted here. */
  me(): Author;
  /** Sends a frame that needs no answer; false when the connection is not live. */
  send(frame: object): boolean;
  /** Sends a binary frame; false when the connection is not live. */
  sendBytes(frame: Uint8Array<ArrayBuffer>): boolean;
  /** Changes a thread, joined or not. */
  update(thread: string, change: ThreadUpdate): Promise<void>;
  /** The thread wants to be joined from now on. */
  enter(thread: string, control: ThreadControl): void;
  /** It does not any more. */
  leave(thread: string): void;
}
