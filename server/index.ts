import type { Server } from "node:http";
import { networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import { type Logger, pino } from "pino";
import { systemClock } from "../shared/clock.ts";
import { compileTextPaths } from "../shared/json-crdt/text-paths.ts";
import type { AgentInfo } from "../shared/protocol/index.ts";
import type { Agent, AgentOptions } from "./agents/agent.ts";
import { demoAgent } from "./agents/demo.ts";
import { echoAgent } from "./agents/echo.ts";
import { AgentRegistry } from "./agents/registry.ts";
import type { Authenticate } from "./auth/authenticator.ts";
import { guests, newJoinCode } from "./auth/guests.ts";
import { isLoopback, isLoopbackUrl } from "./auth/loopback.ts";
import { refuseOrigin } from "./auth/origin.ts";
import { toldOnce } from "./auth/refusals.ts";
import { type Config, ConfigError, parseConfig } from "./config.ts";
import { seedDemoThread } from "./demo-thread.ts";
import { Gateway } from "./gateway/gateway.ts";
import { buildHttp } from "./gateway/http.ts";
import { DEFAULT_LIMITS, type GatewayLimits } from "./gateway/limits.ts";
import { Rooms } from "./room/rooms.ts";
import { openStore } from "./store/open.ts";
import type { Store } from "./store/store.ts";
import { VERSION } from "./version.ts";

export type {
  Agent,
  AgentContext,
  AgentEvent,
  AgentFunction,
  AgentOptions,
  AgentThread,
} from "./agents/agent.ts";
export type { Authenticate, Identity } from "./auth/authenticator.ts";
export { Config, ConfigError } from "./config.ts";
export type { GatewayLimits } from "./gateway/limits.ts";
export type { Store } from "./store/store.ts";

/** Options of {@link createServer}; those of the command line, and what only code can give. */
export type ServerOptions = Partial<Omit<Config, "agent" | "store">> & {
  /** id → agent; the first is the default. Without any: the demo agent and `echo`. */
  agents?: Record<string, Agent | AgentOptions>;
  /** A store URL, or a store of your own. */
  store?: string | Store;
  /** Who people are; default: guests. */
  authenticate?: Authenticate;
  /** An existing HTTP server to mount on; `port` and `host` are then its owner's business. */
  server?: Server;
  /** Whether the web app is served. Default: yes on a server of our own, no when mounted. */
  app?: boolean;
  limits?: Partial<GatewayLimits>;
  logger?: Logger;
};

/** A server that is ready. */
export type CothreadServer = {
  /** Where it listens, e.g. `http://127.0.0.1:4000`; with `basePath`. */
  url: string;
  /** With `share`: the link for others on the network, join code included. */
  shareUrl?: string;
  agents: AgentInfo[];
  /**
   * Stops it: clients are told to come back, running agents get `drainMs` (default: the option) to finish
   * and are then ended with a reason, and everything is written.
   */
  close(options?: { drainMs?: number }): Promise<void>;
};

/**
 * Starts a Cothread server: store, rooms, the WebSocket door and, unless mounted on another server, HTTP.
 * @throws ConfigError for options that are wrong or unsafe, StoreOpenError when the store cannot be used,
 *   and what `listen` throws (a taken port)
 */
export async function createServer(options: ServerOptions = {}): Promise<CothreadServer> {
  const {
    agents,
    store: where,
    authenticate,
    server: mounted,
    app = !mounted,
    limits,
    logger,
    ...rest
  } = options;
  const config = parseConfig({ ...rest, ...(typeof where === "string" && { store: where }) });
  const host = config.share && config.host === "127.0.0.1" ? "0.0.0.0" : config.host;
  const proxied = config.publicUrl !== undefined && !isLoopbackUrl(config.publicUrl);
  // Where a mounted server listens is its owner's business; by publicUrl it is said of that one too.
  const outside = proxied ? `publicUrl ${config.publicUrl}` : `host ${host}`;
  if ((proxied || (!isLoopback(host) && !mounted)) && !config.share && !config.insecure && !authenticate)
    throw new ConfigError(
      `${outside} can be reached from outside, and nobody has to sign in. Start it with --share or --insecure, in code with share, insecure or authenticate.`,
    );
  const log = logger ?? pino({ level: config.logLevel, base: null });
  const joinCode = config.share ? newJoinCode() : undefined;
  const bounds = { ...DEFAULT_LIMITS, ...limits };
  const registry = new AgentRegistry(
    agents ?? {
      planner: { agent: demoAgent({ speed: config.demoSpeed, seed: config.demoSeed }), name: "Planner" },
      echo: { agent: echoAgent(), name: "Echo" },
    },
    { hidePeople: config.hidePeople },
  );
  const store =
    typeof where === "object"
      ? where
      : await openStore(config.store, { synchronous: config.synchronous === "full" ? "FULL" : "NORMAL" });
  // Something threw where `error` is among the details; what agents and people do wrong has none.
  const warn = (what: string, details: object) => log["error" in details ? "error" : "warn"](details, what);
  const rooms = new Rooms({
    store,
    agents: registry,
    clock: systemClock,
    limits: { message: bounds.message, queue: bounds.queue },
    texts: compileTextPaths(config.text),
    documents: { draft: config.draftSize, bytes: config.documentSize },
    idleMs: config.roomIdleMs,
    warn,
  });
  const info = { version: VERSION, agents: registry.list() };
  const origins = {
    cors: config.cors,
    host: mounted ? "0.0.0.0" : host,
    ...(config.publicUrl && { publicUrl: config.publicUrl }),
  };
  const gateway = new Gateway({
    rooms,
    clock: systemClock,
    limits: bounds,
    authenticate: authenticate ?? guests(joinCode, config.insecure, proxied),
    origins,
    server: info,
    log: (what, details) => log.debug(details, what),
  });
  const refused = toldOnce((reason) => log.warn(reason));
  let stopping = false;
  const door = `${config.basePath}/v1/ws`;
  const yjsDoor = `${config.basePath}/v1/yjs/`;
  const onUpgrade = (
    request: Parameters<Gateway["upgrade"]>[0],
    socket: Parameters<Gateway["upgrade"]>[1],
    head: Buffer,
  ) => {
    const isYjs = request.url?.startsWith(yjsDoor) ?? false;
    if (isYjs || request.url?.split("?")[0] === door) {
      const reason = refuseOrigin(request, origins);
      if (reason !== null) refused(reason);
      if (isYjs) return gateway.upgradeYjs(request, socket, head, yjsDoor);
      return gateway.upgrade(request, socket, head);
    }
    if (mounted) return;
    // Whoever hangs up before the answer is written must not bring the server down.
    socket.on("error", () => {});
    socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  };
  let built: Awaited<ReturnType<typeof buildHttp>> | undefined;
  /** Lets go of the HTTP side; a server of somebody else goes on without us. */
  const closeHttp = async () => {
    built?.server.off("upgrade", onUpgrade);
    if (mounted) built?.detach();
    else await built?.http.close();
  };
  try {
    built = await buildHttp({
      ...(mounted && { server: mounted }),
      basePath: config.basePath,
      app: app ? fileURLToPath(new URL("../app", import.meta.url)) : null,
      info,
      ready: async () => {
        if (stopping) return "The server is stopping.";
        return store.unfinished().then(
          () => null,
          () => "The store cannot be read.",
        );
      },
    });
    built.server.on("upgrade", onUpgrade);
    await rooms.boot();
    if (config.demo) await seedDemoThread(rooms);
    if (!mounted) await listen(built.server, config.port, host);
  } catch (error) {
    gateway.close();
    gateway.terminate();
    await closeHttp();
    await rooms.close();
    if (typeof where !== "object") await store.close();
    throw error;
  }
  const { server } = built;
  const url = `${addressOf(server, host)}${config.basePath}`;
  const sweep = setInterval(() => void store.sweep(Date.now()).catch(() => {}), 3_600_000);
  sweep.unref();
  let closed: Promise<void> | undefined;
  const close = async (drainMs: number) => {
    stopping = true;
    clearInterval(sweep);
    server.off("upgrade", onUpgrade);
    if (!mounted) server.close();
    gateway.close();
    rooms.hold();
    const until = Date.now() + drainMs;
    while (rooms.running && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
    await rooms.close();
    gateway.terminate();
    if (!mounted) server.closeAllConnections();
    await closeHttp();
    if (typeof where !== "object") await store.close();
  };
  return {
    url,
    ...(joinCode && { shareUrl: `${lanUrl(server, url)}${config.basePath}/#join=${joinCode}` }),
    agents: info.agents,
    close: ({ drainMs = config.drainMs } = {}) => {
      closed ??= close(drainMs);
      return closed;
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  if (address === null || typeof address === "string") return "http://127.0.0.1";
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${address.port}`;
}

/** The address others on the network see; the loopback one when there is no other. */
function lanUrl(server: Server, url: string): string {
  const address = server.address();
  const lan = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find((item) => item.family === "IPv4" && !item.internal);
  if (!lan || address === null || typeof address === "string") return new URL(url).origin;
  return `http://${lan.address}:${address.port}`;
}
