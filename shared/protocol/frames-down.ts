import { z } from "zod";
import { ChangeAck, EarlierAck, SubmitAck } from "./acks.ts";
import { EventShape, type Interrupt, MessageShape, MetadataShape } from "./agui.ts";
import { REJECTS, type RejectCode } from "./codes.ts";
import { Author, Entry, InputStatus, Policy, Role, ThreadSettings } from "./entries.ts";
import { Meta, Turn } from "./turn.ts";

const ref = z.union([z.string(), z.number()]);
const place = { thread: z.string(), epoch: z.string(), seq: z.number().int(), mark: z.string() };

/** A person as others see them: the id the server gave ([I3]) and the name to show. */
export const User = z.object({ id: z.string(), name: z.string() });
export type User = z.infer<typeof User>;

/**
 * An agent of this server that people may choose; `default` marks the one that answers when none is named.
 */
export const AgentInfo = z.object({ id: z.string(), name: z.string(), default: z.literal(true).optional() });
export type AgentInfo = z.infer<typeof AgentInfo>;

/** What the server holds clients to; sizes in bytes, times in ms. */
export const Limits = z.object({
  frame: z.number().int(),
  message: z.number().int(),
  presence: z.number().int(),
  history: z.number().int(),
});
export type Limits = z.infer<typeof Limits>;

/**
 * [F3] Answers `hello`: the server's protocol version, whom it takes the client for, its agents and its
 * limits.
 */
export const Welcome = z.object({
  type: z.literal("welcome"),
  v: z.number().int(),
  connection: z.string(),
  user: User,
  server: z.object({ version: z.string(), agents: z.array(AgentInfo) }),
  limits: Limits,
});
/**
 * [F4] The one answer to a request that was done. Which fields it has beside `ref` depends on the request
 * ({@link Acks}); a frame does not say what it answers, so that here any of them may be there.
 */
export const Ack = z.looseObject({
  ...EarlierAck.partial().shape,
  ...ChangeAck.partial().shape,
  ...SubmitAck.partial().shape,
  type: z.literal("ack"),
  ref,
});
/**
 * [F4] Refuses a request: a code of `REJECTS`, a sentence for people, and whether the same request may
 * succeed later. Without `ref` the refused frame had none that could be read.
 */
export const Reject = z.object({
  type: z.literal("reject"),
  ref: ref.optional(),
  code: z.enum(Object.keys(REJECTS) as [RejectCode, ...RejectCode[]]),
  message: z.string(),
  retry: z.boolean(),
  details: z.unknown().optional(),
});
/**
 * [J1] Answers `join`: where the log stands, and whether the cursor was good ([J3]), so that entries follow
 * and no snapshot. `channel` names the thread in binary frames on this socket ([J7]).
 */
export const Joined = z.object({
  type: z.literal("joined"),
  ref,
  ...place,
  channel: z.number().int(),
  generation: z.number().int(),
  recovered: z.boolean(),
  role: Role,
});

/**
 * A run under way: its RUN_STARTED and the events that opened what is open, oldest first, so that a client
 * can follow the rest.
 */
export const ActiveRun = z.object({
  runId: z.string(),
  agent: z.string(),
  by: Author,
  turn: z.string(),
  started: EventShape,
  open: z.array(EventShape),
});
export type ActiveRun = z.infer<typeof ActiveRun>;
/**
 * [Q1] An input that waits or runs, as everybody in the thread sees it; `place`, from 1, is where in the
 * queue it began.
 */
export const InputInfo = z.object({
  inputId: z.string(),
  by: Author,
  status: InputStatus,
  place: z.number().int().optional(),
  messages: z.array(MessageShape),
  agent: z.string().optional(),
  policy: Policy.optional(),
  runId: z.string().optional(),
});
export type InputInfo = z.infer<typeof InputInfo>;
/** An answer to an interrupt, until the run that gets it begins. */
const Answered = z.object({
  by: Author,
  // Of its entry: who answered last is whose run it is.
  seq: z.number().int(),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional(),
  metadata: MetadataShape.optional(),
  // No run begins for it: the agent could not be reached with it, or something else was said to another one. Whoever
  // asks the agent next sends it along.
  waits: z.literal(true).optional(),
});
type InterruptState = { runId: string; agent: string; answered?: z.infer<typeof Answered> };
/** AG-UI's interrupt with the run and the agent that raised it and, once given, the answer ([R10]). */
export const InterruptInfo = z
  .looseObject({
    id: z.string(),
    reason: z.string(),
    runId: z.string(),
    agent: z.string(),
    answered: Answered.optional(),
  })
  .transform((i) => i as unknown as InterruptInfo);
/** AG-UI's interrupt with the run and the agent that raised it and, once given, the answer. */
export type InterruptInfo = Interrupt & InterruptState;
/**
 * A call that its run left for clients to answer ([R8]), with its arguments as JSON text; `until`, ms since
 * the epoch, is when a claim ends.
 */
