import { existsSync } from "node:fs";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import fastifyStatic from "@fastify/static";
import fastify, { type FastifyInstance } from "fastify";
import type { AgentInfo } from "../../shared/protocol/index.ts";

/** What the HTTP side is built on. */
export type HttpOptions = {
  /** An existing server to mount on; one is made otherwise. */
  server?: Server;
  /** Path before every path of ours, without a slash at the end; `""` for none. */
  basePath: string;
  /** Folder of the built web app; `null` serves none. */
  app: string | null;
  info: { version: string; agents: AgentInfo[] };
  /** Whether the server can take work right now; the sentence says why not. */
  ready(): Promise<string | null>;
};

/**
 * Builds the HTTP side: health, info and the web app. On a server of somebody else only our own paths are
 * answered; its other listeners keep theirs. `detach` takes ours off a server that goes on without us.
 */
export async function buildHttp(
  options: HttpOptions,
): Promise<{ server: Server; http: FastifyInstance; detach: () => void }> {
  const { basePath, app, info } = options;
  const own = options.server === undefined;
  const server = options.server ?? createHttpServer();
  let detach = () => {};
  const http = fastify({
    serverFactory: (handler) => {
      const listener = (request: IncomingMessage, response: ServerResponse) => {
        if (own || isOurs(request.url ?? "", basePath, app !== null)) handler(request, response);
      };
      server.on("request", listener);
      detach = () => server.off("request", listener);
      return server;
    },
  });
  http.get(`${basePath}/healthz`, async () => ({ status: "ok" }));
  http.get(`${basePath}/readyz`, async (_request, reply) => {
    const reason = await options.ready();
    return reason === null ? { status: "ready" } : reply.code(503).send({ status: "not ready", reason });
  });
  http.get(`${basePath}/v1/info`, async () => info);
  http.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
    reply
      .code(error.statusCode ?? 500)
      .send({ message: error.statusCode ? error.message : "Something went wrong in the server." }),
  );
  const served = app !== null && existsSync(app);
  if (served) {
    await http.register(fastifyStatic, {
      root: app,
      prefix: `${basePath}/`,
      // Its own header would come after ours.
      cacheControl: false,
      // Built files carry a hash in their name; the page that names them must always be asked for anew.
      setHeaders: (reply, path) =>
        reply.setHeader(
          "cache-control",
          path.includes("/assets/") ? "public, max-age=31536000, immutable" : "no-cache",
        ),
    });
    if (basePath) http.get(basePath, (_request, reply) => reply.redirect(`${basePath}/`));
  }
  http.setNotFoundHandler((request, reply) => {
    const message = `There is nothing at ${request.method} ${request.url.split("?")[0]}.`;
    reply.code(404).header("vary", "accept");
    // Somebody with a browser has typed an address; programs take JSON or anything.
    if (!request.headers.accept?.includes("text/html")) return reply.send({ message });
    return reply.type("text/html; charset=utf-8").send(page(message, served ? `${basePath}/` : null));
  });
  await http.ready();
  return { server, http, detach };
}

/** A page with one sentence and, where there is a web app, the way to it. */
function page(sentence: string, home: string | null): string {
  const link = home === null ? "" : `<p><a href="${escaped(home)}">To the threads</a></p>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Not found</title><p>${escaped(sentence)}</p>${link}</html>`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Whether a path belongs to this server when it shares an HTTP server with something else. */
export function isOurs(url: string, basePath: string, app: boolean): boolean {
  const path = url.split("?")[0] ?? "";
  if (app && path === basePath) return true;
  if (!path.startsWith(`${basePath}/`)) return false;
  const rest = path.slice(basePath.length);
  return app || rest === "/healthz" || rest === "/readyz" || rest.startsWith("/v1/");
}
