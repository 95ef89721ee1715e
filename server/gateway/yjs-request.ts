import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Id } from "../../shared/protocol/index.ts";
import type { YjsRequest } from "./yjs-connection.ts";

/** The subprotocol of the door; a token stands beside it as `auth.<token>`. */
export const YJS_SUBPROTOCOL = "cothread.yjs";

/**
 * Reads what a stock provider can say about itself ([Y7]): thread in the path, token as a subprotocol, and for guests
 * `user` and `name` as parameters of the address.
 * @param prefix the path before the thread's id
 */
export function readYjsRequest(request: IncomingMessage, prefix: string): YjsRequest {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const params = new URLSearchParams(query);
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((each) => each.trim());
  const token = offered.find((each) => each.startsWith("auth."))?.slice("auth.".length);
  const id = Id.safeParse(params.get("user"));
  const name = (params.get("name") ?? "").trim().slice(0, 80) || "Guest";
  return {
    request,
    thread: threadOf(path.slice(prefix.length)),
    ...(token && { token }),
    user: { id: id.success ? id.data : randomUUID(), name },
  };
}

function threadOf(encoded: string): string | null {
  try {
    const id = Id.safeParse(decodeURIComponent(encoded));
    return id.success ? id.data : null;
  } catch {
    return null;
  }
}
