import type { DownFrameOf } from "../../shared/protocol/index.ts";
import { Rejection } from "../room/port.ts";

/**
 * The `reject` of a frame ([F4]).
 * @param ref of the frame; absent for one that has none
 * @param error why; what is no Rejection is a fault of the server, of which a client learns nothing more
 */
export function rejectFrame(ref: string | number | undefined, error: unknown): DownFrameOf<"reject"> {
  const { code, message, retry, details } =
    error instanceof Rejection
      ? error
      : new Rejection("store_failed", "Something went wrong in the server. Nothing was changed; try again.");
  return {
    type: "reject",
    ...(ref !== undefined && { ref }),
    code,
    message,
    retry,
    ...(details !== undefined && { details }),
  };
}
