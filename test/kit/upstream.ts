import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpAgent } from "@ag-ui/client";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { AGUI_MEDIA_TYPE, EventEncoder } from "@ag-ui/encoder";
import { onTestFinished } from "vitest";

/** One request to an upstream, to be answered by the test. */
export class UpstreamCall {
  readonly input: RunAgentInput;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Resolves when the connection is gone, or the answer complete: `true` when it was cut before. */
  readonly closed: Promise<boolean>;
  private encoder: EventEncoder | null = null;

  constructor(request: IncomingMessage, response: ServerResponse, input: RunAgentInput) {
    this.request = request;
    this.response = response;
    this.input = input;
    this.closed = new Promise((resolve) => response.on("close", () => resolve(!response.writableFinished)));
    response.on("error", () => {});
  }

  /** Answers with any head and body, and ends. */
  answer(status: number, type: string | null, body = ""): void {
    this.response.writeHead(status, type === null ? {} : { "content-type": type });
    this.response.end(body);
  }

  /** Begins an event stream. */
  stream(form: "sse" | "protobuf" = "sse", type?: string): this {
    this.encoder = new EventEncoder(form === "protobuf" ? { accept: AGUI_MEDIA_TYPE } : {});
    this.response.writeHead(200, { "content-type": type ?? this.encoder.getContentType() });
    this.response.flushHeaders();
    return this;
  }

  /** Sends events; `threadId` and `runId` of boundaries are filled in. */
  emit(...events: object[]): this {
    const { threadId, runId } = this.input;
    for (const event of events) {
      const boundary = /^RUN_(STARTED|FINISHED)$/.test((event as { type: string }).type);
      const whole = (boundary ? { threadId, runId, ...event } : event) as BaseEvent;
      const encoder = this.encoder as EventEncoder;
      this.write(
        encoder.getContentType() === AGUI_MEDIA_TYPE ? encoder.encodeBinary(whole) : encoder.encodeSSE(whole),
      );
    }
    return this;
  }

  /** Writes bytes as they are. @returns whether the other side takes more right now */
  write(bytes: string | Uint8Array): boolean {
    return this.response.write(bytes);
  }

  /** Writes for as long as the other side reads. @returns the bytes written until the connection was cut */
  async pour(piece: string | Uint8Array, most: number): Promise<number> {
    let written = 0;
    while (written < most && !this.response.destroyed) {
      written += piece.length;
      if (!this.response.write(piece)) await Promise.race([once(this.response, "drain"), this.closed]);
    }
    return written;
  }

  end(): void {
    this.response.end();
  }

  /** Breaks the connection. */
  destroy(): void {
    this.response.socket?.destroy();
  }
}

/** An HTTP server that plays an agent the way a test says. */
export class Upstream {
  readonly url: string;
  readonly calls: UpstreamCall[] = [];
  private taken = 0;
  private waiting: ((call: UpstreamCall) => void)[] = [];

  private constructor(url: string) {
    this.url = url;
  }

  /** Starts on a free port; it is closed after the test. */
  static async start(): Promise<Upstream> {
    const server = createServer();
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    const upstream = new Upstream(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    server.on("request", (request, response) => void upstream.take(request, response));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return upstream;
  }

  /** The stock agent that calls it. */
  agent(): HttpAgent {
    return new HttpAgent({ url: this.url });
  }

  /** The next request that nobody has asked for yet. */
  next(): Promise<UpstreamCall> {
    const call = this.calls[this.taken];
    if (!call) return new Promise((found) => this.waiting.push(found));
    this.taken += 1;
    return Promise.resolve(call);
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const input = JSON.parse(Buffer.concat(chunks).toString("utf8")) as RunAgentInput;
    const call = new UpstreamCall(request, response, input);
    this.calls.push(call);
    const found = this.waiting.shift();
    if (!found) return;
    this.taken += 1;
    found(call);
  }
}
