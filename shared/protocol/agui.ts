import type { BaseEvent, Context, Message, Metadata, TokenUsage, Tool } from "@ag-ui/core";
import { z } from "zod";

/** The AG-UI shapes this protocol carries. They are AG-UI's own; see its specification, version 1.0. */
export type {
  ActivityMessage,
  AssistantMessage,
  BaseEvent,
  Context,
  Interrupt,
  Message,
  Metadata,
  RunAgentInput,
  TokenUsage,
  Tool,
  ToolCall,
  ToolMessage,
} from "@ag-ui/core";

/** An AG-UI event as it is logged and sent: any property of its type may be there. */
export type AGUIEvent = BaseEvent & Record<string, unknown>;

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** One RFC 6902 operation. */
export type JsonPatchOperation = {
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string;
  from?: string;
  value?: unknown;
};
/** RFC 6902 operations, applied in order and all or none ([T5]). */
export type JsonPatch = JsonPatchOperation[];

/**
 * Frames and entries carry AG-UI objects whole. Only what relays need is checked here; a message a person
 * submits is checked against AG-UI's own schema where it is accepted ([S2]), an agent's event at ingest.
 */
export const MessageShape = z
  .looseObject({ id: z.string(), role: z.string() })
  .transform((m) => m as unknown as Message);
/**
 * An AG-UI event: an object with a `type`. Its other fields pass as they are; agents' events were checked at
 * ingest ([R2]).
 */
export const EventShape = z.looseObject({ type: z.string() }).transform((e) => e as unknown as AGUIEvent);
/** A tool an agent is offered: name and description; what else AG-UI gives it passes unaltered ([R11]). */
export const ToolShape = z
  .looseObject({ name: z.string(), description: z.string() })
  .transform((t) => t as unknown as Tool);
/** A piece of context for an agent: a description and a value, both text; passed on unaltered ([R11]). */
export const ContextShape = z
  .looseObject({ description: z.string(), value: z.string() })
  .transform((c) => c as Context);
/** Token counts of a run, as the agent's terminal event gave them; none of the fields is required. */
export const TokenUsageShape = z.looseObject({}).transform((u) => u as TokenUsage);
/** AG-UI metadata: any values by key. The key `cothread` belongs to the server ([S3]). */
export const MetadataShape = z.record(z.string(), z.unknown()).transform((m) => m as Metadata);
/** An RFC 6902 patch. Whether it applies is found out where it is applied ([T5]). */
export const JsonPatchShape = z
  .array(
    z.looseObject({
      op: z.enum(["add", "remove", "replace", "move", "copy", "test"]),
      path: z.string(),
      from: z.string().optional(),
      value: z.unknown().optional(),
    }),
  )
  .transform((p) => p as JsonPatch);
