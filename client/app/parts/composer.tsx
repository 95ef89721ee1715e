import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import {
  type AgentInfo,
  startsRun,
  type Thread,
  type Trigger,
  triggerOf,
  useThreadValue,
} from "../../react/index.ts";
import { type Draft, keepDraft, readDraft, takeBack } from "../drafts.ts";
import type { DraftEditor, DraftOutcome } from "../editor/index.ts";
import { mentioning, mentionsIn } from "../mentions.ts";
import { everyone, mentionable } from "../people.ts";
import { agentName } from "../thread-context.ts";
import { createTyping } from "../typing.ts";
import { useMentions } from "../use-mentions.ts";
import type { SharedDoc } from "../use-shared-doc.ts";
import { words } from "../words.ts";
import { DraftField } from "./draft-field.tsx";
import { Icon } from "./icons.tsx";
import { MentionList } from "./mention-list.tsx";
import { OwnField } from "./own-field.tsx";

type Props = {
  thread: Thread;
  agents: readonly AgentInfo[];
  me: string;
  /** Whether the server hears at once what is done here. */
  live: boolean;
  /** Whether one can write at once. */
  focus: boolean;
  /** What people write together; `null` as long as it is not here, or for good. */
  shared?: SharedDoc | null;
  /** Called when something was sent. */
  onSent: () => void;
};

/** Where one writes: text, who answers it, whether anybody shall. One writes with all who are here, or alone. */
export function Composer(props: Props) {
  const role = useThreadValue(props.thread, ({ role }) => role);
  if (role === "viewer") return <p className="reader">{words.composer.reader}</p>;
  return <Writing {...props} />;
}

