import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An agent over HTTP that says what a test makes it say, and nothing else. */
export type HeldAgent = {
  url: string;
  /** Writes into the answer of the run that began last. */
  say(text: string): void;
  /** Ends that run. */
  finish(): void;
  /** How many runs began. */
  readonly runs: number;
  close(): void;
};

/** Starts a {@link HeldAgent} on a free port. Each run begins with an empty answer. */
export async function startHeldAgent(): Promise<HeldAgent> {
  let say = (_text: string) => {};
  let finish = () => {};
  let runs = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
    const messageId = `${runId}-m`;
    const write = (event: object) => response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.writeHead(200, { "content-type": "text/event-stream" });
    write({ type: "RUN_STARTED", threadId, runId });
    write({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
    say = (delta) => void write({ type: "TEXT_MESSAGE_CONTENT", messageId, delta });
    finish = () => {
      write({ type: "TEXT_MESSAGE_END", messageId });
      write({ type: "RUN_FINISHED", threadId, runId });
      response.end();
    };
    runs += 1;
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`,
    say: (text) => say(text),
    finish: () => finish(),
    get runs() {
      return runs;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
