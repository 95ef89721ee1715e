import { applyPatch } from "../json-crdt/patch.ts";
import type {
  ActivityMessage,
  AGUIEvent,
  AssistantMessage,
  JsonPatch,
  Message,
  Metadata,
  ToolCall,
} from "../protocol/index.ts";
import type { EntryPlace, MessageList, Slot } from "./message-list.ts";

/**
 * Folds one AG-UI event into the messages ([T2]). The result is what `defaultApplyEvents` of
 * `@ag-ui/client` makes of the same stream, at a cost that does not grow with the thread. Events that
 * build no message (RUN_*, STEP_*, STATE_*, REASONING_START/END, RAW, CUSTOM, SUBAGENT_*) change nothing.
 *
 * It differs where AG-UI clients end with two messages of one id, or with a message that AG-UI's own schema
 * refuses: a tool result whose id is known replaces that result, or is left out when the id is no result's;
 * a call without parent joins the assistant message whose id it bears; a patch that would make an activity's
 * content anything but an object does not apply.
 */
export function foldEvent(list: MessageList, event: AGUIEvent, place: EntryPlace): void {
  switch (event.type as string) {
    case "TEXT_MESSAGE_START":
      return openMessage(list, event, place, {
        id: event.messageId as string,
        role: (event.role as "assistant" | undefined) ?? "assistant",
        content: "",
        ...(event.name !== undefined && { name: event.name as string }),
        ...attribution(event),
      });
    case "REASONING_MESSAGE_START":
      return openMessage(list, event, place, {
        id: event.messageId as string,
        role: "reasoning",
        content: "",
        ...attribution(event),
      });
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      return change(list, list.get(event.messageId as string), event, place, (message) => ({
        ...message,
        // Streaming into a multimodal message starts its text anew, as AG-UI clients do.
        content: (typeof message.content === "string" ? message.content : "") + (event.delta as string),
      }));
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END":
      return change(list, list.get(event.messageId as string), event, place, (message) => message);
    case "TOOL_CALL_START":
      return startCall(list, event, place);
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
      return changeCall(list, event, place, (call) =>
        event.delta === undefined
          ? call
          : {
              ...call,
              function: { ...call.function, arguments: call.function.arguments + (event.delta as string) },
            },
      );
    case "TOOL_CALL_RESULT":
      return putResult(list, event, place);
    case "ACTIVITY_SNAPSHOT":
      return putActivity(list, event, place);
    case "ACTIVITY_DELTA":
      return patchActivity(list, event, place);
    case "REASONING_ENCRYPTED_VALUE":
      return encrypt(list, event, place);
  }
}

/** Merges metadata key by key, last write wins, no recursion (AG-UI, Metadata). */
export function mergeMetadata<T extends { metadata?: Metadata | undefined }>(target: T, event: AGUIEvent): T {
  if (event.metadata === undefined) return target;
  return { ...target, metadata: { ...target.metadata, ...(event.metadata as Metadata) } };
}

function attribution(event: AGUIEvent): { subagentRunId?: string } {
  return event.subagentRunId == null ? {} : { subagentRunId: event.subagentRunId as string };
}

/** Replaces a message unless it is missing, an activity, or newer than the event. */
function change(
  list: MessageList,
  slot: Slot | undefined,
  event: AGUIEvent,
  place: EntryPlace,
  next: (message: Exclude<Message, ActivityMessage>) => Message,
): void {
  if (!slot || slot.asOf >= place.seq || slot.message.role === "activity") return;
  const message = mergeMetadata(next(slot.message as Exclude<Message, ActivityMessage>), event);
  if (message !== slot.message) list.replace(slot, message);
}

function openMessage(list: MessageList, event: AGUIEvent, place: EntryPlace, fresh: Message): void {
  const slot = list.get(fresh.id);
  if (!slot) {
    list.append(mergeMetadata(fresh, event), place);
    return;
  }
  list.reached(slot);
  change(list, slot, event, place, (message) => message);
}

function startCall(list: MessageList, event: AGUIEvent, place: EntryPlace): void {
  const toolCallId = event.toolCallId as string;
  const name = event.toolCallName as string;
  const known = list.call(toolCallId);
  if (known) {
    list.reached(known.slot);
    return changeCall(list, event, place, (call) =>
      call.function.name === name ? call : { ...call, function: { ...call.function, name } },
    );
  }
  const call = mergeMetadata<ToolCall>(
    { id: toolCallId, type: "function", function: { name, arguments: "" } },
    event,
  );
  // An empty parent id names none, as AG-UI clients read it.
  const parentId = (event.parentMessageId as string | undefined) || undefined;
  const parent = parentId === undefined ? undefined : list.get(parentId);
  if (parent) list.reached(parent);
  // A parent that is no assistant message cannot hold a call: the call then makes a message of its own.
  const id =
    parentId === undefined || (parent && parent.message.role !== "assistant") ? toolCallId : parentId;
  const slot = list.get(id);
  if (slot) {
    list.reached(slot);
    if (slot.message.role !== "assistant") return;
    return change(list, slot, { type: event.type } as AGUIEvent, place, (message) => ({
      ...(message as AssistantMessage),
      toolCalls: [...((message as AssistantMessage).toolCalls ?? []), call],
    }));
  }
  list.append({ id, role: "assistant", toolCalls: [call], ...attribution(event) }, place);
}

