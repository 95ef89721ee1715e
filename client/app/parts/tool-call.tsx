import { argsSummary, readable, resultSummary } from "../tool-summary.ts";
import { words } from "../words.ts";
import { Folded } from "./folded.tsx";

/**
 * - `calling`: its arguments are being written
 * - `running`: the agent waits for its result
 * - `asked`: the application has to answer it
 * - `held`: somebody has to allow it
 * - `answered`, `failed`: there is a result
 * - `unanswered`: its run ended without one
 */
export type CallState = "calling" | "running" | "asked" | "held" | "answered" | "failed" | "unanswered";

/** A tool call as one line: name, what it was asked, what came back. */
export function ToolCallLine(call: {
  name: string;
  args: string;
  result: string | undefined;
  state: CallState;
}) {
  const { name, args, result, state } = call;
  return (
    <Folded
      className="tool"
      line={
        <>
          <b>{name}</b> <span className="tool-args">{argsSummary(args)}</span>
          <CallResult {...call} />
        </>
      }
    >
      {() => (
        <dl>
          <dt>{words.work.args}</dt>
          <dd>
            <pre>{readable(args)}</pre>
          </dd>
          <dt>{state === "failed" ? words.work.failed : words.work.result}</dt>
          <dd>
            <pre>{result === undefined ? stateWord(state) : readable(result)}</pre>
          </dd>
        </dl>
      )}
    </Folded>
  );
}

function CallResult({ args, result, state }: { args: string; result: string | undefined; state: CallState }) {
  if (result === undefined) {
    const waits = state === "calling" || state === "running";
    return <span className={waits ? "breathing" : undefined}>{stateWord(state)}</span>;
  }
  const summary = resultSummary(result, args);
  const text = state === "failed" ? [words.work.failed, summary].filter(Boolean).join(": ") : summary;
  return <span className="tool-result">{text}</span>;
}

function stateWord(state: CallState): string {
  if (state === "calling") return words.work.calling;
  if (state === "asked") return words.work.waitsForApp;
  if (state === "held") return words.work.held;
  return state === "running" ? words.work.running : words.work.noAnswer;
}
