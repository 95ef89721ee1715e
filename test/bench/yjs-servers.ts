import { Server } from "@hocuspocus/server";
import { createServer } from "../../server/index.ts";
import { cpuMs } from "./cpu.ts";
import type { PartRole } from "./part-role.ts";

/** Which server. */
export type YjsServerStart = { kind: "ours" | "hocuspocus"; store: string };

/** Ours, or Hocuspocus as its documentation starts it, which stores nothing. */
export const yjsServer: PartRole = () => ({
  async start({ kind, store }: YjsServerStart): Promise<string> {
    if (kind === "ours")
      return (await createServer({ port: 0, store, app: false, logLevel: "silent", agents: {} })).url;
    const server = new Server({ port: 0, address: "127.0.0.1", quiet: true });
    await server.listen();
    return `http://127.0.0.1:${server.address.port}`;
  },
  cpuMs,
});
