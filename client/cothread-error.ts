import type { RejectCode } from "../shared/protocol/codes.ts";

/**
 * Why something did not work: a code of the server's refusals, or one of the client's own.
 * `closed`: the client was closed, or the thread was left before it was ready. `refused`: the server wants
 * no connection from this client. `offline`: the connection broke before the answer came. `timeout`: the
 * server did not answer in time. `withdrawn`: taken back before it was sent.
 */
export type ErrorCode = RejectCode | "closed" | "refused" | "offline" | "timeout" | "withdrawn";

/** Every error of this package: a code for programs, a sentence for people. */
export class CothreadError extends Error {
  override name = "CothreadError";
  readonly code: ErrorCode;
  /** Whether the same request may work later without a change. */
  readonly retry: boolean;
  /** What belongs to the code, as the server sent it; `{ close: number }` for a refused connection. */
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, retry = false, details?: unknown) {
    super(message);
    this.code = code;
    this.retry = retry;
    this.details = details;
  }
}
