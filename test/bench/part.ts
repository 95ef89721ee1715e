import type { PartAnswer, PartCalls, PartRequest, PartRole } from "./part-role.ts";

// A process that plays one part of a bench: `node part.js ROLE`, with calls coming in over IPC.

const ROLES: Record<string, () => Promise<PartRole>> = {
  subscribers: async () => (await import("./subscribers.ts")).subscribers,
  "fanout-server": async () => (await import("./fanout-server.ts")).fanoutServer,
  "fanout-peers": async () => (await import("./fanout-peers.ts")).fanoutPeers,
  "ingest-log": async () => (await import("./ingest-log.ts")).ingestLog,
  "join-server": async () => (await import("./join-server.ts")).joinServer,
  "join-client": async () => (await import("./join-client.ts")).joinClient,
  "latency-agent": async () => (await import("./latency-agent.ts")).latencyAgent,
  "latency-server": async () => (await import("./latency-server.ts")).latencyServer,
  "latency-reader": async () => (await import("./latency-reader.ts")).latencyReader,
  "yjs-server": async () => (await import("./yjs-servers.ts")).yjsServer,
  "yjs-editors": async () => (await import("./yjs-editors.ts")).yjsEditors,
  "idle-server": async () => (await import("./idle-server.ts")).idleServer,
  "idle-clients": async () => (await import("./idle-clients.ts")).idleClients,
};

const send = (answer: PartAnswer) => process.send?.(answer);
const role = await (ROLES[process.argv[2] ?? ""] as (typeof ROLES)[string])();
const calls: PartCalls = role((notice, data) => send({ notice, data }));

process.on("message", async ({ id, call, argument }: PartRequest) => {
  try {
    const result = await (calls[call] as (argument: unknown) => unknown)(argument);
    send({ id, result });
  } catch (error) {
    send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// Nobody to answer any more; a CPU profile is written on the way out.
process.on("disconnect", () => process.exit(0));
send({ notice: "ready", data: null });
