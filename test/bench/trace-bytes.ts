import { setImmediate as turn } from "node:timers/promises";
import { EventEncoder } from "@ag-ui/encoder";
import WebSocket from "ws";
import { createServer } from "../../server/index.ts";
import {
  type AGUIEvent,
  type DownFrame,
  type Entry,
  PROTOCOL,
  type Snapshot,
  SUBPROTOCOL,
} from "../../shared/protocol/index.ts";

/** What a browser got of a recorded stream. */
export type TraceBytes = {
  /** Bytes of all frames from the question to the end of the last run, as UTF-8. */
  frames: number;
  /** Bytes of the same events as a stock endpoint's SSE. */
  sse: number;
  entries: Entry[];
  /** What somebody who comes afterwards is given. */
  snapshot: Snapshot;
};

/**
 * Plays a recorded stream through a server over a real socket, one event per turn of the event loop: nothing is
 * gathered that a real agent would have sent apart.
 * @param privateState as the agent's option; `undefined` leaves the default
 */
export async function traceBytes(
  stream: readonly AGUIEvent[],
  privateState?: readonly string[],
): Promise<TraceBytes> {
  async function* agent({ threadId, runId }: { threadId: string; runId: string }) {
    const first = stream.find(({ type }) => (type as string) === "RUN_STARTED")?.runId;
    for (const event of structuredClone(stream) as AGUIEvent[]) {
      if ("threadId" in event) event.threadId = threadId;
      if (event.runId === first && first !== undefined) event.runId = runId;
      yield event as never;
      await turn();
    }
  }
  const server = await createServer({
    port: 0,
    store: "memory:",
    app: false,
    logLevel: "silent",
    drainMs: 0,
    agents: { recorded: { agent, ...(privateState && { privateState }) } },
  });
  const reader = new FrameReader(new WebSocket(`${server.url.replace(/^http/, "ws")}/v1/ws`, SUBPROTOCOL));
  try {
    await reader.opened;
    reader.send({ type: "hello", v: PROTOCOL, client: "bench", user: { id: "ana", name: "Ana" } });
    await reader.until(({ frames }) => frames.some(({ type }) => type === "welcome"));
    const join = { type: "join", thread: "t", create: true };
    reader.send({ ...join, ref: "1" });
    await reader.until(({ frames }) => frames.some(({ type }) => type === "snapshot"));
    reader.forget();
    const messages = [{ id: "question", role: "user", content: "Go." }];
    reader.send({ type: "submit", ref: "2", thread: "t", inputId: "i", runId: "run", messages });
    const ends = stream.filter(isEnd).length;
    await reader.until(
      () => reader.entries().filter((e) => e.kind === "event" && isEnd(e.event)).length === ends,
    );
    const { bytes } = reader;
    const entries = reader.entries();
    reader.send({ ...join, ref: "3" });
    const isSnapshot = (frame: DownFrame) => frame.type === "snapshot";
    await reader.until(({ frames }) => frames.some(isSnapshot));
    const snapshot = reader.frames.find(isSnapshot) as unknown as Snapshot;
    const encoder = new EventEncoder();
    const sse = stream.reduce((sum, event) => sum + Buffer.byteLength(encoder.encodeSSE(event as never)), 0);
    return { frames: bytes, sse, entries, snapshot };
  } finally {
    reader.close();
    await server.close();
  }
}

function isEnd({ type }: AGUIEvent): boolean {
  return (type as string) === "RUN_FINISHED";
}

/** Counts what comes, as the SDK's socket would get it. */
class FrameReader {
  frames: DownFrame[] = [];
  bytes = 0;
  readonly opened: Promise<void>;
  private readonly socket: WebSocket;
  private look = () => {};

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.opened = new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    socket.on("message", (data: Buffer) => {
      this.bytes += data.length;
      this.frames.push(JSON.parse(data.toString()) as DownFrame);
      this.look();
    });
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  forget(): void {
    this.frames = [];
    this.bytes = 0;
  }

  entries(): Entry[] {
    return this.frames.flatMap((frame) => (frame.type === "entries" ? (frame.items as Entry[]) : []));
  }

  until(isIt: (reader: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.look = () => {
        if (isIt(this)) resolve();
      };
      this.look();
    });
  }

  close(): void {
    this.socket.close();
  }
}
