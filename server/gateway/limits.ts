/** What connections are held to; sizes in bytes, times in ms. */
export type GatewayLimits = {
  /** Largest frame a client may send. */
  frame: number;
  /** Largest single message a person may submit. */
  message: number;
  /** Largest presence data. */
  presence: number;
  /** Threads one connection may have joined at a time. */
  threads: number;
  /** Thread lists one connection may watch at a time. */
  watches: number;
  /** Waiting inputs a thread may have. */
  queue: number;
  /** Outbox bounds. */
  softBytes: number;
  hardBytes: number;
  stallMs: number;
  /** Time for `hello` after the socket opened. */
  helloMs: number;
  /** Between two pings; a connection that leaves two unanswered is dead. */
  pingMs: number;
};

/** What connections are held to unless the server's options say otherwise ([F3], [B1], [B4], [W2]). */
export const DEFAULT_LIMITS: GatewayLimits = {
  frame: 4 * 1024 * 1024,
  message: 1024 * 1024,
  presence: 4 * 1024,
  threads: 100,
  watches: 10,
  queue: 100,
  softBytes: 1024 * 1024,
  hardBytes: 16 * 1024 * 1024,
  stallMs: 60_000,
  helloMs: 5_000,
  pingMs: 25_000,
};
