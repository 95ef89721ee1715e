import { z } from "zod";
import { ContextShape, JsonPatchShape, MetadataShape, ToolShape } from "./agui.ts";
import { Policy, Role, ThreadSettings } from "./entries.ts";
import { Id } from "./ids.ts";
import { Mentions } from "./mention.ts";

/** [F4] Chosen by the client, unique among its open requests; comes back on the one ack or reject. */
const ref = z.union([z.string().max(128), z.number()]);
/** [D2] Makes a changing request idempotent: (thread, user, key) is remembered for 24 h. */
const key = Id;
const thread = Id;

/**
 * [F3] The first frame. `client` is one tab or process over all its sockets ([F8]); `user` is how a guest
 * names themself ([I3]), `token` who somebody is otherwise.
 */
export const Hello = z.object({
  type: z.literal("hello"),
  v: z.number().int(),
  token: z.string().max(16_384).optional(),
  user: z.object({ id: Id, name: z.string().min(1).max(80) }).optional(),
  client: Id,
});
/**
 * [J1] Enters a thread. `create` makes one that does not exist ([J6]); `history` is how many of the newest
 * messages a snapshot should have, all without it ([J4]).
 */
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
/** Leaves a thread; live frames for it end. */
export const Leave = z.object({ type: z.literal("leave"), ref, thread });
/**
 * [J4] Asks for up to `limit` messages before the one with the id `before`; answered by {@link EarlierAck}.
 */
export const Earlier = z.object({
  type: z.literal("earlier"),
  ref,
  thread,
  before: z.string(),
  limit: z.number().int().min(1).max(1_000),
});
/**
 * [S1] Submits an input, or with `start: false` a note; known by its `inputId` ([D1]). Without `start` the thread's
 * trigger decides ([S6]). Its messages are
 * checked against AG-UI's schema where it is accepted ([S2]); `tools`, `context` and `forwardedProps` reach
 * the agent unaltered ([R11]).
 */
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
  // [T6] the turn it goes on from, instead of the current one; `null`: from the beginning
  parent: Id.nullable().optional(),
  // with `parent`: the state stays as it is now, instead of what it was there
  keepState: z.literal(true).optional(),
  draft: z.object({ messageId: Id, text: z.string(), mentions: Mentions.optional() }).optional(),
});
/** [Q2] Replaces the messages of a queued input; only who wrote them may. */
export const Edit = z.object({
  type: z.literal("edit"),
  ref,
  key,
  thread,
  inputId: Id,
  messages: z.array(z.unknown()),
});
/** [Q2] Moves a queued input to another place in the queue, from 1. */
export const Move = z.object({
  type: z.literal("move"),
  ref,
  key,
  thread,
  inputId: Id,
  place: z.number().int().min(1),
});
/** [Q1] Takes a queued input back; one that runs already is `gone`. */
export const Withdraw = z.object({ type: z.literal("withdraw"), ref, key, thread, inputId: Id });
/** [R6] Stops the run of that id and no other. */
export const Cancel = z.object({ type: z.literal("cancel"), ref, key, thread, runId: Id });
/** [T6] Shows another branch: the newest turn of it; `null` = before all. */
export const Head = z.object({
  type: z.literal("head"),
  ref,
  key,
  thread,
  turn: Id.nullable(),
  keepState: z.literal(true).optional(),
});
/** [R10] Answers an interrupt; the first answer that fits counts. */
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
/** [K1] Replaces the set of tools this client executes. */
export const Tools = z.object({ type: z.literal("tools"), ref, thread, tools: z.array(ToolShape).max(100) });
/** [K2] Takes an offered tool call for this client, or renews its lease. */
export const Claim = z.object({ type: z.literal("claim"), ref, thread, toolCallId: Id });
/** [K2] Gives a claimed tool call back; `n` is the number of the claim. */
export const Release = z.object({
  type: z.literal("release"),
  ref,
  thread,
  toolCallId: Id,
  n: z.number().int(),
});
/** [K3] Answers a claimed tool call; `n` is the number of the claim, `error` says that it failed. */
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
/** [H14] Changes the state as it was at seq `base`. */
export const Patch = z.object({
  type: z.literal("patch"),
  ref,
  key,
  thread,
  base: z.number().int(),
  patch: JsonPatchShape,
});
/** [H9] Takes back what a run did to the state, where others have left it alone. */
export const Revert = z.object({ type: z.literal("revert"), ref, key, thread, runId: Id });
/**
 * [W2] Tells the others in the thread what this client is doing: at most 4 KiB, never stored, never answered.
 */
export const Presence = z.object({
  type: z.literal("presence"),
  thread,
  data: z.looseObject({ typing: z.boolean().optional() }),
});
/**
 * Which threads a list has: archived ones, the others, or both without `archived`; those whose title or last
 * message has `text`; and how many at most, 200 unless it says.
 */
export const ThreadQuery = z.object({
  archived: z.boolean().optional(),
  text: z.string().max(200).optional(),
  limit: z.number().int().min(1).max(200).optional(),
});
export type ThreadQuery = z.infer<typeof ThreadQuery>;
/** [W3] Opens a live list of threads under a name of the client's choice; the same name again replaces it. */
export const Watch = z.object({ type: z.literal("watch"), ref, watch: Id, query: ThreadQuery });
/** Ends a live list. */
export const Unwatch = z.object({ type: z.literal("unwatch"), ref, watch: Id });
/** [W4] Marks a thread as read up to `seq`; a mark only moves forward. */
export const Read = z.object({ type: z.literal("read"), ref, thread, seq: z.number().int() });
/**
 * Renames a thread, puts it away (`archived`) and back, or sets when agents run in it ([S6]); needs no join.
 * `members` are not in this version ([F6]).
 */
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
/** Gives a new token before the old one expires. Not in this version ([F6]). */
export const Auth = z.object({ type: z.literal("auth"), ref, token: z.string().max(16_384) });
/** Asks for a sign of life: an empty ack. */
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
/** The up frame of one type. */
export type UpFrameOf<T extends UpFrame["type"]> = Extract<UpFrame, { type: T }>;

/** [F6] Frames whose feature this version does not have yet; they get `reject {code: "not_supported"}`. */
export const NOT_YET: ReadonlySet<UpFrame["type"]> = new Set(["auth"] satisfies UpFrame["type"][]);
