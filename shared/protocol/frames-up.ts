import { z } from "zod";
import { ContextShape, JsonPatchShape, MetadataShape, ToolShape } from "./agui.ts";
import { Policy, Role, ThreadSettings } from "./entries.ts";
import { Id } from "./ids.ts";

/** [F4] Chosen by the client, unique among its open requests; comes back on the one ack or reject. */
const ref = z.union([z.string().max(128), z.number()]);
/** [D2] Makes a changing request idempotent: (thread, user, key) is remembered for 24 h. */
const key = Id;
const thread = Id;

export const Hello = z.object({
  type: z.literal("hello"),
  v: z.number().int(),
  token: z.string().max(16_384).optional(),
  user: z.object({ id: Id, name: z.string().min(1).max(80) }).optional(),
  client: Id,
});
export const Join = z.object({
  type: z.literal("join"),
  ref,
  thread,
  // [C3] anything that is not a usable cursor gets a snapshot, never an error
  cursor: z.unknown().optional(),
  create: z.boolean().optional(),
  history: z.number().int().min(0).optional(),
  // [J8] with a cursor, by who lacks earlier messages: the first one it holds
  oldest: z.string().optional(),
});
export const Leave = z.object({ type: z.literal("leave"), ref, thread });
export const Earlier = z.object({
  type: z.literal("earlier"),
  ref,
  thread,
  before: z.string(),
  limit: z.number().int().min(1).max(1_000),
});
export const Submit = z.object({
  type: z.literal("submit"),
  ref,
  thread,
  inputId: Id,
  messages: z.array(z.unknown()).max(100).optional(),
  start: z.boolean().optional(),
  runId: Id.optional(),
  agent: Id.optional(),
  policy: Policy.optional(),
  interrupts: z.literal("cancel").optional(),
  steer: z.literal(true).optional(),
  tools: z.array(ToolShape).optional(),
  context: z.array(ContextShape).optional(),
  forwardedProps: z.unknown().optional(),
  parent: Id.optional(),
  draft: z.object({ messageId: Id, text: z.string() }).optional(),
});
export const Edit = z.object({
  type: z.literal("edit"),
  ref,
  key,
  thread,
  inputId: Id,
  messages: z.array(z.unknown()),
});
export const Move = z.object({
  type: z.literal("move"),
  ref,
  key,
  thread,
  inputId: Id,
  place: z.number().int(),
});
export const Withdraw = z.object({ type: z.literal("withdraw"), ref, key, thread, inputId: Id });
export const Cancel = z.object({ type: z.literal("cancel"), ref, key, thread, runId: Id });
export const Head = z.object({ type: z.literal("head"), ref, key, thread, turn: Id.nullable() });
export const Answer = z.object({
  type: z.literal("answer"),
  ref,
  key,
  thread,
  interruptId: Id,
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional(),
  metadata: MetadataShape.optional(),
});
export const Tools = z.object({ type: z.literal("tools"), ref, thread, tools: z.array(ToolShape) });
export const Claim = z.object({ type: z.literal("claim"), ref, thread, toolCallId: Id });
export const Release = z.object({
  type: z.literal("release"),
  ref,
  thread,
  toolCallId: Id,
  n: z.number().int(),
});
export const Result = z.object({
  type: z.literal("result"),
  ref,
  key,
  thread,
  toolCallId: Id,
  n: z.number().int(),
  content: z.unknown(),
  error: z.string().optional(),
});
export const Patch = z.object({
  type: z.literal("patch"),
  ref,
  key,
  thread,
  base: z.number().int(),
  patch: JsonPatchShape,
});
export const Revert = z.object({ type: z.literal("revert"), ref, key, thread, runId: Id });
export const Presence = z.object({
  type: z.literal("presence"),
  thread,
  data: z.looseObject({ typing: z.boolean().optional() }),
});
export const ThreadQuery = z.object({
  archived: z.boolean().optional(),
  text: z.string().max(200).optional(),
  limit: z.number().int().min(1).max(200).optional(),
});
export type ThreadQuery = z.infer<typeof ThreadQuery>;
export const Watch = z.object({ type: z.literal("watch"), ref, watch: Id, query: ThreadQuery });
export const Unwatch = z.object({ type: z.literal("unwatch"), ref, watch: Id });
export const Read = z.object({ type: z.literal("read"), ref, thread, seq: z.number().int() });
export const Update = z.object({
  type: z.literal("update"),
  ref,
  key,
  thread,
  title: z.string().max(200).optional(),
  archived: z.boolean().optional(),
  settings: ThreadSettings.optional(),
  members: z.record(Id, Role.nullable()).optional(),
});
export const Auth = z.object({ type: z.literal("auth"), ref, token: z.string().max(16_384) });
export const Ping = z.object({ type: z.literal("ping"), ref });

/** [F1] Everything a client may send as JSON text. */
export const UpFrame = z.discriminatedUnion("type", [
  Hello,
  Join,
  Leave,
  Earlier,
  Submit,
  Edit,
  Move,
  Withdraw,
  Cancel,
  Head,
  Answer,
  Tools,
  Claim,
  Release,
  Result,
  Patch,
  Revert,
  Presence,
  Watch,
  Unwatch,
  Read,
  Update,
  Auth,
  Ping,
]);
export type UpFrame = z.infer<typeof UpFrame>;
export type UpFrameOf<T extends UpFrame["type"]> = Extract<UpFrame, { type: T }>;

/** [F6] Frames whose feature this version does not have yet; they get `reject {code: "not_supported"}`. */
export const NOT_YET: ReadonlySet<UpFrame["type"]> = new Set([
  "edit",
  "move",
  "head",
  "answer",
  "tools",
  "claim",
  "release",
  "result",
  "patch",
  "revert",
  "read",
  "auth",
] satisfies UpFrame["type"][]);
