import { memo } from "react";
import {
  type Message,
  type MessageAbout,
  type ToolCall,
  useMessage,
  useThreadValue,
} from "../../react/index.ts";
import { contentText } from "../content.ts";
import { readProgress } from "../progress.ts";
import { useThreadContext } from "../thread-context.ts";
import { Activity } from "./activity.tsx";
import { Markdown } from "./markdown.tsx";
import { Thought } from "./thought.tsx";
import { type CallState, ToolCallLine } from "./tool-call.tsx";

type Props = {
  id: string;
  /** Tool call id → id of the message with its result. */
  results: ReadonlyMap<string, string>;
  /** When the next message of the run began, ms. */
  nextAt?: number | undefined;
};

/** One message of an agent: a text with its tool calls, a thought, an activity. */
export const AgentMessage = memo(function AgentMessage({ id, results, nextAt }: Props) {
  const { thread } = useThreadContext();
  const view = useMessage(thread, id);
  if (!view) return null;
  const { message, about } = view;
  return (
    <div className="part" data-message={id}>
      <Content message={message} about={about} nextAt={nextAt} />
      {message.role === "assistant" &&
        message.toolCalls?.map((call) => (
          <Call key={call.id} call={call} about={about} resultId={results.get(call.id)} />
        ))}
    </div>
  );
});

function Content({
  message,
  about,
  nextAt,
}: {
  message: Message;
  about: MessageAbout;
  nextAt: number | undefined;
}) {
  const { streaming, at, end } = about;
  switch (message.role) {
    case "reasoning": {
      const until = nextAt ?? end?.at;
      return (
        <Thought
          text={message.content}
          streaming={streaming}
          ms={until === undefined ? undefined : until - at}
        />
      );
    }
    case "activity":
      return <Activity {...readProgress(message.activityType, message.content)} />;
    case "tool":
      return (
        <ToolCallLine
          name={message.toolCallId}
          args=""
          result={contentText(message.content)}
          state="answered"
        />
      );
    default: {
      const text = contentText(message.content);
      // Streaming says that the text grows, and not only a call that hangs on it.
      const grows = streaming && !(message.role === "assistant" && message.toolCalls?.length);
      return text === "" && !grows ? null : <Markdown text={text} streaming={grows} />;
    }
  }
}

function Call({
  call,
  about,
  resultId,
}: {
  call: ToolCall;
  about: MessageAbout;
  resultId: string | undefined;
}) {
  const { thread } = useThreadContext();
  const result = useMessage(thread, resultId ?? "")?.message;
  const asked = useThreadValue(thread, ({ toolCalls }) =>
    toolCalls.some((each) => each.toolCallId === call.id),
  );
  const held = useThreadValue(thread, ({ interrupts }) =>
    interrupts.some(({ toolCallId, answered }) => toolCallId === call.id && !answered),
  );
  const answer = result?.role === "tool" ? result : undefined;
  let state: CallState = about.end ? "unanswered" : about.streaming ? "calling" : "running";
  if (asked) state = "asked";
  if (held) state = "held";
  if (answer) state = answer.error ? "failed" : "answered";
  const content = answer && (contentText(answer.content) || answer.error || "");
  return (
    <ToolCallLine name={call.function.name} args={call.function.arguments} result={content} state={state} />
  );
}
