import type {
  AGUIEvent,
  Author,
  Cursor,
  InputInfo,
  InterruptInfo,
  Json,
  Message,
  Person,
  Role,
  ThreadSettings,
  ToolInfo,
  Turn,
  TurnEnd,
} from "../shared/protocol/index.ts";
import type { CothreadError } from "./cothread-error.ts";
import type { Pending } from "./pending-inputs.ts";
import type { ThreadStatus } from "./thread-status.ts";

/** A run that is under way. */
export type ThreadRun = {
  readonly runId: string;
  readonly agent: string;
  /** Who started it. */
  readonly by: Author;
  readonly inputId?: string;
  /** Its RUN_STARTED, without `input`. */
  readonly started: AGUIEvent;
  /** The events that opened what is still open: text, tool calls, steps, reasoning, subagents. */
  readonly open: readonly AGUIEvent[];
};

/** What is known about a message beside its content. */
export type MessageAbout = {
  /** Who wrote it; where `agent` is set, who started the run in which that agent wrote it. */
  readonly by: Author;
  /** The agent whose run it belongs to. */
  readonly agent?: string;
  /** When it first entered the log, ms; for a pending one, when it was submitted here. */
  readonly at: number;
  readonly runId?: string;
  /** The turn it belongs to, one of {@link ThreadSnapshot.turns}; absent as long as it is pending. */
  readonly turn?: string;
  /** How its run ended; absent while the run goes on, and for messages of people. */
  readonly end?: TurnEnd;
  /** Its text, its thought or one of its tool calls is being written. */
  readonly streaming: boolean;
  /** Set as long as it has not come back from the server. */
  readonly pending?: Pending;
};

/** A message with what is known about it; the same object until one of both changes. */
export type MessageView = { readonly message: Message; readonly about: MessageAbout };

/** All a thread shows at one moment. Parts that did not change are the same objects as before. */
export type ThreadSnapshot = {
  readonly id: string;
  readonly status: ThreadStatus;
  /** Why it is not live; with status `loading` it is still trying. */
  readonly error: CothreadError | undefined;
  /** The conversation: what is in the log, then what this client has submitted and not got back. */
  readonly messages: readonly Message[];
  /**
   * The runs and inputs of the conversation in order, as far back as `messages`; those without a message too,
   * such as a run that failed before it said anything. A turn with `agent` is a run.
   */
  readonly turns: readonly Turn[];
  /** How many earlier messages there are; `earlier()` fetches them. */
  readonly before: number;
  /** The agent's shared state. */
  readonly state: Json;
  /** Runs under way, oldest first. */
  readonly runs: readonly ThreadRun[];
  /** Inputs that run or wait in the queue, in the order in which they run. */
  readonly inputs: readonly InputInfo[];
  /** Open interrupts; answered ones until the run that resumes begins. */
  readonly interrupts: readonly InterruptInfo[];
  /** Calls that ended runs left for clients to execute; `pending` ones are of tools that no client has. */
  readonly toolCalls: readonly ToolInfo[];
  /** Who is here now, one item for each of their clients; with `kind: "agent"`, agents that have a run under way. */
  readonly people: readonly Person[];
  /** How many clients of people are here: more than `people` has where there are over a hundred. */
  readonly peopleCount: number;
  readonly members: Readonly<Record<string, Role>>;
  readonly settings: ThreadSettings;
  readonly title: string;
  readonly archived: boolean;
  /** What this user may do here; known once joined. */
  readonly role: Role | undefined;
  /** The current turn. */
  readonly head: string | null;
  /** How far the log is applied. */
  readonly cursor: Cursor | null;
};

/** What a thread shows that nobody has joined yet; also what a server renders. */
export function emptySnapshot(id: string): ThreadSnapshot {
  return {
    id,
    status: "idle",
    error: undefined,
    messages: [],
    turns: [],
    before: 0,
    state: {},
    runs: [],
    inputs: [],
    interrupts: [],
    toolCalls: [],
    people: [],
    peopleCount: 0,
    members: {},
    settings: {},
    title: "",
    archived: false,
    role: undefined,
    head: null,
    cursor: null,
  };
}
