import type { IncomingMessage } from "node:http";
import type { Role, UpFrameOf } from "../../shared/protocol/index.ts";

/** Who a connection belongs to. `role`: what they may do in threads; default `editor`. */
export type Identity = { tenant: string; user: { id: string; name: string }; role?: Role };

/**
 * Decides who somebody is.
 * @param request the HTTP upgrade request
 * @param hello the first frame
 * @returns the identity, or a sentence that says why there is none
 */
export type Authenticate = (
  request: IncomingMessage,
  hello: UpFrameOf<"hello">,
) => Promise<Identity | { refused: string }>;
