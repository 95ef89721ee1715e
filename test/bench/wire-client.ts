import WebSocket from "ws";
import { PROTOCOL, SUBPROTOCOL } from "../../shared/protocol/index.ts";

/** Address of the WebSocket door of a server. */
export function doorOf(url: string): string {
  return `${url.replace(/^http/, "ws")}/v1/ws`;
}

/** Opens a plain socket. @throws Error when the server refuses it */
export async function openSocket(url: string, subprotocol?: string): Promise<WebSocket> {
  const socket = new WebSocket(url, subprotocol ?? [], {
    perMessageDeflate: false,
    skipUTF8Validation: true,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => {});
  return socket;
}

/** Opens a socket to a Cothread server and says hello; resolves when the server has said welcome. */
export async function openClient(url: string, name: string): Promise<WebSocket> {
  const socket = await openSocket(doorOf(url), SUBPROTOCOL);
  await ask(socket, { type: "hello", v: PROTOCOL, client: name, user: { id: name, name } }, "welcome");
  return socket;
}

/** Joins a thread without its messages; resolves when the server has told all there is to tell. */
export async function joinThread(socket: WebSocket, thread: string): Promise<void> {
  await ask(socket, { type: "join", ref: `join:${thread}`, thread, create: true, history: 0 }, "people");
}

/** Submits a message that an agent answers. */
export async function submit(socket: WebSocket, thread: string, id: string): Promise<void> {
  const messages = [{ id: `${id}-q`, role: "user", content: "Go on." }];
  await ask(socket, { type: "submit", ref: id, thread, inputId: id, runId: `${id}-run`, messages }, "ack");
}

/** Sends a frame and waits for one of the given type. @throws Error when the request is rejected */
function ask(socket: WebSocket, frame: object, type: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      socket.off("message", look);
      socket.off("close", closed);
      if (error) reject(error);
      else resolve();
    };
    const look = (data: Buffer) => {
      const head = data.toString("utf8", 0, 400);
      if (head.startsWith(`{"type":"${type}"`)) settle();
      else if (head.startsWith('{"type":"reject"')) settle(new Error(head));
    };
    const closed = (code: number) => settle(new Error(`the server closed the connection (${code})`));
    socket.on("message", look);
    socket.on("close", closed);
    socket.send(JSON.stringify(frame));
  });
}
