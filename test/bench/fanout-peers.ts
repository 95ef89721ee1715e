import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Server as SocketIo } from "socket.io";
import { WebSocketServer } from "ws";
import { Bursts } from "./bursts.ts";
import { cpuMs } from "./cpu.ts";
import type { Went } from "./fanout-server.ts";
import { monotonicMs } from "./monotonic.ts";
import type { PartRole } from "./part-role.ts";
import { sampleEvents, words } from "./sample-events.ts";

/** `batches`: bare `ws`, given frames. `events`: bare `ws`, a frame per event. `socket.io`: a room. */
export type PeerKind = "batches" | "events" | "socket.io";
export type PeerStart = { kind: PeerKind; eventBytes: number; burst: number; window: number };
/** How many events; for `batches` also size and number of entries of each frame, used over and over. */
export type PeerGo = { count: number; frames: [bytes: number, entries: number][] };

/** Servers that do nothing but send: what ours is measured against. */
export const fanoutPeers: PartRole = () => {
  let bursts: Bursts;
  let send: (go: PeerGo) => Promise<void>;
  let seq = 0;

  async function sendBatches(clients: Iterable<{ send: Send }>, { count, frames }: PeerGo): Promise<void> {
    const end = seq + count;
    for (let i = 0; seq < end; i += 1) {
      const [bytes, wanted] = frames[i % frames.length] as [number, number];
      const entries = Math.min(wanted, end - seq);
      const head = `{"type":"entries","thread":"bench","after":${seq},"seq":${seq + entries},"items":"`;
      const frame = Buffer.from(`${head}${words(bytes - head.length - 2)}"}`);
      for (const client of clients) client.send(frame, { binary: false });
      seq += entries;
      // A frame is what one turn of the event loop made, as it was where the frames were recorded.
      await bursts.count(entries);
    }
  }

  async function sendEvents(eventBytes: number, each: (event: object) => void, count: number): Promise<void> {
    const events = sampleEvents(eventBytes);
    for (let i = 0; i < count; i += 1) {
      each(events.next().value);
      const pause = bursts.count(1);
      if (pause) await pause;
    }
  }

  return {
    async start({ kind, eventBytes, burst, window }: PeerStart): Promise<string> {
      // A frame is a burst of its own, whatever number of entries it has.
      bursts = new Bursts(kind === "batches" ? 1 : burst, window);
      const http = createServer();
      if (kind === "socket.io") {
        const io = new SocketIo(http, { transports: ["websocket"] });
        io.on("connection", (socket) => void socket.join("bench"));
        send = ({ count }) => sendEvents(eventBytes, (event) => io.to("bench").emit("event", event), count);
        return `ws://127.0.0.1:${await listen(http)}`;
      }
      const { clients } = new WebSocketServer({ server: http, perMessageDeflate: false }) as {
        clients: Set<{ send: Send }>;
      };
      send = (go) => {
        if (kind === "batches") return sendBatches(clients, go);
        const broadcast = (event: object) => {
          const frame = Buffer.from(JSON.stringify(event));
          for (const client of clients) client.send(frame, { binary: false });
        };
        return sendEvents(eventBytes, broadcast, go.count);
      };
      return `ws://127.0.0.1:${await listen(http)}`;
    },
    go(go: PeerGo): Went {
      bursts.reset();
      const went = { startMs: monotonicMs(), cpuMs: cpuMs() };
      void send(go);
      return went;
    },
    progress: (read: number) => bursts.progress(read),
    cpuMs,
  };
};

type Send = (data: Buffer, options: { binary: boolean }) => void;

async function listen(http: Server): Promise<number> {
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return (http.address() as AddressInfo).port;
}
