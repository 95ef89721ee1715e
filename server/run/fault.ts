import type { RejectCode } from "../../shared/protocol/index.ts";

/** Why an answer, a claim, a release or a result does not count, in words for whoever made it. */
export type Fault = { code: RejectCode; message: string; details?: unknown };
