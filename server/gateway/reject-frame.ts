import type { DownFrameOf } from "../../shared/protocol/index.ts";
import { Rejection } from "../room/port.ts";

/**
 * The `reject` frame for what a request failed with.
 * @param error a {@link Rejection} as it is; anything else is a fault of ours, which is told without its details
 * @param failed told of such a fault
 */
export function rejectFrame(
  ref: string | number | undefined,
  error: unknown,
  failed: () => void,
): DownFrameOf<"reject"> {
  if (!(error instanceof Rejection)) {
    failed();
    error = new Rejection(
      "store_failed",
      "Something went wrong in the server. Nothing was changed; try again.",
    );
  }
  const { code, message, retry, details } = error as Rejection;
  return {
    type: "reject",
    ...(ref !== undefined && { ref }),
    code,
    message,
    retry,
    ...(details !== undefined && { details }),
  };
}
