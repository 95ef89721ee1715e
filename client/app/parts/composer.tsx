import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { type AgentInfo, type Thread, useThreadValue } from "../../react/index.ts";
import { type Draft, keepDraft, readDraft, takeBack } from "../drafts.ts";
import { everyone } from "../people.ts";
import { agentName } from "../thread-context.ts";
import { createTyping } from "../typing.ts";
import { words } from "../words.ts";

type Props = {
  thread: Thread;
  agents: readonly AgentInfo[];
  me: string;
  /** Whether the server hears at once what is done here. */
  live: boolean;
  /** Whether one can write at once. */
  focus: boolean;
  /** Called when something was sent. */
  onSent: () => void;
};

/** Where one writes: text, who answers it, whether anybody shall. What stands there is kept in this window. */
export function Composer({ thread, agents, me, live, focus, onSent }: Props) {
  const [draft, setDraft] = useDraftOf(thread.id);
  const field = useRef<HTMLTextAreaElement>(null);
  const typing = useMemo(() => createTyping((now) => thread.setTyping(now)), [thread]);
  useEffect(() => () => typing.ended(), [typing]);
  const busy = useThreadValue(thread, ({ runs, inputs }) => runs.length > 0 || inputs.length > 0);
  const preset = agents.find((agent) => agent.default)?.id ?? agents[0]?.id;
  const agent = agents.some(({ id }) => id === draft.agent) ? draft.agent : preset;
  const { text, note } = draft;
  const blank = text.trim() === "";

  useGrowing(field, text);
  useEffect(() =>
    takeBack(thread.id, (back, note) => {
      const both = [back, draft.text].filter((each) => each.trim() !== "").join("\n\n");
      setDraft({ ...draft, text: both, note });
      field.current?.focus();
    }),
  );
  const begins = useRef(focus);
  useEffect(() => {
    // On a phone a keyboard would cover half of the conversation.
    if (begins.current && window.matchMedia("(min-width: 700px)").matches)
      field.current?.focus({ preventScroll: true });
  }, []);

  const send = () => {
    if (blank) return;
    // Spaces before the first line may be code; empty lines around it are nothing.
    const said = text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
    typing.ended();
    // A failure shows at the message.
    if (note) void thread.note(said).catch(() => {});
    else void thread.send(said, agent === undefined ? {} : { agent }).catch(() => {});
    setDraft({ ...draft, text: "", note: false });
    onSent();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also ends the composition of a character.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const change = (next: string) => {
    setDraft({ ...draft, text: next });
    if (next.trim() === "") typing.ended();
    else typing.pressed();
  };

  return (
    <form
      className={note ? "composer composer-note" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        send();
        field.current?.focus();
      }}
    >
      <textarea
        ref={field}
        rows={1}
        value={text}
        aria-label={words.composer.label}
        placeholder={
          note
            ? words.composer.placeholderNote
            : words.composer.placeholder(agent ? agentName(agents, agent) : null)
        }
        onChange={(event) => change(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="composer-bar">
        {agents.length > 1 && !note && (
          <select
            className="quiet"
            aria-label={words.composer.agent}
            value={agent}
            onChange={(event) => setDraft({ ...draft, agent: event.target.value })}
          >
            {agents.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        <button
          type="button"
          className="quiet toggle"
          aria-pressed={note}
          title={words.composer.noteHelp}
          onClick={() => {
            setDraft({ ...draft, note: !note });
            field.current?.focus();
          }}
        >
          <i className="switch" aria-hidden="true" />
          {words.composer.note}
        </button>
        <TypingLine thread={thread} me={me} />
        <StopButton thread={thread} live={live} />
        <button type="submit" className="primary" disabled={blank}>
          {note ? words.composer.addNote : busy ? words.composer.queue : words.composer.send}
        </button>
      </div>
    </form>
  );
}

function useDraftOf(thread: string): [Draft, (next: Draft) => void] {
  const [draft, setDraft] = useState(() => readDraft(thread));
  return [
    draft,
    (next) => {
      setDraft(next);
      keepDraft(thread, next);
    },
  ];
}

/** Makes a text field as high as its text, up to what its style allows. */
function useGrowing(field: React.RefObject<HTMLTextAreaElement | null>, text: string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [field, text]);
}

const NOBODY: readonly never[] = [];

function TypingLine({ thread, me }: { thread: Thread; me: string }) {
  const people = useThreadValue(thread, ({ people, status }) => (status === "live" ? people : NOBODY));
  const names = everyone(people)
    .filter(({ id, typing }) => typing && id !== me)
    .map(({ name }) => name);
  return (
    <span className="typing" aria-live="polite">
      {names.length > 0 && words.people.typing(names)}
    </span>
  );
}

function StopButton({ thread, live }: { thread: Thread; live: boolean }) {
  const running = useThreadValue(
    thread,
    ({ runs, inputs }) => runs.at(-1)?.runId ?? inputs.find(({ status }) => status === "running")?.runId,
  );
  const [stopping, setStopping] = useState<string | null>(null);
  if (running === undefined) return null;
  const stop = () => {
    setStopping(running);
    // It may have ended by itself in the meantime.
    thread.cancel(running).catch(() => setStopping(null));
  };
  return (
    <button
      type="button"
      className="stop"
      data-stop=""
      title={live ? undefined : words.composer.stopAway}
      disabled={!live || stopping === running}
      onClick={stop}
    >
      {stopping === running ? words.composer.stopping : words.composer.stop}
    </button>
  );
}
