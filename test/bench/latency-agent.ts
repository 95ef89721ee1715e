import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { monotonicMs } from "./monotonic.ts";
import type { PartRole } from "./part-role.ts";

/** What every stream of the agent is: so many events, one every so many ms. */
export type Pace = { events: number; everyMs: number };

const PER_MESSAGE = 50;

/** An AG-UI agent over SSE that writes into each event when it sent it. */
export const latencyAgent: PartRole = () => ({
  async start({ events, everyMs }: Pace): Promise<string> {
    let runs = 0;
    const http = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
      response.socket?.setNoDelay(true);
      const send = (event: object) => response.write(`data: ${JSON.stringify(event)}\n\n`);
      send({ type: "RUN_STARTED", threadId, runId });
      // Streams are spread over the interval, and each keeps to its own beat.
      runs += 1;
      const first = monotonicMs() + everyMs * ((runs * 0.618) % 1);
      let messageId = "";
      for (let i = 0; i < events; i += 1) {
        const wait = first + i * everyMs - monotonicMs();
        if (wait > 0) await setTimeout(wait);
        if (i % PER_MESSAGE === 0) {
          if (messageId) send({ type: "TEXT_MESSAGE_END", messageId });
          messageId = `${runId}-${i}`;
          send({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
        }
        send({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: `${monotonicMs()} ` });
      }
      send({ type: "TEXT_MESSAGE_END", messageId });
      send({ type: "RUN_FINISHED", threadId, runId });
      response.end();
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  },
});
