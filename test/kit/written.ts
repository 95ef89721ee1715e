import type { AGUIEvent } from "../../shared/protocol/index.ts";

/** One AG-UI event. */
export const event = (type: string, fields: object = {}): AGUIEvent =>
  ({ type, ...fields }) as unknown as AGUIEvent;

/** Events as an agent writes them, for tests that spell out a stream. */
export const written = {
  started: (runId: string, more: object = {}) => event("RUN_STARTED", { threadId: "t", runId, ...more }),
  finished: (runId: string, outcome?: object) =>
    event("RUN_FINISHED", { threadId: "t", runId, ...(outcome && { outcome }) }),
  failed: (message = "broke", code?: string) => event("RUN_ERROR", { message, ...(code && { code }) }),
  /** A whole message. */
  text: (messageId: string, delta: string, more: object = {}) => [
    event("TEXT_MESSAGE_START", { messageId, role: "assistant", ...more }),
    event("TEXT_MESSAGE_CONTENT", { messageId, delta }),
    event("TEXT_MESSAGE_END", { messageId }),
  ],
  /** A whole call. */
  call: (toolCallId: string, more: object = {}) => [
    event("TOOL_CALL_START", { toolCallId, toolCallName: "search", ...more }),
    event("TOOL_CALL_ARGS", { toolCallId, delta: "{}" }),
    event("TOOL_CALL_END", { toolCallId }),
  ],
  result: (messageId: string, toolCallId: string, content = "found") =>
    event("TOOL_CALL_RESULT", { messageId, toolCallId, content }),
  messages: (...messages: object[]) => event("MESSAGES_SNAPSHOT", { messages }),
};
