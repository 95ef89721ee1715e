import { type FormEvent, useId, useState } from "react";
import { type ToolInfo, useThreadValue } from "../../react/index.ts";
import { nameOf } from "../people.ts";
import { useThreadContext } from "../thread-context.ts";
import type { DateRequest } from "../use-date-tool.ts";
import { words } from "../words.ts";

/** Calls that wait for somebody's window: this one's with what it takes to do them, all others with who does. */
export function WaitingCalls({ dates }: { dates: readonly DateRequest[] }) {
  const { thread } = useThreadContext();
  const calls = useThreadValue(thread, ({ toolCalls }) => toolCalls);
  return calls.map((call) => {
    if (call.status === "pending") return null;
    const date = dates.find(({ toolCallId }) => toolCallId === call.toolCallId);
    return date ? (
      <PickDate key={call.toolCallId} request={date} />
    ) : (
      <Elsewhere key={call.toolCallId} call={call} />
    );
  });
}

/** Asks for a date. */
function PickDate({ request }: { request: DateRequest }) {
  const { question, from, give, refuse } = request;
  const id = useId();
  const [date, setDate] = useState(from ?? "");
  return (
    <section className="question" aria-labelledby={id} data-date="">
      <h3 id={id}>{question ?? words.tools.date}</h3>
      <p className="question-who">{words.tools.yours}</p>
      <form
        className="question-bar"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (date !== "") give(date);
        }}
      >
        <input
          type="date"
          aria-label={words.tools.date}
          value={date}
          min={from}
          onChange={(event) => setDate(event.target.value)}
        />
        <button type="submit" className="primary" disabled={date === ""}>
          {words.tools.take}
        </button>
        <button type="button" onClick={refuse}>
          {words.tools.refuse}
        </button>
      </form>
    </section>
  );
}

/** One that another window does, or none yet. */
function Elsewhere({ call }: { call: ToolInfo }) {
  const { thread } = useThreadContext();
  const role = useThreadValue(thread, ({ role }) => role);
  const { name, status, by, runId } = call;
  const text = status === "claimed" && by ? words.tools.withName(nameOf(by), name) : words.tools.nobody(name);
  return (
    <p className="waiting-call" role="status">
      <i className="dot" aria-hidden="true" />
      <span>{text}</span>
      {role !== "viewer" && (
        <button type="button" className="quiet" onClick={() => void thread.cancel(runId).catch(() => {})}>
          {words.tools.giveUp}
        </button>
      )}
    </p>
  );
}
