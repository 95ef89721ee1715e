import type { AGUIEvent, Message } from "../protocol/index.ts";
import { constructKey } from "./active-runs.ts";

/** The messages that a client has. */
export type HeldMessages = {
  get(id: string): Message | undefined;
  /** The message that made a tool call. */
  ownerOf(toolCallId: string): Message | undefined;
};

/** Whose something is: id → the subagent's, `undefined` = the agent's own. */
type Owners = Map<string, string | undefined>;

/**
 * One run's events for a stock client that did not see the run from its start ([P2], [P4]).
 *
 * A stock client notes, run by run, to which subagent each message and call belongs, and refuses an event that
 * is attributed otherwise. One that joins late learns it from our MESSAGES_SNAPSHOT, one that was there from
 * the run's events, and these may differ. This class keeps the client's notes, and leaves out of an event the
 * attribution (or the parent of a call or subagent) that the client would refuse. All else goes as it is.
 */
export class FittedRun {
  private readonly held: HeldMessages;
  private readonly owners = {
    message: new Map() as Owners,
    reasoning: new Map() as Owners,
    activity: new Map() as Owners,
    call: new Map() as Owners,
  };
  /** Subagents this client was told of. */
  private readonly subagents = new Set<string>();
  /** Open constructs the client was not told of, since what they write was dropped → how they opened. */
  private readonly unopened = new Map<string, AGUIEvent>();
  /** An event that makes a message went without its attribution: a MESSAGES_SNAPSHOT must bring it. */
  private lossy = false;

  /**
   * @param held what the client holds; asked at each event
   * @param messages those of the MESSAGES_SNAPSHOT, or of the run's input, that it got in this run
   */
  constructor(held: HeldMessages, messages: Iterable<Message>) {
    this.held = held;
    this.restated(messages);
  }

  /** Notes a MESSAGES_SNAPSHOT that the client was sent. */
  restated(messages: Iterable<Message>): void {
    this.lossy = false;
    for (const message of messages) {
      const { id, role, subagentRunId } = message;
      this.owners[role === "reasoning" || role === "activity" ? role : "message"].set(id, subagentRunId);
      if (role !== "assistant") continue;
      for (const call of message.toolCalls ?? []) this.owners.call.set(call.id, subagentRunId);
    }
  }

  /** Whether the client lacks an attribution, and needs a MESSAGES_SNAPSHOT. */
  get needsSnapshot(): boolean {
    return this.lossy;
  }

  /**
   * The events that open again what the run has open. Left out is what writes into a message that was dropped
   * meanwhile: opening it would bring the message back.
   */
  reopen(open: Iterable<AGUIEvent>): AGUIEvent[] {
    const events: AGUIEvent[] = [];
    for (const event of open) {
      const construct = constructKey(event);
      if (construct && this.isGone(event)) this.unopened.set(construct.key, event);
      else events.push(this.opening(event));
    }
    return events;
  }

  /** The run's next event as this client accepts it; call before the held messages change by it. */
  fit(event: AGUIEvent): AGUIEvent[] {
    if (this.unopened.size === 0) return [this.fitted(event)];
    const type = (event.type as string).replace(/_(CONTENT|ARGS)$/, "_END");
    const construct = constructKey({ ...event, type } as unknown as AGUIEvent);
    const opener = construct && this.unopened.get(construct.key);
    if (!opener) return [this.fitted(event)];
    const isBack = !this.isGone(opener);
    if (isBack || event.type === type) this.unopened.delete(construct.key);
    return isBack ? [this.opening(opener), this.fitted(event)] : [];
  }

  /** Whether what an opening event writes into is not there; spans, steps and subagents write into nothing. */
  private isGone(opener: AGUIEvent): boolean {
    const type = opener.type as string;
    if (type === "TOOL_CALL_START") return !this.held.ownerOf(opener.toolCallId as string);
    return type.endsWith("MESSAGE_START") && !this.held.get(opener.messageId as string);
  }

