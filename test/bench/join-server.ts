import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { createServer } from "../../server/index.ts";
import { openStore } from "../../server/store/open.ts";
import type { Batch } from "../../server/store/store.ts";
import type { Entry } from "../../shared/protocol/index.ts";
import { Timeline, takeFold } from "../../shared/timeline/index.ts";
import { longThread } from "./long-thread.ts";
import type { PartRole } from "./part-role.ts";

/** One thread to be written. */
export type LongThread = { file: string; thread: string; messages: number; messageBytes: number };
/** What was written, as far as it is compared. */
export type Written = { entries: number; messagesSnapshotBytes: number };

/** Entries of one commit, as a streaming agent makes them. */
const PER_COMMIT = 20;
/** Entries of one frame of the replay. */
const PER_FRAME = 1_000;

/** Writes a long thread, and serves it: as our server does, and as a bare replay of its entries. */
export const joinServer: PartRole = () => {
  /** The frames that replay a thread; ready to be sent, so that the peer is charged for nothing else. */
  const replays = new Map<string, Buffer[]>();

  return {
    async write({ file, thread, messages, messageBytes }: LongThread): Promise<Written> {
      const store = await openStore(`sqlite:${file}`);
      const key = { tenant: "default", thread };
      const timeline = new Timeline();
      const json: string[] = [];
      let seq = 0;
      const commit = async (more: Partial<Batch>, upTo: number) => {
        const entries = json.slice(seq, upTo).map((text, i) => ({ seq: seq + 1 + i, json: text }));
        const [result] = await store.commit([
          { key, ownerEpoch: 1, mark: `mark-${upTo}`, after: seq, entries, ...more },
        ]);
        if (!result?.ok) throw result?.error;
        seq = upTo;
      };
      const at = Date.now();
      await commit({ create: { epoch: "epoch", at }, info: { title: "Long", updatedAt: at } }, 0);
      for (const entries of longThread(messages, messageBytes)) {
        for (const entry of entries) {
          const placed = { seq: json.length + 1, at: at + json.length, ...entry } as Entry;
          timeline.apply(placed);
          json.push(JSON.stringify(placed));
          if (json.length - seq === PER_COMMIT) await commit({}, json.length);
        }
        await commit({ fold: { seq: json.length, ...takeFold(timeline) } }, json.length);
      }
      await store.close();
      replays.set(thread, framesOf(thread, json));
      const snapshot = JSON.stringify({ type: "MESSAGES_SNAPSHOT", messages: timeline.list });
      return { entries: json.length, messagesSnapshotBytes: Buffer.byteLength(snapshot) };
    },

    async serve({ file }: { file: string }): Promise<{ url: string; replayUrl: string }> {
      const server = await createServer({ port: 0, store: `sqlite:${file}`, app: false, logLevel: "silent" });
      const http = createHttpServer();
      const replay = new WebSocketServer({ server: http, perMessageDeflate: false });
      replay.on("connection", (socket) =>
        socket.on("message", (thread: Buffer) => {
          for (const frame of replays.get(String(thread)) ?? []) socket.send(frame, { binary: false });
        }),
      );
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
      return { url: server.url, replayUrl: `ws://127.0.0.1:${(http.address() as AddressInfo).port}` };
    },
  };
};

function framesOf(thread: string, json: readonly string[]): Buffer[] {
  const frames: Buffer[] = [];
  for (let after = 0; after < json.length; after += PER_FRAME) {
    const items = json.slice(after, after + PER_FRAME);
    const seq = after + items.length;
    const head = JSON.stringify({ type: "entries", thread, after, seq, mark: `mark-${seq}` }).slice(0, -1);
    frames.push(Buffer.from(`${head},"items":[${items.join(",")}]}`));
  }
  return frames;
}
