import type { AGUIEvent } from "../../shared/protocol/index.ts";

/**
 * The events that close what a run has open, last opened first, so that what is inside ends before what it
 * is in (AG-UI: nothing may be open at RUN_FINISHED). Only steps and subagents are named together with their
 * subagent: elsewhere the tag says whose it is, and a construct that was opened again may have another owner
 * than its last opener says, while no tag at all is always right.
 * @param open the opening events, in order
 */
export function closingEvents(open: Iterable<AGUIEvent>): AGUIEvent[] {
  return [...open].reverse().map((event) => {
    const { messageId, toolCallId, stepName, subagentRunId } = event;
    const close = (type: string, fields: object) => ({ type, ...fields }) as unknown as AGUIEvent;
    const tag = subagentRunId === undefined ? {} : { subagentRunId };
    switch (event.type as string) {
      case "TEXT_MESSAGE_START":
        return close("TEXT_MESSAGE_END", { messageId });
      case "TOOL_CALL_START":
        return close("TOOL_CALL_END", { toolCallId });
      case "REASONING_START":
        return close("REASONING_END", { messageId });
      case "REASONING_MESSAGE_START":
        return close("REASONING_MESSAGE_END", { messageId });
      case "STEP_STARTED":
        return close("STEP_FINISHED", { stepName, ...tag });
      default:
        // A subagent has no "cancelled" outcome of its own; "finished" would say that it did its work.
        return close("SUBAGENT_ERROR", { message: "The run was stopped.", code: "cancelled", ...tag });
    }
  });
}
