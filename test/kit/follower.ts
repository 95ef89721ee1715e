import {
  type Cursor,
  type DownFrame,
  type DownFrameOf,
  type Entry,
  PROTOCOL,
  type Snapshot,
} from "../../shared/protocol/index.ts";
import { fromSnapshot, Timeline } from "../../shared/timeline/index.ts";
import type { PairedServer } from "./paired-server.ts";
import type { ClientSocket } from "./socket-pair.ts";

/**
 * The least a client can be: it joins one thread and folds what it gets, strictly. For tests of what the
 * server sends; it recovers from nothing by itself.
 */
export class Follower {
  private static made = 0;
  timeline = new Timeline();
  cursor: Cursor | null = null;
  /** The last `joined`. */
  joined: DownFrameOf<"joined"> | undefined;
  /** The last snapshot, and the entries since. */
  snapshot: Snapshot | undefined;
  entries: Entry[] = [];
  private readonly server: PairedServer;
  private readonly thread: string;
  private socket: ClientSocket | undefined;
  private readonly id: string;

  constructor(server: PairedServer, thread: string) {
    Follower.made += 1;
    this.id = `follower-${Follower.made}`;
    this.server = server;
    this.thread = thread;
  }

  /** Opens a socket and joins. @param cursor anything; default: none */
  connect(cursor?: unknown, more: object = {}): void {
    const socket = new this.server.net.WebSocket("ws://paired.test/v1/ws");
    this.socket = socket;
    const send = (frame: object) => socket.send(JSON.stringify(frame));
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(String(data)) as DownFrame;
      if (frame.type === "welcome")
        send({ type: "join", ref: 1, thread: this.thread, create: true, cursor, ...more });
      else this.take(frame);
    };
    socket.onopen = () =>
      send({ type: "hello", v: PROTOCOL, client: this.id, user: { id: this.id, name: "Follower" } });
  }

  cut(): void {
    const pair = this.server.net.pairs.find(({ client }) => client === this.socket);
    pair?.cut();
  }

  private take(frame: DownFrame): void {
    switch (frame.type) {
      case "joined":
        this.joined = frame;
        return;
      case "snapshot":
        this.timeline = fromSnapshot(frame);
        this.snapshot = frame;
        this.entries = [];
        this.cursor = { epoch: frame.epoch, seq: frame.seq, mark: frame.mark };
        return;
      case "entries":
        if (frame.after !== this.cursor?.seq)
          throw new Error(`entries after ${frame.after} do not follow ${this.cursor?.seq}`);
        for (const entry of frame.items) this.timeline.apply(entry);
        this.entries.push(...frame.items);
        this.cursor = { ...this.cursor, seq: frame.seq, mark: frame.mark };
        return;
      case "reject":
        throw new Error(`${frame.code}: ${frame.message}`);
    }
  }
}
