import type WebSocket from "ws";
import { many } from "./many.ts";
import type { PartRole } from "./part-role.ts";
import { joinThread, openClient, openSocket } from "./wire-client.ts";

/** Sockets to open: from number `first` on, each joining one of `threads`; without threads bare ones. */
export type IdleClients = { url: string; first: number; count: number; threads: number };

/** Connections that say what they must and then nothing. */
export const idleClients: PartRole = () => {
  const sockets: WebSocket[] = [];
  return {
    async open({ url, first, count, threads }: IdleClients): Promise<void> {
      await many(count, 20, async (i) => {
        const n = first + i;
        const socket = threads > 0 ? await openClient(url, `client-${n}`) : await openSocket(url);
        sockets.push(socket);
        if (threads > 0) await joinThread(socket, `thread-${n % threads}`);
      });
    },
    async close(): Promise<void> {
      await Promise.all(
        sockets.splice(0).map(
          (socket) =>
            new Promise((resolve) => {
              socket.once("close", resolve);
              socket.close();
            }),
        ),
      );
    },
    /** How many are still open. */
    alive(): number {
      return sockets.filter((socket) => socket.readyState === socket.OPEN).length;
    },
  };
};
