/**
 * The browser SDK: one connection, live threads and lists, an outbox that loses nothing. Runs in browsers and
 * in Node; knows no React and no schema library.
 */
export type {
  AGUIEvent,
  AgentInfo,
  Author,
  Context,
  Cursor,
  Entry,
  EntryOf,
  InputInfo,
  InterruptInfo,
  Json,
  JsonPatch,
  Mention,
  Message,
  PatchAck,
  Person,
  Policy,
  RejectCode,
  RevertAck,
  Role,
  SubmitAck,
  ThreadInfo,
  ThreadQuery,
  ThreadSettings,
  Tool,
  ToolCall,
  ToolInfo,
  Turn,
  TurnEnd,
  User,
} from "../shared/protocol/index.ts";
export { BACKOFF, type Backoff } from "./backoff.ts";
export {
  type Client,
  type ClientEvents,
  type ClientOptions,
  type ClientSnapshot,
  createClient,
  type Guest,
} from "./client.ts";
export type { ConnectionState, ConnectionStatus } from "./connection.ts";
export { CothreadError, type ErrorCode } from "./cothread-error.ts";
export type { InputContent, InputMessage } from "./input-messages.ts";
export type { Pending } from "./pending-inputs.ts";
export type { SocketConstructor, SocketLike } from "./socket.ts";
export type { InterruptAnswer, SendOptions, Thread } from "./thread.ts";
export type { ThreadEvents, ThreadOptions } from "./thread-core.ts";
export type { ThreadUpdate } from "./thread-host.ts";
export type { ThreadList, ThreadListSnapshot } from "./thread-list.ts";
export type { MessageAbout, MessageView, ThreadRun, ThreadSnapshot } from "./thread-snapshot.ts";
export type { ThreadStatus } from "./thread-status.ts";
export type { FrontendTool, ThreadTools, ToolCallContext } from "./tools.ts";
