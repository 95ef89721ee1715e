import { useState } from "react";
import { useThreadValue } from "../../react/index.ts";
import { useThreadContext } from "../thread-context.ts";
import { words } from "../words.ts";

/** Where a conversation went several ways: which one is shown, and the ways to the others, for everybody. */
export function BranchSwitch({ turn }: { turn: string }) {
  const { thread, live } = useThreadContext();
  const branches = useThreadValue(thread, () => thread.branches(turn), sameIds);
  const [fault, setFault] = useState<string | null>(null);
  if (branches.length < 2) return null;
  const at = branches.indexOf(turn);
  const go = (to: number) => {
    const id = branches[to];
    setFault(null);
    if (id !== undefined) thread.switchTo(id).catch((error: Error) => setFault(error.message));
  };
  return (
    <span className="branches">
      <button
        type="button"
        className="quiet"
        aria-label={words.branch.before}
        disabled={!live || at === 0}
        onClick={() => go(at - 1)}
      >
        ‹
      </button>
      <span>{words.branch.at(at + 1, branches.length)}</span>
      <button
        type="button"
        className="quiet"
        aria-label={words.branch.next}
        disabled={!live || at === branches.length - 1}
        onClick={() => go(at + 1)}
      >
        ›
      </button>
      {fault && <span role="alert">{fault}</span>}
    </span>
  );
}

/** Has the last answer made again; the old one stays beside it. */
export function AnswerAgain({ runId }: { runId: string }) {
  const { thread, live } = useThreadContext();
  const isReader = useThreadValue(thread, ({ role }) => role === "viewer");
  const isBusy = useThreadValue(thread, ({ runs, inputs, interrupts, toolCalls }) =>
    [runs, inputs, interrupts, toolCalls].some((list) => list.length > 0),
  );
  const [fault, setFault] = useState<string | null>(null);
  if (isReader || isBusy) return null;
  return (
    <>
      <button
        type="button"
        className="quiet"
        disabled={!live}
        onClick={() => {
          setFault(null);
          thread.regenerate(runId).catch((error: Error) => setFault(error.message));
        }}
      >
        {words.branch.again}
      </button>
      {fault && <span role="alert">{fault}</span>}
    </>
  );
}

const sameIds = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((id, i) => id === b[i]);
