import type { Clock } from "../../shared/clock.ts";
import type { AgentInfo } from "../../shared/protocol/index.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import type { RoomsPort } from "../room/port.ts";
import type { Connection } from "./connection.ts";
import type { Feeds } from "./feed.ts";
import type { GatewayLimits } from "./limits.ts";
import type { ThreadWatches } from "./thread-watches.ts";

/** A connection that has something waiting. */
export interface Swept {
  sweep(now: number): boolean;
}

/** What all connections of a gateway share. */
export type ConnectionHost = {
  rooms: RoomsPort;
  feeds: Feeds;
  watches: ThreadWatches;
  clock: Clock;
  limits: GatewayLimits;
  authenticate: Authenticate;
  server: { version: string; agents: AgentInfo[] };
  /** Registers the client of a connection; an older connection of the same client is closed. */
  claimClient(connection: Connection): void;
  /** Sweeps the connection soon, and again for as long as it says so. */
  watch(connection: Swept): void;
  log(what: string, details: object): void;
};
