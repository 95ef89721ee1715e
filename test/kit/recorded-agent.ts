import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { RunAgentInput } from "@ag-ui/core";
import { AGUI_MEDIA_TYPE, EventEncoder } from "@ag-ui/encoder";
import type { AGUIEvent } from "../../shared/protocol/index.ts";

/** A small AG-UI endpoint that plays recorded streams, as a real agent's server would send them. */
export type RecordedAgent = {
  url: string;
  /** Inputs it was given, oldest first. */
  inputs: RunAgentInput[];
  /** Sends the next `count` events of the response under way, each as one event of the stream. */
  step(count?: number): Promise<void>;
  /** Events of the response under way that are still to come. */
  readonly left: number;
  close(): Promise<void>;
};

/**
 * Serves one recorded stream over SSE or protobuf. The thread's id is that of the input everywhere, the
 * first run's too; ids of messages are as recorded.
 * @param stream the recorded events, of one run or several
 * @param options `stepwise`: nothing is sent before `step()`; `binary`: protobuf instead of SSE
 */
export async function recordedAgent(
  stream: readonly AGUIEvent[],
  { stepwise = false, binary = false }: { stepwise?: boolean; binary?: boolean } = {},
): Promise<RecordedAgent> {
  const inputs: RunAgentInput[] = [];
  const encoder = new EventEncoder({ accept: binary ? AGUI_MEDIA_TYPE : "text/event-stream" });
  let open: { response: ServerResponse; events: AGUIEvent[]; next: number } | null = null;
  let opened = () => {};

  const send = (count: number) => {
    for (let n = 0; open && n < count; n += 1) {
      const event = open.events[open.next] as never;
      open.next += 1;
      open.response.write(binary ? encoder.encodeBinary(event) : encoder.encodeSSE(event));
      if (open.next === open.events.length) {
        open.response.end();
        open = null;
      }
    }
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const input = JSON.parse(Buffer.concat(chunks).toString()) as RunAgentInput;
      inputs.push(input);
      response.writeHead(200, { "content-type": binary ? AGUI_MEDIA_TYPE : "text/event-stream" });
      response.flushHeaders();
      open = { response, events: rewritten(stream, input), next: 0 };
      if (!stepwise) send(Number.POSITIVE_INFINITY);
      opened();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    inputs,
    get left() {
      return open ? open.events.length - open.next : 0;
    },
    async step(count = 1) {
      if (!open)
        await new Promise<void>((resolve) => {
          opened = resolve;
        });
      send(count);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A recorded stream as its agent would send it for an input: thread and first run are those of the input. */
export function rewritten(stream: readonly AGUIEvent[], { threadId, runId }: RunAgentInput): AGUIEvent[] {
  const first = stream.find((event) => (event.type as string) === "RUN_STARTED")?.runId;
  return structuredClone(stream).map((event) => {
    const changed = { ...event } as AGUIEvent;
    if ("threadId" in changed) changed.threadId = threadId;
    if (first !== undefined && changed.runId === first) changed.runId = runId;
    return changed;
  });
}
