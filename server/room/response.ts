import type { Clock } from "../../shared/clock.ts";
import type { AGUIEvent, Tool } from "../../shared/protocol/index.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import type { Driver } from "../run/driver.ts";
import type { RunFailure } from "../run/failure.ts";
import type { Ingest } from "../run/ingest.ts";
import type { ThreadKey } from "../store/store.ts";
import type { RunRecord } from "./input-record.ts";
import type { LiveThread } from "./live-thread.ts";
import type { SharedState } from "./shared-state.ts";
import type { Turn } from "./turn.ts";

/** One response of an agent, from the call to its end. */
export type Response = {
  record: RunRecord;
  /** What its agent was told that clients can do. */
  tools: readonly Tool[];
  live: LiveThread;
  ingest: Ingest;
  /** Absent until the turn that starts the run is committed: the input is safe before the agent is called. */
  driver?: Driver;
  events: AGUIEvent[];
  /** Set when the response is over; `null` when it ended by itself. */
  end?: { failure: RunFailure | null };
  noted: boolean;
  /** When its last run ended, ms; absent while a run is under way. */
  endedAt?: number;
  cancelGrace: () => void;
};

/** What responses need of their room. */
export type ResponseHost = {
  key: ThreadKey;
  agents: AgentRegistry;
  clock: Clock;
  /** The state people and agents share. */
  state(): SharedState;
  /** The tools that clients execute, by name. */
  tools(): ReadonlyMap<string, Tool>;
  /** The people who are here, each once. */
  people(): { id: string; name: string }[];
  /** Runs `work` in the room's next turn. */
  next(work: (turn: Turn) => void): void;
  /** Says what went wrong, without content. */
  warn(what: string, details: object): void;
};
