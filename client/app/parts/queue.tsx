import { useState } from "react";
import { type InputInfo, type Thread, useThreadValue } from "../../react/index.ts";
import { contentText } from "../content.ts";
import { nameOf } from "../people.ts";
import { words } from "../words.ts";
import { EditText } from "./edit-text.tsx";

/** So many are shown before one asks for the rest. */
const SHOWN = 3;

/** What waits for the agent: who wants what, and ways to change that. */
export function Queue({ thread, me }: { thread: Thread; me: string }) {
  const inputs = useThreadValue(thread, ({ inputs }) => inputs);
  const [all, setAll] = useState(false);
  const [edited, setEdited] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const waiting = inputs.filter(({ status }) => status === "queued");
  if (waiting.length === 0) return null;
  const shown = all ? waiting : waiting.slice(0, SHOWN);
  const hidden = waiting.length - shown.length;
  const change = (done: Promise<void>) => {
    setProblem(null);
    done.catch((error: { code?: string; message: string }) =>
      setProblem(error.code === "gone" ? words.queue.gone : error.message),
    );
  };
  return (
    <section className="queue" aria-label={words.queue.waiting(waiting.length)}>
      <span className="queue-count">{words.queue.waiting(waiting.length)}</span>
      <ol>
        {shown.map((input, i) =>
          edited === input.inputId ? (
            <li key={input.inputId}>
              <EditText
                text={wholeText(input)}
                label={words.queue.field}
                save={words.queue.save}
                onDone={(text) => {
                  setEdited(null);
                  const [message] = input.messages;
                  if (text !== null && message)
                    change(thread.edit(input.inputId, { id: message.id, content: text }));
                }}
              />
            </li>
          ) : (
            <li key={input.inputId}>
              <span className="queue-text">
                {nameOf(input.by)}: {words.queue.quote(textOf(input))}
              </span>
              {i > 0 && (
                <button type="button" className="quiet" onClick={() => change(thread.move(input.inputId, i))}>
                  {words.queue.sooner}
                </button>
              )}
              {isOf(input, me) && (
                <button type="button" className="quiet" onClick={() => setEdited(input.inputId)}>
                  {words.queue.edit}
                </button>
              )}
              <button type="button" className="quiet" onClick={() => change(thread.withdraw(input.inputId))}>
                {words.queue.withdraw}
              </button>
            </li>
          ),
        )}
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

/** Only who wrote a text may change it, and only where it is one text. */
function isOf({ by, messages }: InputInfo, me: string): boolean {
  const [message, ...more] = messages;
  return by.kind === "user" && by.id === me && more.length === 0 && typeof message?.content === "string";
}

const wholeText = ({ messages: [message] }: InputInfo) => String(message?.content ?? "");

const textOf = ({ messages }: InputInfo) =>
  messages
    .map((message) => ("content" in message ? contentText(message.content) : ""))
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
