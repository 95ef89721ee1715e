import { memo, useCallback } from "react";
import { type Author, type ThreadRun, type TurnEnd, useMessage, useThreadValue } from "../../react/index.ts";
import { contentText } from "../content.ts";
import type { Conversation, Group, SilentEnd as Silent } from "../conversation.ts";
import { nameOf } from "../people.ts";
import { agentColour, agentName, useThreadContext } from "../thread-context.ts";
import { fullTime, timeOfDay } from "../when.ts";
import { words } from "../words.ts";
import { AgentMessage } from "./agent-message.tsx";
import { AgentAvatar } from "./avatar.tsx";
import { AnswerAgain, BranchSwitch } from "./branches.tsx";
import { CopyButton } from "./copy-button.tsx";
import { RunRemark, RunTrouble, toneOf } from "./run-end.tsx";
import { RunLine } from "./run-line.tsx";
import { UndoRun, useUndo } from "./undo-run.tsx";

type Run = NonNullable<Group["run"]>;

/** What an agent did in one run, from one message of people to the next. */
export function AgentGroup({
  group,
  run,
  latest,
  conversation,
}: {
  group: Group;
  run: Run;
  /** Nothing stands behind it. */
  latest: boolean;
  conversation: Conversation;
}) {
  const { thread } = useThreadContext();
  const last = useMessage(thread, group.ids.at(-1) ?? "");
  const active = useThreadValue(thread, ({ runs }) => runs.find(({ runId }) => runId === run.id));
  return (
    <AgentTurn agent={run.agent} by={group.by} at={group.at} busy={active !== undefined}>
      {group.ids.map((id) => (
        <AgentMessage
          key={id}
          id={id}
          results={conversation.results}
          {...(conversation.nextAt.has(id) && { nextAt: conversation.nextAt.get(id) })}
        />
      ))}
      {run.last && active && <RunLine run={active} sign={last} />}
      {run.last && !active && last?.about.end && (
        <Foot group={group} run={run} end={last.about.end} latest={latest} />
      )}
    </AgentTurn>
  );
}

/** A run that has not said anything yet. */
export function SilentRun({ agent, by, run }: { agent: string; by: Author; run: ThreadRun | undefined }) {
  return (
    <AgentTurn agent={agent} by={by} busy>
      <RunLine run={run} sign={run} />
    </AgentTurn>
  );
}

/** A run that ended without a word. */
export function SilentEnd({ run, by, end, latest }: Omit<Silent, "after"> & { latest: boolean }) {
  return (
    <AgentTurn agent={run.agent} by={by} at={end.at}>
      <RunTrouble run={run} end={end} latest={latest} />
      <RunRemark run={run} end={end} />
      {end.outcome === "success" && <span className="marginal">{words.end.silent}</span>}
      <div className="foot">
        <UndoRun runId={run.id} />
      </div>
    </AgentTurn>
  );
}

function AgentTurn(props: {
  agent: string;
  by: Author;
  at?: number;
  busy?: boolean;
  children: React.ReactNode;
}) {
  const { agents } = useThreadContext();
  const { agent, by, at, busy = false } = props;
  return (
    <article className="group" aria-busy={busy}>
      <AgentAvatar colour={agentColour(agents, agent)} />
      <div className="group-body">
        <header className="who">
          <b>{agentName(agents, agent)}</b>{" "}
          {at !== undefined && <time title={fullTime(at)}>{timeOfDay(at)}</time>}
          {by.kind !== "system" && (
            <span>
              {at !== undefined && " · "}
              {words.message.by(nameOf(by))}
            </span>
          )}
        </header>
        {props.children}
      </div>
    </article>
  );
}

/** The end of a run: what there is to say about it, and its text to take along. */
const Foot = memo(function Foot(props: { group: Group; run: Run; end: TurnEnd; latest: boolean }) {
  const { group, run, end, latest } = props;
  const { thread } = useThreadContext();
  const text = useCallback(
    () =>
      group.ids
        .flatMap((id) => {
          const message = thread.view(id)?.message;
          return message?.role === "assistant" ? [contentText(message.content)] : [];
        })
        .filter((part) => part !== "")
        .join("\n\n"),
    [group, thread],
  );
  const tone = toneOf(end);
  const undo = useUndo(run.id);
  const copy = text() !== "" && <CopyButton text={text} />;
  if (tone === "bad")
    return (
      <RunTrouble run={run} end={end} latest={latest}>
        {copy}
        <UndoRun runId={run.id} />
      </RunTrouble>
    );
  return (
    <div className="foot">
      <RunRemark run={run} end={end} />
      <BranchSwitch turn={run.id} />
      {undo !== "no" && <UndoRun runId={run.id} />}
      {latest && end.outcome !== "interrupt" && <AnswerAgain runId={run.id} />}
      {copy}
    </div>
  );
});
