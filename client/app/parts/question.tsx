import { useId, useMemo, useState } from "react";
import { type CothreadError, type InterruptInfo, type Json, useThreadValue } from "../../react/index.ts";
import {
  type AnswerField,
  type AnswerValues,
  firstValues,
  formOf,
  labelOf,
  payloadOf,
} from "../answer-form.ts";
import { nameOf } from "../people.ts";
import { agentName, useThreadContext } from "../thread-context.ts";
import { useTimeLeft } from "../use-time-left.ts";
import { words } from "../words.ts";

type Fault = { field?: string; text: string };

/** What agents wait for: a box for each question of a run, open ones with what it takes to answer. */
export function Questions() {
  const { thread } = useThreadContext();
  const interrupts = useThreadValue(thread, ({ interrupts }) => interrupts);
  if (interrupts.every(({ answered }) => answered)) return null;
  return interrupts.map((interrupt) =>
    interrupt.answered ? (
      <Answered key={interrupt.id} interrupt={interrupt} />
    ) : (
      <Question key={interrupt.id} interrupt={interrupt} />
    ),
  );
}

/** One that is answered, while others of its run are not. */
function Answered({ interrupt }: { interrupt: InterruptInfo }) {
  const { by } = interrupt.answered as NonNullable<InterruptInfo["answered"]>;
  return (
    <section className="question question-done" aria-label={titleOf(interrupt)}>
      <span>{titleOf(interrupt)}</span>{" "}
      <span className="marginal">{words.question.answered(nameOf(by))}</span>
    </section>
  );
}

function Question({ interrupt }: { interrupt: InterruptInfo }) {
  const { thread, agents } = useThreadContext();
  const role = useThreadValue(thread, ({ role }) => role);
  const id = useId();
  const form = useMemo(
    () => formOf(interrupt, argsOf(thread.messages, interrupt.toolCallId)),
    [interrupt, thread],
  );
  const [values, setValues] = useState<AnswerValues>(() => firstValues(form));
  const [fault, setFault] = useState<Fault | null>(null);
  const [sending, setSending] = useState(false);
  const left = useTimeLeft(interrupt.expiresAt);
  const { question: say } = words;
  const isEdited = form.fields.some(({ name, first }) => values[name] !== first);
  const isReader = role === "viewer";

  const send = async (answer: { status: "resolved" | "cancelled"; payload?: Json }) => {
    setSending(true);
    setFault(null);
    try {
      await thread.answer(interrupt.id, answer);
    } catch (error) {
      const { code, message, details } = error as CothreadError;
      // Whoever was first, it shows in a moment.
      if (code === "already_answered") return setFault({ text: message });
      const { where = "" } = (details ?? {}) as { where?: string };
      const [, field] = where.split("/");
      setFault({ text: message, ...(field !== undefined && { field }) });
      setSending(false);
    }
  };
  const answer = (approved: boolean) => {
    const read = payloadOf(form, values, approved);
    if ("payload" in read) return void send({ status: "resolved", payload: read.payload });
    const { label } = form.fields.find(({ name }) => name === read.field) as AnswerField;
    setFault({ field: read.field, text: say.unreadable[read.why](label) });
  };
  const isExpired = left?.over === true;
  return (
    <section className="question" aria-labelledby={id} data-question={interrupt.id}>
      <h3 id={id}>{titleOf(interrupt)}</h3>
      <p className="question-who">
        {isReader
          ? say.readers(agentName(agents, interrupt.agent))
          : say.waits(agentName(agents, interrupt.agent))}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          answer(true);
        }}
      >
        {!isReader &&
          form.fields.map((field) => (
            <Field
              key={field.name}
              field={field}
              value={values[field.name] ?? ""}
              bad={fault?.field === field.name}
              onChange={(value) => {
                setFault(null);
                setValues({ ...values, [field.name]: value });
              }}
            />
          ))}
        {fault && (
          <p className="question-fault" role="alert">
            {fault.text}
          </p>
        )}
        <div className="question-bar">
          {!isReader && (
            <>
              <button type="submit" className="primary" disabled={sending || isExpired}>
                {form.approval === undefined ? say.answer : isEdited ? say.approveChanged : say.approve}
              </button>
              {form.approval !== undefined && (
                <button type="button" disabled={sending || isExpired} onClick={() => answer(false)}>
                  {say.decline}
                </button>
              )}
              {(form.approval === undefined || isExpired) && (
                <button type="button" disabled={sending} onClick={() => void send({ status: "cancelled" })}>
                  {say.cancel}
                </button>
              )}
            </>
          )}
          {left && <span className="question-time">{left.over ? say.over : say.left(left.text)}</span>}
        </div>
      </form>
    </section>
  );
}

function Field(props: {
  field: AnswerField;
  value: string | boolean;
  bad: boolean;
  onChange: (value: string | boolean) => void;
}) {
  const { field, value, bad, onChange } = props;
  const { name, label, help, kind, choices = [], required } = field;
  const id = useId();
  const common = {
    id,
    "aria-invalid": bad,
    "aria-describedby": help === undefined ? undefined : `${id}-help`,
    required,
  };
  const text = String(value);
  if (kind === "yes")
    return (
      <label className="question-yes">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
        {label}
        {help && <span className="marginal">{help}</span>}
      </label>
    );
  return (
    <div className="question-field">
      <label htmlFor={id} className={name === "" ? "unseen" : undefined}>
        {label || words.question.field}
      </label>
      {kind === "list" ? (
        <select {...common} value={text} onChange={(event) => onChange(event.target.value)}>
          {text === "" && <option value="">{words.question.choose}</option>}
          {choices.map((choice, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a choice is its place in the list
            <option key={i} value={String(i)}>
              {typeof choice === "string" ? choice : JSON.stringify(choice)}
            </option>
          ))}
        </select>
      ) : kind === "lines" || kind === "json" ? (
        <textarea
          {...common}
          className={kind === "json" ? "code" : undefined}
          rows={Math.min(12, Math.max(3, text.split("\n").length))}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          {...common}
          inputMode={kind === "number" ? "decimal" : "text"}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {help && (
        <span id={`${id}-help`} className="marginal">
          {help}
        </span>
      )}
    </div>
  );
}

function titleOf({ message, reason }: InterruptInfo): string {
  return message ?? labelOf(reason);
}

/** The arguments of a call, where they can be read. */
function argsOf(messages: readonly { role: string }[], toolCallId: string | undefined): Json | undefined {
  if (toolCallId === undefined) return undefined;
  for (const message of messages) {
    const { toolCalls = [] } = message as { toolCalls?: { id: string; function: { arguments: string } }[] };
    const call = toolCalls.find(({ id }) => id === toolCallId);
    if (!call) continue;
    try {
      return JSON.parse(call.function.arguments) as Json;
    } catch {
      return undefined;
    }
  }
  return undefined;
}
