import type { IncomingMessage } from "node:http";
import { hostName, isLoopback } from "./loopback.ts";

/** Which web pages may connect, and under which names the server may be addressed. */
export type OriginRule = {
  /** Origins beside the server's own, e.g. `https://app.example.com`. */
  cors: string[];
  /** Address the server is bound to. */
  host: string;
  /** Where people reach it when a proxy is in front. */
  publicUrl?: string;
};

/**
 * Looks at Origin and Host of an upgrade request. Without it any web page a person visits could open a
 * socket to a server on their machine (cross-site hijacking), or reach it through a name of its own (DNS
 * rebinding).
 * @returns a sentence when the request is refused, else `null`
 */
export function refuseOrigin(request: IncomingMessage, rule: OriginRule): string | null {
  const { origin, host = "" } = request.headers;
  const name = hostName(host);
  const known = rule.publicUrl ? hostName(new URL(rule.publicUrl).host) : null;
  if (isLoopback(rule.host) && !isLoopback(name) && name !== known)
    return `This server listens on ${rule.host} and is not known as "${name}". Set publicUrl when a proxy is in front of it.`;
  // Programs that are no browsers send none.
  if (origin === undefined || rule.cors.includes(origin) || rule.cors.includes("*")) return null;
  const from = URL.canParse(origin) ? new URL(origin).host : null;
  const own = [host, rule.publicUrl && new URL(rule.publicUrl).host];
  if (from !== null && own.includes(from)) return null;
  // What is said is logged too, and a header may be long.
  const shown = origin.slice(0, 200);
  // Pages of files and of sandboxed frames have no origin that a list could name.
  const named = from !== null && new URL(origin).origin === origin ? shown : "*";
  return `Pages of ${shown} may not connect to this server. To allow it, start it with --cors "${named}", in code cors: ["${named}"].`;
}
