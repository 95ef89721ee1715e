import { createContext, use } from "react";
import type { AgentInfo, Author, PlainStateView, Thread } from "../react/index.ts";
import { AGENT_COLOURS, createPalette, PEOPLE_COLOURS, preferredPlace } from "./colours.ts";
import type { StateChanges } from "./state-changes.ts";
import type { SharedDoc } from "./use-shared-doc.ts";

/** Colours of everybody this window has seen. */
export const peopleColours = createPalette(PEOPLE_COLOURS);

/** What the parts of a conversation need to know beside what they show. */
export type ThreadContext = {
  readonly thread: Thread;
  /** The user id of whoever sits in front of this window; empty before the server has said it. */
  readonly me: string;
  /** Agents the server has. */
  readonly agents: readonly AgentInfo[];
  /** Whether what is sent goes out at once. */
  readonly live: boolean;
  /** Who changed what in the state, as far as this window knows. */
  readonly changes: StateChanges;
  /** The state as a client shows it that merges nothing. */
  readonly plainState: PlainStateView;
  /** What people write in together; absent as long as it is not here, or for good. */
  readonly shared?: SharedDoc | null;
  /** Sends a text again to the agent that failed on it. */
  readonly again: (run: { id: string; agent: string }) => void;
};

export const ThreadContext = createContext<ThreadContext | null>(null);

/** The nearest {@link ThreadContext}. @throws Error outside of a thread */
export function useThreadContext(): ThreadContext {
  const context = use(ThreadContext);
  if (!context) throw new Error("This part stands outside of a thread.");
  return context;
}

/** What people call an agent; its id when the server does not have it any more. */
export function agentName(agents: readonly AgentInfo[], id: string): string {
  return agents.find((agent) => agent.id === id)?.name ?? id;
}

/** The colour of an agent, the same one everywhere. */
export function agentColour(agents: readonly AgentInfo[], id: string): string {
  const place = agents.findIndex((agent) => agent.id === id);
  const { length } = AGENT_COLOURS;
  // One that the server does not have any more gets what its id says.
  return AGENT_COLOURS[place < 0 ? preferredPlace(id, length) : place % length] as string;
}

/** The colour of whoever wrote something. */
export function colourOf(by: Author): string {
  return by.kind === "system" ? "var(--ink3)" : peopleColours.of(by.id);
}
