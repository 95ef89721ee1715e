import { useEffect, useMemo, useRef, useState } from "react";
import { createPlainState, type Thread, useHeldThread, useThreadValue } from "../../react/index.ts";
import { contentText } from "../content.ts";
import { plainTitle } from "../excerpt.ts";
import { isNote } from "../notes.ts";
import { everyone } from "../people.ts";
import { createStateChanges } from "../state-changes.ts";
import { keep, kept } from "../storage.ts";
import { peopleColours, ThreadContext } from "../thread-context.ts";
import { useDateTool } from "../use-date-tool.ts";
import { usePanel } from "../use-panel.ts";
import { useSeenConnection } from "../use-seen-connection.ts";
import { useSharedDoc } from "../use-shared-doc.ts";
import { words } from "../words.ts";
import { Away, Waiting } from "./away.tsx";
import { Composer } from "./composer.tsx";
import { Flow } from "./flow.tsx";
import { Notice } from "./notice.tsx";
import { Queue } from "./queue.tsx";
import { Start } from "./start.tsx";
import { StatePanel, useTabs } from "./state-panel.tsx";
import { PlainHeader, ThreadHeader } from "./thread-header.tsx";

type Props = {
  id: string;
  /** It was made in this window, and is there once the server has heard of it. */
  made: boolean;
  join: string | null;
  /** Whether one can write at once. */
  focus: boolean;
  onMenu: () => void;
  onNewest: () => void;
  onSomeoneElse: () => void;
};

/** One thread: header, conversation, composer. */
export function ThreadPage({ id, made, join, focus, onMenu, onNewest, onSomeoneElse }: Props) {
  const thread = useHeldThread(id, { create: made });
  const { user, server, status: connection } = useSeenConnection();
  const status = useThreadValue(thread, ({ status }) => status);
  const known = useThreadValue(thread, ({ cursor }) => cursor !== null);
  const archived = useThreadValue(thread, ({ archived }) => archived);
  const title = useThreadValue(thread, ({ title }) => title);
  const people = useThreadValue(thread, ({ people }) => people);
  const [sent, setSent] = useState(0);
  const agents = server?.agents ?? NONE;
  const me = user?.id ?? "";
  const live = connection === "live" && status === "live";

  const changes = useMemo(() => createStateChanges(thread), [thread]);
  useEffect(() => changes.follow(), [changes]);
  const shared = useSharedDoc(thread, user ?? undefined);
  const plainState = useMemo(() => createPlainState(thread), [thread]);
  useEffect(() => plainState.follow(), [plainState]);
  const dates = useDateTool(thread);
  const tabs = useTabs(thread);
  const panel = usePanel(tabs);

  useEffect(() => {
    document.title = `${plainTitle(title) || words.untitled} · ${words.app}`;
  }, [title]);

  const context = useMemo(
    () => ({
      thread,
      me,
      agents,
      live,
      changes,
      plainState,
      shared,
      again(run: { id: string; agent: string }) {
        const text = questionOf(thread, run.id);
        if (text === undefined) return;
        // A failure shows at the message.
        void thread.send(text, { agent: run.agent, start: true }).catch(() => {});
        setSent((n) => n + 1);
      },
    }),
    [thread, me, agents, live, changes, plainState, shared],
  );
  const ask = (text: string) => {
    void thread.send(text, { start: true }).catch(() => {});
    setSent((n) => n + 1);
  };
  // In the order they came, so that all windows give the same colours.
  for (const { id: person } of everyone(people)) peopleColours.of(person);

  if (status === "failed") return <Failed thread={thread} onMenu={onMenu} onNewest={onNewest} />;
  return (
    <ThreadContext value={context}>
      <main className="thread">
        <ThreadHeader
          thread={thread}
          agents={agents}
          onMenu={onMenu}
          panel={tabs.length > 0 ? panel : undefined}
        />
        {known && <Away />}
        {archived && (
          <Notice
            text={words.thread.archived}
            actions={[
              {
                text: words.list.unarchive,
                onClick: () => void thread.update({ archived: false }).catch(() => {}),
              },
            ]}
          />
        )}
        <Twice thread={thread} me={me} onSomeoneElse={onSomeoneElse} />
        <div className="beside">
          <div className="talk">
            <Flow
              thread={thread}
              sent={sent}
              dates={dates}
              empty={known ? <Start thread={thread} join={join} onAsk={ask} /> : <Waiting />}
            />
            <div className="desk">
              <Queue thread={thread} me={me} />
              <Composer
                thread={thread}
                agents={agents}
                me={me}
                live={live}
                focus={focus}
                shared={shared}
                onSent={() => setSent((n) => n + 1)}
              />
            </div>
          </div>
          {panel.open && <StatePanel tabs={tabs} panel={panel} />}
        </div>
      </main>
    </ThreadContext>
  );
}

const NONE: readonly never[] = [];

/** What a run was asked: the newest message before it that was no note. */
function questionOf(thread: Thread, runId: string): string | undefined {
  const views = thread.messageIds.flatMap((id) => thread.view(id) ?? []);
  const first = views.findIndex(({ about }) => about.runId === runId);
  const question = views
    .slice(0, first < 0 ? views.length : first)
    .findLast(
      ({ message, about }) => message.role === "user" && !isNote(message) && about.runId === undefined,
    );
  return question?.message.role === "user" ? contentText(question.message.content) : undefined;
}

/** The same person in two windows of one thread: whoever looks for a second person is shown how. */
function Twice({ thread, me, onSomeoneElse }: { thread: Thread; me: string; onSomeoneElse: () => void }) {
  const people = useThreadValue(thread, ({ people }) => people);
  const [hidden, setHidden] = useState(() => kept("browser", HIDE_TWICE) !== null);
  const first = useRef<boolean | null>(null);
  const mine = everyone(people).find(({ id }) => id === me);
  // Only the window that came later says it.
  if (first.current === null && mine) first.current = mine.windows === 1;
  if (!mine || mine.windows < 2 || first.current !== false || hidden) return null;
  return (
    <Notice
      text={words.people.twice(mine.name)}
      actions={[
        { text: words.people.twiceBe, onClick: onSomeoneElse },
        {
          text: words.people.twiceOk,
          onClick: () => {
            keep("browser", HIDE_TWICE, "yes");
            setHidden(true);
          },
        },
      ]}
    />
  );
}

const HIDE_TWICE = "two-windows-are-fine";

/** A thread that cannot be had: a sentence, and where to go. */
function Failed({ thread, onMenu, onNewest }: { thread: Thread; onMenu: () => void; onNewest: () => void }) {
  const error = useThreadValue(thread, ({ error }) => error);
  const missing = error?.code === "not_found";
  const forbidden = error?.code === "forbidden";
  const { thread: say } = words;
  return (
    <main className="thread">
      <PlainHeader onMenu={onMenu} />
      <div className="page page-within">
        <div className="card">
          <h1>{missing ? say.missing : forbidden ? say.forbidden : say.failed}</h1>
          <p>{missing ? say.missingHelp : forbidden ? say.forbiddenHelp : error?.message}</p>
          <div className="field-row">
            <button type="button" className="primary" onClick={onNewest}>
              {say.toList}
            </button>
            <button type="button" onClick={() => thread.retry()}>
              {say.again}
            </button>
          </div>
        </div>
      </div>
    </main>
  );
}
