/** Why an open store could not do what it was asked. */
export type StoreErrorCode =
  | "full"
  | "busy"
  | "read_only"
  | "corrupt"
  | "io"
  | "closed"
  | "bad_batch"
  | "fenced"
  | "conflict"
  | "failed";

/**
 * What a commit reports and a read throws. `message` is a sentence for the person who runs the server; it
 * holds neither paths nor anything of what is stored.
 */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
