import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { WebSocketServer } from "ws";
import { createServer } from "../../server/index.ts";
import type { PartRole } from "./part-role.ts";

/** Resident bytes of the process, and those its JavaScript objects take. */
export type Memory = { rss: number; heap: number };

/** The real server, or a bare `ws` server that does nothing but hold sockets; tells its memory. */
export const idleServer: PartRole = () => ({
  async ours({ store }: { store: string }): Promise<string> {
    const server = await createServer({ port: 0, store, app: false, logLevel: "silent" });
    return server.url;
  },

  async bare(): Promise<string> {
    const http = createHttpServer();
    const door = new WebSocketServer({ server: http, perMessageDeflate: false });
    door.on("connection", (socket) => {
      socket.on("message", () => {});
      socket.on("error", () => {});
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    return `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
  },

  /** Memory once there is nothing more to collect. */
  async memory(): Promise<Memory> {
    for (let i = 0; i < 5; i += 1) {
      global.gc?.();
      await setTimeout(200);
    }
    const { rss, heapUsed } = process.memoryUsage();
    return { rss, heap: heapUsed };
  },
});
