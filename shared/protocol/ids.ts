import { z } from "zod";

// Matching control characters is the purpose here.
// biome-ignore lint/suspicious/noControlCharactersInRegex: ids must not contain them [I1]
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** [I1] An id: non-empty, at most 256 characters (UTF-16 units), no control characters. */
export const Id = z
  .string()
  .min(1)
  .max(256)
  .refine((id) => !CONTROL.test(id), "contains a control character");

/** [C1] A position in one thread's log: identity of the log, last applied seq, id of the commit that wrote it. */
export const Cursor = z.object({
  epoch: z.string().max(64),
  seq: z.number(),
  mark: z.string().max(64),
});
export type Cursor = z.infer<typeof Cursor>;
