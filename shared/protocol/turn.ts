import { z } from "zod";
import { TokenUsageShape } from "./agui.ts";
import { Author } from "./entries.ts";

/** [R10] What somebody decided about something a run asked; `approved` where the answer says yes or no. */
export const Decision = z.object({
  by: Author,
  status: z.enum(["resolved", "cancelled"]),
  message: z.string().optional(),
  approved: z.boolean().optional(),
});
export type Decision = z.infer<typeof Decision>;
/** How a turn ended. `outcome` is AG-UI's, or `error` for RUN_ERROR. */
export const TurnEnd = z.object({
  outcome: z.enum(["success", "interrupt", "cancelled", "error"]),
  code: z.string().optional(),
  message: z.string().optional(),
  at: z.number(),
  /** The entry that ended it: the state as it was then is what a branch from here begins with. */
  seq: z.number().int().optional(),
  usage: z.array(TokenUsageShape).optional(),
  /** Who stopped it; absent where nobody did. */
  by: Author.optional(),
  /** What became of its interrupts, in the order of the answers. */
  decisions: z.array(Decision).optional(),
});
export type TurnEnd = z.infer<typeof TurnEnd>;
/** A turn as clients see it; messages point at it by index, so that attribution stays small. */
export const Turn = z.object({
  id: z.string(),
  by: Author,
  agent: z.string().optional(),
  end: TurnEnd.optional(),
  /** [T6] Turns that begin at its end, in the order they began; absent where that is only the one that is shown. */
  next: z.array(z.string()).optional(),
});
export type Turn = z.infer<typeof Turn>;
/** [turn index, time in ms the message first entered the log] */
export const Meta = z.tuple([z.number().int(), z.number()]);
export type Meta = z.infer<typeof Meta>;