export const ToolInfo = z.object({
  runId: z.string(),
  toolCallId: z.string(),
  name: z.string(),
  args: z.string(),
  // `pending`: nobody here can execute it. `answered`: until the run goes on.
  status: z.enum(["pending", "offered", "claimed", "answered"]),
  // Who executes it; of an offer, who may take it until `until` before all others.
  client: z.string().optional(),
  by: Author.optional(),
  n: z.number().int().optional(),
  until: z.number().optional(),
});
export type ToolInfo = z.infer<typeof ToolInfo>;

/**
 * [J4] The thread at `seq`; replaces all the client has of it. `before` counts older messages that were left
 * out; `meta` runs parallel to `messages` and points into `turns`.
 */
export const Snapshot = z.object({
  type: z.literal("snapshot"),
  ...place,
  head: z.string().nullable(),
  title: z.string(),
  archived: z.boolean(),
  messages: z.array(MessageShape),
  before: z.number().int(),
  meta: z.array(Meta),
  turns: z.array(Turn),
  // [T6] turns that begin at the beginning, where that is not only the one that is shown
  roots: z.array(z.string()).optional(),
  state: z.unknown(),
  runs: z.array(ActiveRun),
  inputs: z.array(InputInfo),
  interrupts: z.array(InterruptInfo),
  tools: z.array(ToolInfo),
  settings: ThreadSettings,
  members: z.record(z.string(), Role),
});
export type Snapshot = z.infer<typeof Snapshot>;

/** [C4] Everything for this client in (after, seq]; `mark` is that of the commit that wrote `seq`. */
export const Entries = z.object({
  type: z.literal("entries"),
  thread: z.string(),
  after: z.number().int(),
  seq: z.number().int(),
  mark: z.string(),
  items: z.array(Entry),
});
export type Entries = z.infer<typeof Entries>;

/**
 * [W1] A client that is in the thread, the user behind it, and its presence data ([W2]); or, with `kind: "agent"`,
 * an agent that has a run under way.
 */
export const Person = z.object({
  client: z.string(),
  user: User,
  kind: z.literal("agent").optional(),
  data: z.looseObject({}).optional(),
});
export type Person = z.infer<typeof Person>;
/**
 * [W1] Who is in a thread: `all` once after joining, then who came, who left (by client) and whose data
 * changed. `count` is how many clients there are, where not all are named.
 */
export const People = z.object({
  type: z.literal("people"),
  thread: z.string(),
  all: z.array(Person).optional(),
  join: z.array(Person).optional(),
  leave: z.array(z.string()).optional(),
  update: z.array(Person).optional(),
  count: z.number().int().optional(),
});
export type People = z.infer<typeof People>;
/** [Y3] Says that updates of the shared document up to number `n` of the channel are stored. */
export const Saved = z.object({ type: z.literal("saved"), thread: z.string(), n: z.number().int() });

/**
 * [W3] A thread in a list; times in ms since the epoch. `waiting`: for answers to interrupts or tool calls;
 * `unread`: messages of others behind this user's read mark ([W4]).
 */
export const ThreadInfo = z.object({
  id: z.string(),
  title: z.string(),
  agent: z.string().nullable(),
  archived: z.boolean(),
  createdAt: z.number(),
  updatedAt: z.number(),
  lastMessage: z.string().max(120),
  running: z.boolean(),
  waiting: z.boolean(),
  unread: z.number().int(),
  people: z.array(User),
});
export type ThreadInfo = z.infer<typeof ThreadInfo>;
/**
 * [W3] A live list: the first frame for a `watch` has all of it, later ones the threads that changed and the
 * ids of those that no longer match.
 */
export const Threads = z.object({
  type: z.literal("threads"),
  watch: z.string(),
  items: z.array(ThreadInfo),
  removed: z.array(z.string()),
});
/** Says that the credential ends at `at`, ms since the epoch. Never sent in this version. */
export const Expiring = z.object({ type: z.literal("expiring"), at: z.number() });
/**
 * [F7] The last frame before the server closes: a code of `CLOSES`, a sentence for people, and how long to
 * stay away at least, ms.
 */
export const Bye = z.object({
  type: z.literal("bye"),
  code: z.number().int(),
  reason: z.string(),
  retryAfterMs: z.number().optional(),
});

/** [F2] Everything the server may send as JSON text. */
export const DownFrame = z.discriminatedUnion("type", [
  Welcome,
  Ack,
  Reject,
  Joined,
  Snapshot,
  Entries,
  People,
  Saved,
  Threads,
  Expiring,
  Bye,
]);
export type DownFrame = z.infer<typeof DownFrame>;
/** The down frame of one type. */
export type DownFrameOf<T extends DownFrame["type"]> = Extract<DownFrame, { type: T }>;
