import type { Message } from "../../shared/protocol/index.ts";

/** Kinds of things that belong to a subagent, or to the agent itself, for the length of a run. */
export type Owned = "message" | "call" | "activity" | "reasoning";
type Tagged = { subagentRunId?: string };
type Owner = { tag: string | undefined };

/** What an AG-UI client notes of one run in order to refuse what is not legal in it. */
export class StreamScope {
  readonly text = new Set<string>();
  readonly calls = new Set<string>();
  readonly spans = new Set<string>();
  readonly thoughts = new Set<string>();
  /** By name and subagent. */
  readonly steps = new Map<string, { stepName: string } & Tagged>();
  /** Whether each subagent of the run is active. */
  readonly subagents = new Map<string, boolean>();
  private readonly owners: Record<Owned, Map<string, Owner>> = {
    message: new Map(),
    call: new Map(),
    activity: new Map(),
    reasoning: new Map(),
  };

  owner(kind: Owned, id: string): Owner | undefined {
    return this.owners[kind].get(id);
  }

  own(kind: Owned, id: string, tag: string | undefined): void {
    this.owners[kind].set(id, { tag });
  }

  /** The attribution an opening event may have: the first one owns, and none at all is always legal. */
  opening(kind: Owned, id: string, tag: string | undefined): Tagged {
    const owner = this.owner(kind, id);
    if (!owner) this.own(kind, id, tag);
    return tag === undefined || (owner && owner.tag !== tag) ? {} : { subagentRunId: tag };
  }

  /** The attribution of an event that goes on with something. */
  continuing(kind: Owned, id: string): Tagged {
    const tag = this.owner(kind, id)?.tag;
    return tag === undefined ? {} : { subagentRunId: tag };
  }

  /** A MESSAGES_SNAPSHOT says anew whose its messages and their calls are. */
  restated(messages: readonly Message[]): void {
    for (const message of messages) {
      const { id, role, subagentRunId: tag } = message;
      this.own(role === "reasoning" || role === "activity" ? role : "message", id, tag);
      for (const call of role === "assistant" ? (message.toolCalls ?? []) : [])
        this.own("call", call.id, tag);
    }
  }
}
