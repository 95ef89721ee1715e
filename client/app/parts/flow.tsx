import { Fragment, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { type Thread, type Turn, triggerOf, useMessageIds, useThreadValue } from "../../react/index.ts";
import { type Conversation, type Group, groupMessages, type SilentEnd as Silent } from "../conversation.ts";
import { withFailedInPlace, writtenPlaces } from "../failed-places.ts";
import { HoldStill } from "../hold-still.ts";
import { colourOf } from "../thread-context.ts";
import type { DateRequest } from "../use-date-tool.ts";
import { useRead } from "../use-read.ts";
import { useStick } from "../use-stick.ts";
import { dayOf } from "../when.ts";
import { words } from "../words.ts";
import { AgentGroup, SilentEnd, SilentRun } from "./agent-group.tsx";
import { Icon } from "./icons.tsx";
import { PersonGroup } from "./person-group.tsx";
import { Questions } from "./question.tsx";
import { WaitingCalls } from "./waiting-calls.tsx";

/** The conversation: it stays where one reads, and follows the end while one is there. */
export function Flow(props: {
  thread: Thread;
  sent: number;
  empty: React.ReactNode;
  /** Dates that are wanted of whoever sits in front of this window. */
  dates: readonly DateRequest[];
}) {
  const { thread, sent, empty, dates } = props;
  const ids = useMessageIds(thread);
  const runs = useThreadValue(thread, ({ runs }) => runs);
  const inputs = useThreadValue(thread, ({ inputs }) => inputs);
  const turns = useThreadValue(thread, ({ turns }) => turns);
  const conversation = useMemo(() => readConversation(thread, ids, turns), [thread, ids, turns]);
  const { silent } = conversation;
  const trigger = useThreadValue(thread, triggerOf);
  const waits = useThreadValue(thread, ({ interrupts }) => interrupts.some(({ answered }) => !answered));
  const idle = runs.length + inputs.length === 0 && !waits;
  const unanswered = trigger === "always" || !idle ? undefined : conversation.unanswered;
  const stick = useStick();
  useRead(thread, stick.following);

  // What one sends oneself, one wants to see.
  const { follow } = stick;
  useLayoutEffect(() => {
    if (sent > 0) follow();
  }, [sent, follow]);

  const spoke = new Set(conversation.groups.map(({ run }) => run?.id));
  const quietRuns = runs.filter(({ runId }) => !spoke.has(runId));
  const starting = inputs.filter(
    ({ status, runId }) =>
      status === "running" && !spoke.has(runId) && !runs.some((run) => run.runId === runId),
  );
  const under = quietRuns.length + starting.length > 0;
  const lastSilent = silent.at(-1);
  const latest = under
    ? undefined
    : lastSilent?.after === conversation.groups.at(-1)?.ids.at(-1)
      ? lastSilent?.run.id
      : conversation.groups.at(-1)?.run?.id;
  const nothing = ids.length === 0 && !under && silent.length === 0;

  return (
    <div className="flow">
      {/* Whoever uses keys scrolls here too. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <div className="flow-box" ref={stick.box} onScroll={stick.onScroll} tabIndex={0}>
        <div className="column" ref={stick.column}>
          <HoldStill value={stick.holdStill}>
            {nothing && empty}
            <Earlier thread={thread} />
            <SilentEnds ends={silent} after={undefined} latest={latest} />
            {conversation.groups.map((group) => (
              <Fragment key={group.key}>
                {group.newDay && <Day at={group.at} first={group === conversation.groups[0]} />}
                {group.run ? (
                  <AgentGroup
                    group={group}
                    run={group.run}
                    latest={group.run.id === latest}
                    conversation={conversation}
                  />
                ) : (
                  <PersonGroup group={group} unanswered={unanswered} />
                )}
                <SilentEnds ends={silent} after={group} latest={latest} />
              </Fragment>
            ))}
            {quietRuns.map((run) => (
              <SilentRun key={run.runId} agent={run.agent} by={run.by} run={run} />
            ))}
            {starting.map(({ inputId, agent, by }) => (
              <SilentRun key={inputId} agent={agent ?? ""} by={by} run={undefined} />
            ))}
            <Questions />
            <WaitingCalls dates={dates} />
          </HoldStill>
        </div>
      </div>
      <ToEnd following={stick.following} last={ids.at(-1)} onClick={follow} />
    </div>
  );
}

function readConversation(thread: Thread, ids: readonly string[], turns: readonly Turn[]): Conversation {
  const views = ids.flatMap((id) => thread.view(id) ?? []);
  const conversation = groupMessages(withFailedInPlace(views, writtenPlaces(thread, views)), turns);
  // In the order of the conversation, so that all windows give the same colours.
  for (const { by, run } of conversation.groups) if (!run) colourOf(by);
  return conversation;
}

function SilentEnds(props: {
  ends: readonly Silent[];
  after: Group | undefined;
  latest: string | undefined;
}) {
  const { ends, after, latest } = props;
  return ends
    .filter((seen) => (seen.after === undefined ? !after : after?.ids.includes(seen.after)))
    .map(({ run, by, end }) => (
      <SilentEnd key={run.id} run={run} by={by} end={end} latest={run.id === latest} />
    ));
}

function Day({ at, first }: { at: number; first: boolean }) {
  const day = dayOf(at, Date.now());
  // A conversation of today says so by its times.
  if (first && day === 0) return null;
  const text = day === 0 ? words.thread.today : day === 1 ? words.thread.yesterday : day;
  return (
    <h2 className="day">
      <span>{text}</span>
    </h2>
  );
}

function Earlier({ thread }: { thread: Thread }) {
  const before = useThreadValue(thread, ({ before }) => before);
  const [state, setState] = useState<"idle" | "loading" | string>("idle");
  if (before === 0) return null;
  const fetch = () => {
    setState("loading");
    thread.earlier().then(
      () => setState("idle"),
      (error: Error) => setState(error.message),
    );
  };
  return (
    <div className="earlier">
      <button type="button" className="quiet" disabled={state === "loading"} onClick={fetch}>
        {state === "loading" ? words.thread.earlierLoading : words.thread.earlier(before)}
      </button>
      {state !== "idle" && state !== "loading" && <span className="marginal">{state}</span>}
    </div>
  );
}

function ToEnd({
  following,
  last,
  onClick,
}: {
  following: boolean;
  last: string | undefined;
  onClick: () => void;
}) {
  const seen = useRef(last);
  useEffect(() => {
    if (following) seen.current = last;
  }, [following, last]);
  if (following) return null;
  const news = seen.current !== last;
  return (
    <button type="button" className={news ? "to-end to-end-news" : "to-end"} onClick={onClick}>
      {news ? words.thread.newMessages : words.thread.toEnd} <Icon name="down" size={14} />
    </button>
  );
}
