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
export type JsonPatch = JsonPatchOperation[];

/**
 * Frames and entries carry AG-UI objects whole. Only what relays need is checked here; a message a person
 * submits is checked against AG-UI's own schema where it is accepted ([S2]), an agent's event at ingest.
 */
export const MessageShape = z
  .looseObject({ id: z.string(), role: z.string() })
  .transform((m) => m as unknown as Message);
export const EventShape = z.looseObject({ type: z.string() }).transform((e) => e as unknown as AGUIEvent);
export const ToolShape = z
  .looseObject({ name: z.string(), description: z.string() })
  .transform((t) => t as unknown as Tool);
export const ContextShape = z
  .looseObject({ description: z.string(), value: z.string() })
  .transform((c) => c as Context);
export const TokenUsageShape = z.looseObject({}).transform((u) => u as TokenUsage);
export const MetadataShape = z.record(z.string(), z.unknown()).transform((m) => m as Metadata);
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
