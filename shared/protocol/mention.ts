import { z } from "zod";
import { Id } from "./ids.ts";

/** [S6] Whom a message speaks to, in its `metadata.cothread.mentions`. */
export const Mention = z.object({ kind: z.enum(["agent", "user"]), id: Id });
export type Mention = z.infer<typeof Mention>;
/** As many as one message may have. */
export const Mentions = z.array(Mention).max(100);
