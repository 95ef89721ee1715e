import type { HttpAgent } from "@ag-ui/client";
import { AGUI_MEDIA_TYPE } from "@ag-ui/encoder";
import type { Clock } from "../../shared/clock.ts";
import { RunFailure } from "./failure.ts";
import { type Framing, protobufFraming, sseFraming } from "./framing.ts";

/** How far an HTTP run has come; read when it fails. */
export type HttpStage = { remote: true; reading: boolean; ended: boolean };

/** What an HTTP run is held to. */
export type HttpBounds = {
  /** For sentences. */
  name: string;
  /** Time to the response head, ms. */
  connectMs: number;
  /** Largest event, bytes. */
  eventBytes: number;
};

/**
 * Watches the one request of a cloned `HttpAgent`: time to the response head, status, content type, size of
 * events, UTF-8, and whether the body came to its end. The stock client checks none of these and would report
 * a success, or an error that says nothing.
 *
 * @param agent the clone made for this run; its `fetch` is wrapped in place
 * @returns the stage, kept up to date
 */
export function guardHttp(agent: HttpAgent, bounds: HttpBounds, clock: Clock): HttpStage {
  const { name, connectMs, eventBytes } = bounds;
  const stage: HttpStage = { remote: true, reading: false, ended: false };
  const inner = agent.fetch;
  agent.fetch = async (url, init) => {
    const response = await inTime(
      clock,
      connectMs,
      () => agent.abortController.abort(),
      () => new RunFailure("AGENT_TIMEOUT", `${name} did not answer within ${seconds(connectMs)}.`),
      (async () => inner(url, init))(),
    );
    if (!response.ok) {
      discard(response);
      throw new RunFailure("AGENT_HTTP", `${name} answered with HTTP status ${response.status}.`);
    }
    stage.reading = true;
    const type = (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
    if (type === AGUI_MEDIA_TYPE) return guarded(response, type, protobufFraming(eventBytes, name), stage);
    if (type === "text/event-stream")
      return guarded(response, type, sseFraming(eventBytes, name), stage, utf8Check(name));
    discard(response);
    throw new RunFailure(
      "AGENT_INVALID",
      `${name} answered with ${type || "no content type"} instead of an event stream. Check that its URL is that of an AG-UI endpoint.`,
    );
  };
  return stage;
}

/** Throws at the first byte sequence that is not UTF-8, instead of letting it become "\ufffd" in the log. */
function utf8Check(name: string): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return (chunk) => {
    try {
      decoder.decode(chunk, { stream: true });
    } catch (error) {
      throw new RunFailure("AGENT_INVALID", `${name} sent text that is not valid UTF-8.`, error);
    }
  };
}

/** The response with a body that gives whole events only, and notes its end before the parser sees it. */
function guarded(
  response: Response,
  type: string,
  framing: Framing,
  stage: HttpStage,
  check?: (chunk: Uint8Array) => void,
): Response {
  const source = response.body?.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const next = await source?.read();
          if (!next || next.done) {
            const rest = framing.rest();
            if (rest) return controller.enqueue(rest);
            stage.ended = true;
            return controller.close();
          }
          check?.(next.value);
          const whole = framing.push(next.value);
          if (whole) return controller.enqueue(whole);
        }
      },
      cancel: (reason) => source?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const getReader = body.getReader.bind(body) as () => ReadableStreamDefaultReader<Uint8Array>;
  // The stock client cancels the body when it has failed, which fails too, and lets nobody catch that: a
  // connection that breaks would bring the process down.
  body.getReader = (() => {
    const reader = getReader();
    const cancel = reader.cancel.bind(reader);
    reader.cancel = (reason) => cancel(reason).catch(() => {});
    return reader;
  }) as typeof body.getReader;
  // Without parameters: the stock client compares the whole header.
  return new Response(body, { status: response.status, headers: { "content-type": type } });
}

/** Ends a response nobody reads, and with it the connection. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

async function inTime<T>(
  clock: Clock,
  ms: number,
  giveUp: () => void,
  failure: () => Error,
  work: Promise<T>,
): Promise<T> {
  let cancel = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(ms, () => {
      reject(failure());
      giveUp();
    });
  });
  // The request rejects by itself once it is aborted; nobody waits for that any more.
  work.catch(() => {});
  return Promise.race([work, late]).finally(cancel);
}

/** "10 seconds", "5 minutes": times as the people in a thread read them. */
export function seconds(ms: number): string {
  if (ms >= 120_000 && ms % 60_000 === 0) return `${ms / 60_000} minutes`;
  return `${ms / 1000} seconds`;
}