function Writing({ thread, agents, me, live, focus, shared = null, onSent }: Props) {
  const [draft, setDraft] = useDraftOf(thread.id);
  const own = useRef<HTMLTextAreaElement>(null);
  const [editor, setEditor] = useState<DraftEditor | null>(null);
  const [together, setTogether] = useState("");
  const [told, setTold] = useState<string | null>(null);
  const typing = useMemo(() => createTyping((now) => thread.setTyping(now)), [thread]);
  useEffect(() => () => typing.ended(), [typing]);
  const busy = useThreadValue(thread, ({ runs, inputs }) => runs.length > 0 || inputs.length > 0);
  const asked = useThreadValue(thread, ({ interrupts }) => interrupts.some(({ answered }) => !answered));
  // What is said while an agent waits for an answer is said in the place of one.
  const trigger = useThreadValue(thread, triggerOf);
  const preset = agents.find((agent) => agent.default)?.id ?? agents[0]?.id;
  const agent = agents.some(({ id }) => id === draft.agent) ? draft.agent : preset;
  const { note, alone = false } = draft;
  const isShared = !alone && shared !== null;
  const text = isShared ? together : draft.text;
  const blank = text.trim() === "";
  const people = useThreadValue(thread, ({ people }) => people);
  const turns = useThreadValue(thread, ({ turns }) => turns);
  const names = useMemo(() => mentionable(agents, people, turns, me), [agents, people, turns, me]);
  const mentions = useMemo(() => mentionsIn(text, names), [text, names]);
  const called = mentions.find(({ kind }) => kind === "agent")?.id;
  const answers = called ?? agent;
  const instead = asked && !note;
  const options = {
    ...(instead && { interrupts: "cancel" as const, ...(trigger !== "always" && { start: true as const }) }),
    ...(answers !== undefined && { agent: answers }),
  };
  const wakes = instead || startsRun(trigger, called !== undefined);
  const mention = useMentions(names, (from, to, name) => {
    if (isShared) return editor?.replace(from, to, name);
    own.current?.setRangeText(name, from, to, "end");
    own.current?.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const focusField = () => (isShared ? editor : own.current)?.focus();

  // Whoever was writing when the field became another one goes on writing.
  const keepsFocus = useRef(false);
  const takeFocus = useCallback(() => {
    const had = keepsFocus.current;
    keepsFocus.current = false;
    return had;
  }, []);
  const leave = useCallback((hadFocus: boolean) => {
    keepsFocus.current = hadFocus;
  }, []);

  useEffect(() =>
    takeBack(thread.id, (back, note) => {
      const isTaken = isShared && editor !== null;
      if (isTaken) editor.putBefore(back);
      const both = [back, draft.text].filter((each) => each.trim() !== "").join("\n\n");
      setDraft({ ...draft, ...(!isTaken && { text: both }), note });
      focusField();
    }),
  );
  // What was typed before the draft of all was here is part of it from now on.
  useEffect(() => {
    if (!isShared || !editor || draft.text === "") return;
    if (draft.text.trim() !== "") editor.putBehind(draft.text);
    setDraft({ ...draft, text: "" });
  });
  const begins = useRef(focus);
  useEffect(() => {
    // On a phone a keyboard would cover half of the conversation.
    if (begins.current && window.matchMedia("(min-width: 700px)").matches)
      own.current?.focus({ preventScroll: true });
  }, []);

  const sent = () => {
    typing.ended();
    setTold(null);
    onSent();
  };
  const sendShared = async (from: DraftEditor) => {
    const done = from.send({ note, ...options, ...(mentions.length > 0 && { mentions }) });
    if (!done) return;
    sent();
    setDraft({ ...draft, note: false });
    setTold(sentence(await done, me));
  };
  const send = () => {
    if (blank) return;
    if (isShared) return void (editor && sendShared(editor));
    // Spaces before the first line may be code; empty lines around it are nothing.
    const said = text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
    sent();
    // A failure shows at the message.
    const message = mentioning(said, mentions);
    if (note) void thread.note(message).catch(() => {});
    else void thread.send(message, options).catch(() => {});
    setDraft({ ...draft, text: "", note: false });
  };
  const wrote = (next: string) => {
    setTold(null);
    if (next.trim() === "") typing.ended();
    else typing.pressed();
  };
  const label = note
    ? words.composer.placeholderNote
    : asked
      ? words.composer.placeholderInstead
      : trigger === "always"
        ? words.composer.placeholder(agent ? agentName(agents, agent) : null)
        : words.talk.write;

  return (
    <form
      className={note ? "composer composer-note" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        send();
        focusField();
      }}
    >
      {isShared ? (
        <DraftField
          thread={thread}
          shared={shared}
          hint={label}
          takeFocus={takeFocus}
          onLeave={leave}
          onOpen={setEditor}
          onChange={(next, isOwn) => {
            setTogether(next);
            if (isOwn) wrote(next);
          }}
          onEnter={send}
          mention={mention}
          onTooMuch={(whole) => {
            keepsFocus.current = true;
            setDraft({ ...draft, text: whole, alone: true });
            setTold(words.composer.tooMuch);
          }}
        />
      ) : (
        <OwnField
          field={own}
          text={text}
          hint={label}
          takeFocus={takeFocus}
          onLeave={leave}
          onChange={(next) => {
            setDraft({ ...draft, text: next });
            wrote(next);
          }}
          onEnter={send}
          mention={mention}
        />
      )}
      <MentionList mention={mention} agents={agents} />
      {trigger !== "always" && !note && !asked && (
        <p className="composer-rule">{ruleOf(trigger, wakes, agents, answers)}</p>
      )}
      {told && (
        <p className="composer-told" role="status">
          {told}
        </p>
      )}
      <div className="composer-bar">
        {agents.length > 1 && !note && trigger === "always" && (
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
            focusField();
          }}
        >
          <i className="switch" aria-hidden="true" />
          {words.composer.note}
        </button>
        {shared && (
          <button
            type="button"
            className="quiet draft-kind"
            title={alone ? words.composer.aloneHelp : words.composer.sharedHelp}
            aria-label={alone ? words.composer.alone : words.composer.shared}
            onClick={() => {
              const { alone: _, ...rest } = draft;
              keepsFocus.current = true;
              setTold(null);
              setDraft(alone ? rest : { ...rest, alone: true });
            }}
          >
            <Icon name={alone ? "lock" : "people"} size={14} />
            <span>{alone ? words.composer.alone : words.composer.shared}</span>
          </button>
        )}
        <TypingLine thread={thread} me={me} />
        <StopButton thread={thread} live={live} />
        <button type="submit" className="primary" disabled={blank}>
          {note
            ? words.composer.addNote
            : asked
              ? words.composer.instead
              : busy && wakes
                ? words.composer.queue
                : words.composer.send}
        </button>
      </div>
    </form>
  );
}

/** Whether, and when, somebody answers what is written. */
function ruleOf(
  trigger: Exclude<Trigger, "always">,
  wakes: boolean,
  agents: readonly AgentInfo[],
  agent: string | undefined,
): string {
  const name = agent === undefined ? null : agentName(agents, agent);
  const { talk } = words;
  if (name === null || (!wakes && trigger === "mention" && agents.length > 1)) return talk.mentionAny;
  return wakes ? talk.always(name) : talk[trigger](name);
}

/** What to say about a draft that was not sent by this press. */
function sentence(outcome: DraftOutcome, me: string): string | null {
  const { sentBy, sentByMe, changed, notSent } = words.composer;
  if (outcome.kind === "sent") return null;
  if (outcome.kind === "failed") return notSent(outcome.reason);
  const { by } = outcome;
  if (!by) return changed;
  return by.id === me ? sentByMe : sentBy(by.name ?? words.message.someone);
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