  private opening(event: AGUIEvent): AGUIEvent {
    const fitted = this.fitted(event);
    if ((event.type as string) !== "TOOL_CALL_START") return fitted;
    const owner = this.held.ownerOf(event.toolCallId as string);
    const calls = owner?.role === "assistant" ? owner.toolCalls : undefined;
    // The agent may have renamed the call since.
    const call = calls?.find(({ id }) => id === event.toolCallId);
    return call ? { ...fitted, toolCallName: call.function.name } : fitted;
  }

  private fitted(event: AGUIEvent): AGUIEvent {
    const { message, reasoning, activity, call } = this.owners;
    const id = event.messageId as string;
    switch (event.type as string) {
      case "TEXT_MESSAGE_START":
        return this.started(event, message, id, !this.held.get(id));
      case "TEXT_MESSAGE_CONTENT":
      case "TEXT_MESSAGE_END":
        return attributed(event, message, id);
      case "TOOL_CALL_START":
        return this.callStarted(event);
      case "TOOL_CALL_ARGS":
      case "TOOL_CALL_END":
        return attributed(event, call, event.toolCallId as string);
      case "TOOL_CALL_RESULT":
        message.set(id, event.subagentRunId as string | undefined);
        return event;
      case "REASONING_START":
        return this.started(event, reasoning, id, false);
      case "REASONING_MESSAGE_START":
        return this.started(event, reasoning, id, !this.held.get(id));
      case "REASONING_MESSAGE_CONTENT":
      case "REASONING_MESSAGE_END":
      case "REASONING_END":
        return attributed(event, reasoning, id);
      case "REASONING_ENCRYPTED_VALUE": {
        const entityId = event.entityId as string;
        if (event.subtype === "tool-call") return attributed(event, call, entityId);
        return attributed(event, message.has(entityId) ? message : reasoning, entityId);
      }
      case "ACTIVITY_SNAPSHOT":
        if (event.replace !== false || !activity.has(id))
          activity.set(id, event.subagentRunId as string | undefined);
        return event;
      case "ACTIVITY_DELTA":
        return attributed(event, activity, id);
      case "SUBAGENT_STARTED": {
        this.subagents.add(event.subagentRunId as string);
        const parent = event.parentSubagentRunId as string | undefined;
        return parent === undefined || this.subagents.has(parent)
          ? event
          : without(event, "parentSubagentRunId");
      }
      default:
        return event;
    }
  }

  private started(event: AGUIEvent, owners: Owners, id: string, mints: boolean): AGUIEvent {
    const fitted = attributed(event, owners, id);
    if (!owners.has(id)) owners.set(id, fitted.subagentRunId as string | undefined);
    if (mints && fitted !== event) this.lossy = true;
    return fitted;
  }

  private callStarted(event: AGUIEvent): AGUIEvent {
    const { message, call } = this.owners;
    const toolCallId = event.toolCallId as string;
    const parentId = event.parentMessageId as string | undefined;
    const parent = parentId === undefined ? undefined : this.held.get(parentId);
    const owner = this.held.ownerOf(toolCallId);
    // A known call stays where it is, and one whose parent is no assistant message gets one of its own.
    const useless =
      parentId !== undefined &&
      (owner
        ? owner !== parent || message.get(parentId) !== call.get(toolCallId)
        : parent !== undefined && parent.role !== "assistant");
    const from = useless ? without(event, "parentMessageId") : event;
    const isChild = !useless && parentId !== undefined && message.has(parentId);
    const fitted = attributed(isChild ? attributed(from, message, parentId) : from, call, toolCallId);
    const tag = fitted.subagentRunId as string | undefined;
    if (!call.has(toolCallId)) call.set(toolCallId, isChild ? (tag ?? message.get(parentId)) : tag);
    const mints = !owner && parent?.role !== "assistant";
    if (mints && tag !== event.subagentRunId) this.lossy = true;
    return fitted;
  }
}

/** The event without an attribution that contradicts the owner; none at all is always legal. */
function attributed(event: AGUIEvent, owners: Owners, id: string): AGUIEvent {
  const tag = event.subagentRunId;
  if (tag === undefined || !owners.has(id) || owners.get(id) === tag) return event;
  return without(event, "subagentRunId");
}

function without(event: AGUIEvent, field: string): AGUIEvent {
  const { [field]: _gone, ...rest } = event;
  return rest as AGUIEvent;
}
