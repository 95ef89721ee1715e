import type { Json } from "../../shared/protocol/index.ts";

/** A JSON object. */
export type Members = { [key: string]: Json };

/** What a scripted agent remembers of a thread. */
export type Checkpoint = {
  /** Its state, without its messages. */
  values: Members;
  /** Its messages, in LangChain's shape. */
  messages: LangChainMessage[];
  /** Id of the interrupt it waits behind. */
  waiting: string | null;
  /** Runs it has had in the thread. */
  runs: number;
};

/** A message as LangChain keeps it: a `type` where AG-UI has a `role`. */
export type LangChainMessage = {
  id: string;
  type: "human" | "ai";
  content: string;
  additional_kwargs: Members;
  response_metadata: Members;
};

/** A message in LangChain's shape. */
export function langChainMessage(id: string, type: "human" | "ai", content: string): LangChainMessage {
  return { id, type, content, additional_kwargs: {}, response_metadata: {} };
}

/** What is remembered of a thread nobody has talked in. */
export function emptyCheckpoint(): Checkpoint {
  return { values: {}, messages: [], waiting: null, runs: 0 };
}

/** The members of a state; none of one that is no object. */
export function membersOf(state: unknown): Members {
  return typeof state === "object" && state !== null && !Array.isArray(state) ? (state as Members) : {};
}
