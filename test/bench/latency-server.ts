import { HttpAgent } from "@ag-ui/client";
import { createServer } from "../../server/index.ts";
import type { PartRole } from "./part-role.ts";

/** The real server in front of the agent. */
export const latencyServer: PartRole = () => ({
  async start({ store, agentUrl }: { store: string; agentUrl: string }): Promise<string> {
    const agents = { sse: new HttpAgent({ url: agentUrl }) };
    const server = await createServer({ port: 0, store, app: false, logLevel: "silent", agents });
    return server.url;
  },
});
