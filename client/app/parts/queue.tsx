import { useState } from "react";
import { type InputInfo, type Thread, useThreadValue } from "../../react/index.ts";
import { contentText } from "../content.ts";
import { nameOf } from "../people.ts";
import { words } from "../words.ts";

/** So many are shown before one asks for the rest. */
const SHOWN = 3;

/** What waits for the agent: who wants what, and a way to take it back. */
export function Queue({ thread }: { thread: Thread }) {
  const inputs = useThreadValue(thread, ({ inputs }) => inputs);
  const [all, setAll] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const waiting = inputs.filter(({ status }) => status === "queued");
  if (waiting.length === 0) return null;
  const shown = all ? waiting : waiting.slice(0, SHOWN);
  const hidden = waiting.length - shown.length;
  const withdraw = (input: InputInfo) => {
    setProblem(null);
    thread
      .withdraw(input.inputId)
      .catch((error: { code?: string; message: string }) =>
        setProblem(error.code === "gone" ? words.queue.gone : error.message),
      );
  };
  return (
    <section className="queue" aria-label={words.queue.waiting(waiting.length)}>
      <span className="queue-count">{words.queue.waiting(waiting.length)}</span>
      <ol>
        {shown.map((input) => (
          <li key={input.inputId}>
            <span className="queue-text">
              {nameOf(input.by)}: {words.queue.quote(textOf(input))}
            </span>
            <button type="button" className="quiet" onClick={() => withdraw(input)}>
              {words.queue.withdraw}
            </button>
          </li>
        ))}
        {(hidden > 0 || all) && waiting.length > SHOWN && (
          <li>
            <button type="button" className="quiet" onClick={() => setAll(!all)}>
              {all ? words.queue.fewer : words.queue.more(hidden)}
            </button>
          </li>
        )}
      </ol>
      {problem && (
        <span className="marginal" role="status">
          {problem}
        </span>
      )}
    </section>
  );
}

const textOf = ({ messages }: InputInfo) =>
  messages
    .map((message) => ("content" in message ? contentText(message.content) : ""))
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