function changeCall(
  list: MessageList,
  event: AGUIEvent,
  place: EntryPlace,
  next: (call: ToolCall) => ToolCall,
): void {
  const found = list.call(event.toolCallId as string);
  if (!found || found.slot.asOf >= place.seq) return;
  const call = mergeMetadata(next(found.call), event);
  if (call === found.call) return;
  const message = found.slot.message as AssistantMessage;
  list.replace(found.slot, {
    ...message,
    toolCalls: message.toolCalls?.map((other) => (other === found.call ? call : other)) ?? [],
  });
}

function putResult(list: MessageList, event: AGUIEvent, place: EntryPlace): void {
  const message = mergeMetadata<Message>(
    {
      id: event.messageId as string,
      role: "tool",
      toolCallId: event.toolCallId as string,
      content: event.content as string,
      ...attribution(event),
    },
    event,
  );
  const known = list.get(message.id);
  if (known) {
    list.reached(known);
    if (known.asOf < place.seq && known.message.role === "tool") list.replace(known, message);
    return;
  }
  putBehindCall(list, message, event.toolCallId as string, place);
}

/**
 * Puts a tool message right behind the call it answers and the results that are there; at the end when
 * nobody made the call.
 */
export function putBehindCall(
  list: MessageList,
  message: Message,
  toolCallId: string,
  place: EntryPlace,
): void {
  const owner = list.ownerOf(toolCallId);
  if (!owner) {
    list.append(message, place);
    return;
  }
  list.reached(owner);
  list.insertAfter(list.lastResult(owner), message, place);
}

function putActivity(list: MessageList, event: AGUIEvent, place: EntryPlace): void {
  const fresh: ActivityMessage = {
    id: event.messageId as string,
    role: "activity",
    activityType: event.activityType as string,
    content: event.content as Record<string, unknown>,
    ...attribution(event),
  };
  const slot = list.get(fresh.id);
  if (!slot) {
    list.append(mergeMetadata(fresh, event), place);
    return;
  }
  list.reached(slot);
  if (slot.asOf >= place.seq) return;
  const replaces = event.replace !== false;
  let message: Message = slot.message;
  if (replaces) {
    // A replaced activity keeps the metadata gathered so far; its attribution comes with the snapshot.
    const metadata = message.role === "activity" ? message.metadata : undefined;
    message = metadata === undefined ? fresh : { ...fresh, metadata };
  } else if (message.role !== "activity") return;
  const merged = mergeMetadata(message, event);
  if (merged !== slot.message) list.replace(slot, merged);
}

function patchActivity(list: MessageList, event: AGUIEvent, place: EntryPlace): void {
  const slot = list.get(event.messageId as string);
  if (slot?.message.role !== "activity" || slot.asOf >= place.seq) return;
  const message = mergeMetadata(slot.message, event);
  const content = patched(message.content, event.patch as JsonPatch);
  if (content) list.replace(slot, { ...message, content, activityType: event.activityType as string });
  // A patch that does not apply leaves the content as it is; the metadata still counts (AG-UI, Activity).
  else if (message !== slot.message) list.replace(slot, message);
}

/** The patched content of an activity; `null` when the patch does not apply to it. */
function patched(content: Record<string, unknown>, patch: JsonPatch): Record<string, unknown> | null {
  try {
    const result = applyPatch(content, patch);
    return result !== null && typeof result === "object" && !Array.isArray(result) ? result : null;
  } catch {
    return null;
  }
}

function encrypt(list: MessageList, event: AGUIEvent, place: EntryPlace): void {
  const encryptedValue = event.encryptedValue as string;
  if (event.subtype !== "tool-call") {
    const slot = list.get(event.entityId as string);
    if (slot && slot.asOf < place.seq && slot.message.role !== "activity")
      list.replace(slot, { ...slot.message, encryptedValue });
    return;
  }
  const found = list.call(event.entityId as string);
  if (!found) return;
  list.reached(found.slot);
  if (found.slot.asOf >= place.seq) return;
  const message = found.slot.message as AssistantMessage;
  list.replace(found.slot, {
    ...message,
    toolCalls:
      message.toolCalls?.map((call) => (call === found.call ? { ...call, encryptedValue } : call)) ?? [],
  });
}
