import { randomUUID } from "node:crypto";
import WebSocket from "ws";
import {
  type Author,
  type DownFrame,
  type Entry,
  type Message,
  PROTOCOL,
  type Snapshot,
  SUBPROTOCOL,
} from "../shared/protocol/index.ts";
import { ConfigError } from "./config.ts";

/** Messages shown of what was there before. */
const SHOWN = 10;

/** Longest refusal that is shown, characters. */
const REFUSAL_MAX = 500;

/** How long a server may take to answer, ms. */
const PATIENCE_MS = 10_000;

/**
 * Follows one thread of a running server and prints what happens, until it is interrupted or the server
 * goes away.
 * @param url of the server, with its base path
 * @param json prints each entry as one line of JSON instead of a line for people
 * @throws ConfigError when the server cannot be reached or refuses
 */
export function tail(thread: string, { url, json }: { url: string; json: boolean }): Promise<void> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new ConfigError(`--url is not right: "${url}" is not an address such as http://127.0.0.1:4000.`);
  const address = `${url.replace(/^http/, "ws").replace(/\/$/, "")}/v1/ws`;
  const socket = new WebSocket(address, SUBPROTOCOL, { handshakeTimeout: PATIENCE_MS });
  // Whoever reads our output may stop reading, as `head` does.
  process.stdout.on("error", () => socket.terminate());
  const say = (line: string) => console.log(line);
  const print = (entry: Entry) => {
    const line = json ? JSON.stringify(entry) : describe(entry);
    if (line !== null) say(printable(line));
  };
  return new Promise((resolve, reject) => {
    let joined = false;
    const send = (frame: object) => socket.send(JSON.stringify(frame));
    const fail = (sentence: string) => {
      reject(new ConfigError(printable(sentence)));
      socket.terminate();
    };
    const foreign = (why: string) =>
      fail(`What answers at ${url} is no Cothread server (${why}). Check the address and its path.`);
    const silent = setTimeout(() => foreign("it says nothing"), 2 * PATIENCE_MS);
    socket.on("error", ({ message, code }: Error & { code?: string }) => {
      // Errors of HTTP and of the handshake come from something that answers, only not as we do.
      if (code?.startsWith("HPE_") || /subprotocol|Sec-WebSocket|Upgrade|frame/i.test(message))
        foreign("it does not speak its protocol");
      else fail(`No server answers at ${url}${message ? ` (${message})` : ""}. Is it running?`);
    });
    socket.on("unexpected-response", (_request, response) => {
      const { statusCode = 0, headers } = response;
      // Ours says why it refuses, in plain text.
      const told = [403, 503].includes(statusCode) && headers["content-type"]?.startsWith("text/plain");
      if (!told) return foreign(`HTTP status ${statusCode}`);
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        body = (body + chunk).slice(0, REFUSAL_MAX);
      });
      response.on("end", () => fail(body));
    });
    socket.on("open", () =>
      send({ type: "hello", v: PROTOCOL, client: randomUUID(), user: { id: "tail", name: "cothread tail" } }),
    );
    socket.on("close", (code) => {
      clearTimeout(silent);
      if (!joined) fail(`The server at ${url} closed the connection (${code}).`);
      else if (!json) say(`— the connection ended (${code})`);
      resolve();
    });
    socket.on("message", (data) => {
      const frame = frameOf(data);
      if (frame === undefined) return joined ? undefined : foreign("it does not speak its protocol");
      clearTimeout(silent);
      if (frame.type === "welcome") send({ type: "join", ref: 1, thread, history: SHOWN });
      else if (frame.type === "joined") joined = true;
      else if (frame.type === "reject") fail(frame.message);
      else if (frame.type === "bye" && !joined) fail(frame.reason);
      else if (frame.type === "snapshot" && !json)
        for (const line of describeSnapshot(frame)) say(printable(line));
      else if (frame.type === "entries") for (const entry of frame.items) print(entry);
    });
  });
}

function frameOf(data: WebSocket.RawData): DownFrame | undefined {
  try {
    const frame = JSON.parse(String(data)) as DownFrame | null;
    return typeof frame?.type === "string" ? frame : undefined;
  } catch {
    return undefined;
  }
}

// What people and agents write goes to a terminal, which would obey what is in it.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

function printable(line: string): string {
  return line.replaceAll(CONTROL, "\ufffd");
}

function describeSnapshot(snapshot: Snapshot): string[] {
  const older = snapshot.before > 0 ? [`… ${snapshot.before} earlier messages`] : [];
  return [
    `${snapshot.title || snapshot.thread}`,
    ...older,
    ...snapshot.messages.map((message) => `${speaker(message)}: ${text(message)}`),
    `— live from entry ${snapshot.seq}`,
  ];
}

/** One line for people; `null` for what says little by itself, such as each piece of a streamed message. */
function describe(entry: Entry): string | null {
  const time = new Date(entry.at).toLocaleTimeString();
  switch (entry.kind) {
    case "message":
      return `${time} ${speaker(entry.message)}: ${text(entry.message)}`;
    case "input":
      return entry.status === "running" || entry.status === "done"
        ? null
        : `${time} input ${entry.status}${entry.reason ? ` (${entry.reason})` : ""}`;
    case "thread":
      return entry.title === undefined ? null : `${time} title: ${entry.title}`;
    case "event": {
      const { type } = entry.event;
      if (/_(CONTENT|ARGS|END)$/.test(type) || /^(STATE|REASONING|ACTIVITY|RAW)/.test(type)) return null;
      const { stepName, toolCallName, content, message, outcome } = entry.event as Record<string, unknown>;
      const detail =
        stepName ?? toolCallName ?? content ?? message ?? (outcome as { type?: string } | undefined)?.type;
      const by = entry.start ? ` ${entry.start.agent}, asked by ${named(entry.start.by)}` : "";
      return `${time} ${type}${by}${detail === undefined ? "" : ` ${brief(detail)}`}`;
    }
    default:
      return `${time} ${entry.kind}`;
  }
}

function named(author: Author): string {
  return "name" in author && author.name ? author.name : "id" in author ? author.id : "the server";
}

function speaker(message: Message): string {
  return (message as { name?: string }).name ?? message.role;
}

function text(message: Message): string {
  return brief(message.content ?? "");
}

function brief(value: unknown): string {
  const line = (typeof value === "string" ? value : JSON.stringify(value)).replaceAll(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
