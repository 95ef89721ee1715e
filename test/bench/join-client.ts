import { AbstractAgent } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import { from, type Observable } from "rxjs";
import type { DownFrame } from "../../shared/protocol/index.ts";
import { fromSnapshot, Timeline } from "../../shared/timeline/index.ts";
import { longStream } from "./long-thread.ts";
import { monotonicMs } from "./monotonic.ts";
import type { PartRole } from "./part-role.ts";
import { openClient, openSocket } from "./wire-client.ts";

/** What a client came to, and what it cost. */
export type Arrived = { ms: number; bytes: number; messages: number; characters: number };

/** A client that comes to a long thread: by joining it, or by replaying its log. */
export const joinClient: PartRole = () => ({
  /** Joins; `history` counts messages, all of them without. */
  async join({ url, thread, history }: { url: string; thread: string; history?: number }): Promise<Arrived> {
    const socket = await openClient(url, "joiner");
    const arrived = new Promise<Arrived>((resolve, reject) => {
      socket.on("message", (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as DownFrame;
        if (frame.type === "reject") reject(new Error(frame.message));
        if (frame.type === "snapshot") resolve(arrivedAt(fromSnapshot(frame), startMs, data.length));
      });
    });
    const startMs = monotonicMs();
    socket.send(JSON.stringify({ type: "join", ref: 1, thread, ...(history !== undefined && { history }) }));
    const result = await arrived;
    socket.terminate();
    return result;
  },

  /** Receives every entry of the log and folds it. */
  async replay({ url, thread, entries }: { url: string; thread: string; entries: number }): Promise<Arrived> {
    const socket = await openSocket(url);
    const timeline = new Timeline();
    let bytes = 0;
    const arrived = new Promise<Arrived>((resolve) => {
      socket.on("message", (data: Buffer) => {
        bytes += data.length;
        const frame = JSON.parse(data.toString()) as DownFrame;
        if (frame.type !== "entries") return;
        for (const entry of frame.items) timeline.apply(entry);
        if (frame.seq === entries) resolve(arrivedAt(timeline, startMs, bytes));
      });
    });
    const startMs = monotonicMs();
    socket.send(thread);
    const result = await arrived;
    socket.terminate();
    return result;
  },

  /** Replays the same events, from memory, through an unmodified `@ag-ui/client`. */
  async stock({ messages, messageBytes }: { messages: number; messageBytes: number }): Promise<Arrived> {
    const player = new Player([...longStream(messages, messageBytes, "long")]);
    const startMs = monotonicMs();
    await player.runAgent();
    const ms = monotonicMs() - startMs;
    const characters = player.messages.reduce((sum, { content }) => sum + (content as string).length, 0);
    return { ms, bytes: 0, messages: player.messages.length, characters };
  },
});

class Player extends AbstractAgent {
  readonly events: BaseEvent[];
  constructor(events: BaseEvent[]) {
    super({ threadId: "long" });
    this.events = events;
  }
  run(): Observable<BaseEvent> {
    return from(this.events);
  }
}

function arrivedAt(timeline: Timeline, startMs: number, bytes: number): Arrived {
  const { list } = timeline;
  const ms = monotonicMs() - startMs;
  const characters = list.reduce((sum, { content }) => sum + (content as string).length, 0);
  return { ms, bytes, messages: list.length, characters };
}
