import { z } from "zod";
import { EventShape, JsonPatchShape, MessageShape, MetadataShape } from "./agui.ts";
import { Id } from "./ids.ts";

/** [L2] Who wrote an entry. Absent on an entry: the agent of the entry's run. */
export const Author = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("user"), id: z.string(), name: z.string().optional() }),
  z.object({ kind: z.literal("service"), id: z.string(), name: z.string().optional() }),
  z.object({ kind: z.literal("agent"), id: z.string() }),
  z.object({ kind: z.literal("system") }),
]);
export type Author = z.infer<typeof Author>;

/** What happens to an input that arrives while a run is active (DESIGN: policies). */
export const Policy = z.enum(["enqueue", "reject", "interrupt", "rollback", "parallel"]);
export type Policy = z.infer<typeof Policy>;

/**
 * How far an input is: waiting, being answered, or over in one of three ways ([Q1], [R5]). A note is `done`
 * at once ([S1]).
 */
export const InputStatus = z.enum(["queued", "running", "done", "failed", "withdrawn"]);
export type InputStatus = z.infer<typeof InputStatus>;

/**
 * What somebody may do in a thread: read, also write, also decide who may enter. In this version it is what the
 * server's authentication says of them, for all threads; `editor` where it says nothing.
 */
export const Role = z.enum(["viewer", "editor", "owner"]);
export type Role = z.infer<typeof Role>;

/** [S6] `trigger`: when what a person says makes an agent run. */
export const ThreadSettings = z.object({ trigger: z.enum(["always", "mention", "manual"]).optional() });
export type ThreadSettings = z.infer<typeof ThreadSettings>;

/** [R3] How a run began; on RUN_STARTED, and on a RUN_ERROR that is alone. */
export const RunStart = z.object({
  agent: z.string(),
  by: Author,
  inputId: z.string().optional(),
  resumes: z.string().optional(),
});
export type RunStart = z.infer<typeof RunStart>;

const base = { seq: z.number().int(), at: z.number(), by: Author.optional() };

/**
 * [R2] An event of a run, as AG-UI's stages expanded it. `was`: a logged delta that the agent sent as a
 * snapshot; `sent`: what the agent said of its state, where something else became of it ([H15]); `late`: a RUN_ERROR
 * behind RUN_FINISHED ([R9]); `start`: how the run began ([R3]).
 */
export const EventEntry = z.object({
  ...base,
  kind: z.literal("event"),
  run: z.string(),
  event: EventShape,
  was: z.literal("STATE_SNAPSHOT").optional(),
  sent: JsonPatchShape.optional(),
  late: z.literal(true).optional(),
  start: RunStart.optional(),
});
/**
 * [R7] What an agent's MESSAGES_SNAPSHOT changed: messages put behind another (`null` = before all), and ids
 * of dropped ones.
 */
export const MessagesEntry = z.object({
  ...base,
  kind: z.literal("messages"),
  run: z.string(),
  put: z.array(z.object({ message: MessageShape, after: z.string().nullable() })),
  drop: z.array(z.string()),
  event: z.looseObject({}).optional(),
});
/**
 * A change of the state that is no event of a run: a patch, by which way it came, and the run it takes back
 * (`reverts`) ([H10]).
 */
export const StateEntry = z.object({
  ...base,
  kind: z.literal("state"),
  run: z.string().nullable(),
  patch: JsonPatchShape,
  via: z.enum(["agent", "patch", "doc", "door", "revert"]),
  reverts: z.string().optional(),
});
/**
 * A change of a text in the state: at the pointer `path`, edits [offset, deleted, inserted], both counted in
 * UTF-16 units ([H8]).
 */
export const TextEntry = z.object({
  ...base,
  kind: z.literal("text"),
  run: z.string().nullable(),
  path: z.string(),
  edits: z.array(z.tuple([z.number().int(), z.number().int(), z.string()])),
});
/**
 * [L7] A message that was not streamed: of an input, of a note, or found in a run's `input` ([R3]). `after`:
 * the message it stands behind.
 */
export const MessageEntry = z.object({
  ...base,
  kind: z.literal("message"),
  turn: z.string(),
  message: MessageShape,
  after: z.string().optional(),
});
/**
 * [L7] A step in the life of an input. The first one has its `messages`; `place`, from 1, is that in the
 * queue; `reason` is the RUN_ERROR code of a failed one.
 */
export const InputEntry = z.object({
  ...base,
  kind: z.literal("input"),
  inputId: z.string(),
  status: InputStatus,
  messages: z.array(MessageShape).optional(),
  place: z.number().int().optional(),
  runId: z.string().optional(),
  agent: z.string().optional(),
  policy: Policy.optional(),
  reason: z.string().optional(),
});
/**
 * [R10] The answer to an interrupt of run `runId`. `waits`: given by an input that said something else, to another
 * agent; the one that asked has it with its next run.
 */
export const AnswerEntry = z.object({
  ...base,
  kind: z.literal("answer"),
  interruptId: z.string(),
  runId: z.string(),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional(),
  metadata: MetadataShape.optional(),
  waits: z.literal(true).optional(),
});
/**
 * [K2] A step in the life of a call that clients execute: `client` holds it under the number `n` until `until`, ms
 * since the epoch. An offer that names a client is kept for it until then. `released` without `n`: given up.
 */
export const ToolEntry = z.object({
  ...base,
  kind: z.literal("tool"),
  toolCallId: z.string(),
  runId: z.string(),
  status: z.enum(["offered", "claimed", "released", "answered"]),
  client: z.string().optional(),
  n: z.number().int().optional(),
  until: z.number().optional(),
});
/**
 * [T6] Moves the head to a turn, or before all (`null`), and says why; nothing is deleted by it.
 */
export const HeadEntry = z.object({
  ...base,
  kind: z.literal("head"),
  turn: z.string().nullable(),
  why: z.enum(["switch", "regenerate", "edit", "rollback"]),
});
/**
 * Stands where content was removed on request, so that seqs stay dense ([L1]); `what` says what it was. None
 * are written in this version.
 */
export const ErasedEntry = z.object({ ...base, kind: z.literal("erased"), what: z.string() });
/** A change of the thread itself: what is present is set; a member set to `null` is one no longer. */
export const ThreadEntry = z.object({
  ...base,
  kind: z.literal("thread"),
  title: z.string().optional(),
  archived: z.boolean().optional(),
  members: z.record(Id, Role.nullable()).optional(),
  settings: ThreadSettings.optional(),
});

/** [L1] One record of a thread's log. */
export const Entry = z.discriminatedUnion("kind", [
  EventEntry,
  MessagesEntry,
  StateEntry,
  TextEntry,
  MessageEntry,
  InputEntry,
  AnswerEntry,
  ToolEntry,
  HeadEntry,
  ErasedEntry,
  ThreadEntry,
]);
export type Entry = z.infer<typeof Entry>;

/** Leaves the union a union: an entry before the log gave it a place. */
type Unplaced<E> = E extends unknown ? Omit<E, "seq" | "at"> : never;
/** What a change wants to log; the room adds `seq` and `at` when it commits. */
export type NewEntry = Unplaced<Entry>;
/** The entries of one kind. */
export type EntryOf<K extends Entry["kind"]> = Extract<Entry, { kind: K }>;
