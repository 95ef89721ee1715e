import { z } from "zod";
import { JsonPatchShape, MessageShape } from "./agui.ts";
import { InputStatus } from "./entries.ts";
import { Meta, Turn } from "./turn.ts";

/** [D1] Stands on the answer to a request that was done before: nothing changed this time. */
const duplicate = z.literal(true).optional();

/**
 * [S1] Answer to `submit`. `seq`: after this entry what was submitted is in the log. `runId` is absent for a
 * note; `place`, from 1, is there while the input waits in the queue.
 */
export const SubmitAck = z.object({
  inputId: z.string(),
  status: InputStatus,
  runId: z.string().optional(),
  place: z.number().int().optional(),
  seq: z.number().int(),
  duplicate,
});
export type SubmitAck = z.infer<typeof SubmitAck>;

/**
 * [J4] Answer to `earlier`: a page of older messages, oldest first. `before` counts those that are older
 * still; entries ≤ `seq` are already in these messages.
 */
export const EarlierAck = z.object({
  messages: z.array(MessageShape),
  meta: z.array(Meta),
  turns: z.array(Turn),
  before: z.number().int(),
  seq: z.number().int(),
});
export type EarlierAck = z.infer<typeof EarlierAck>;

/** [H14] Answer to `patch`: the patch as it was applied, moved over what had changed since its `base`. */
export const PatchAck = z.object({ seq: z.number().int(), patch: JsonPatchShape, duplicate });
export type PatchAck = z.infer<typeof PatchAck>;

/** [H9] Answer to `revert`: pointers to what was left, because it is no longer what the run made of it. */
export const RevertAck = z.object({ seq: z.number().int(), skipped: z.array(z.string()), duplicate });
export type RevertAck = z.infer<typeof RevertAck>;

/**
 * [R10] Answer to `answer`: how many questions are open still; when none is, the run that goes on, where that could
 * begin at once.
 */
export const AnswerAck = z.object({
  seq: z.number().int(),
  remaining: z.number().int(),
  resumeRunId: z.string().optional(),
  duplicate,
});
export type AnswerAck = z.infer<typeof AnswerAck>;

/** [K1] Answer to `tools`: which of them count, and why others do not. */
export const ToolsAck = z.object({
  accepted: z.array(z.string()),
  refused: z.array(z.object({ name: z.string(), reason: z.string() })),
});
export type ToolsAck = z.infer<typeof ToolsAck>;

/** [K2] Answer to `claim`: its number, and until when it stands unless it is renewed, ms since the epoch. */
export const ClaimAck = z.object({ n: z.number().int(), until: z.number() });
export type ClaimAck = z.infer<typeof ClaimAck>;

/** Answer to the changing frames that have no shape of their own: after entry `seq` the change is in the log. */
export const ChangeAck = z.object({ seq: z.number().int(), duplicate });
export type ChangeAck = z.infer<typeof ChangeAck>;

/** Answer to requests that have nothing to say but that they were done. */
export const EmptyAck = z.object({});
export type EmptyAck = z.infer<typeof EmptyAck>;

/** [F4] What each request is answered with, beside `type` and `ref`. `join` is answered by `joined`. */
export const Acks = {
  leave: EmptyAck,
  earlier: EarlierAck,
  submit: SubmitAck,
  edit: ChangeAck,
  move: ChangeAck,
  withdraw: ChangeAck,
  cancel: ChangeAck,
  answer: AnswerAck,
  head: ChangeAck,
  tools: ToolsAck,
  claim: ClaimAck,
  release: EmptyAck,
  result: ChangeAck,
  patch: PatchAck,
  revert: RevertAck,
  update: ChangeAck,
  read: EmptyAck,
  watch: EmptyAck,
  unwatch: EmptyAck,
  ping: EmptyAck,
} as const;
export type Acks = { [T in keyof typeof Acks]: z.infer<(typeof Acks)[T]> };
