import { type IncomingMessage, request } from "node:http";
import type { DownFrame } from "../../shared/protocol/index.ts";
import { many } from "./many.ts";
import { monotonicMs } from "./monotonic.ts";
import type { PartRole } from "./part-role.ts";
import { percentile } from "./statistics.ts";
import { joinThread, openClient, submit } from "./wire-client.ts";

/** Where to read, how many threads at once, and a name for this reading. */
export type Reading = { url: string; threads: number; name: string };
/** How long events were on their way, ms. */
export type Delays = { p50: number; p99: number; worst: number; events: number };

/** Events at the start of each stream that are not counted: compilers are at work then. */
const WARM_UP = 50;

type Sent = { type: string; delta?: string };

/** Reads many streams at once, and looks how old each event is when it has been parsed. */
export const latencyReader: PartRole = () => ({
  /** The agent's own SSE streams. */
  direct({ url, threads, name }: Reading): Promise<Delays> {
    return reading(threads, async (i, take) => {
      const input = { threadId: `${name}-${i}`, runId: `${name}-${i}`, messages: [], tools: [], context: [] };
      const response = await post(url, JSON.stringify({ ...input, state: {}, forwardedProps: {} }));
      let rest = "";
      for await (const chunk of response) {
        const frames = (rest + chunk).split("\n\n");
        rest = frames.pop() ?? "";
        for (const frame of frames) take(JSON.parse(frame.slice("data: ".length)) as Sent);
      }
    });
  },

  /** The same agent's streams by way of our server, one socket for each. */
  through({ url, threads, name }: Reading): Promise<Delays> {
    return reading(threads, async (i, take) => {
      const thread = `${name}-${i}`;
      const socket = await openClient(url, thread);
      await joinThread(socket, thread);
      const over = new Promise<void>((resolve) =>
        socket.on("message", (data: Buffer) => {
          const frame = JSON.parse(data.toString()) as DownFrame;
          if (frame.type !== "entries") return;
          for (const entry of frame.items) {
            if (entry.kind !== "event") continue;
            take(entry.event as unknown as Sent);
            if ((entry.event.type as string) === "RUN_FINISHED") resolve();
          }
        }),
      );
      await submit(socket, thread, thread);
      await over;
      socket.close();
    });
  },
});

async function reading(
  threads: number,
  read: (index: number, take: (event: Sent) => void) => Promise<void>,
): Promise<Delays> {
  const delays: number[] = [];
  await many(threads, threads, async (i) => {
    let seen = 0;
    await read(i, ({ type, delta }) => {
      if (type !== "TEXT_MESSAGE_CONTENT") return;
      seen += 1;
      if (seen > WARM_UP) delays.push(monotonicMs() - Number(delta));
    });
  });
  return {
    p50: percentile(delays, 50),
    p99: percentile(delays, 99),
    worst: percentile(delays, 100),
    events: delays.length,
  };
}

function post(url: string, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const call = request(url, { method: "POST", headers }, (response) => {
      response.setEncoding("utf8");
      resolve(response);
    });
    call.on("error", reject);
    call.end(body);
  });
}
