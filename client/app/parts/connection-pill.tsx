import { useEffect, useState } from "react";
import type { ClientSnapshot, ThreadStatus } from "../../react/index.ts";
import { type PillState, pillState, pillText, pillTextWithoutTime } from "../pill.ts";
import { words } from "../words.ts";

type Props = {
  connection: Pick<ClientSnapshot, "status" | "retryAt" | "reason" | "unsent">;
  thread: ThreadStatus;
  people: number;
  onConnect: () => void;
};

/** How the connection stands, in words. While it is away a press tries again at once. */
export function ConnectionPill({ connection, thread, people, onConnect }: Props) {
  const now = useSeconds(connection.retryAt !== undefined);
  const state = pillState(connection, thread, people, now);
  const away = state.kind === "reconnecting" || state.kind === "offline";
  const title = [connection.reason, away ? words.connection.what.away : words.connection.what.live];
  return (
    <>
      {away ? (
        <button
          type="button"
          className={`pill pill-${state.kind}`}
          title={[...title, words.connection.now].filter(Boolean).join(" ")}
          onClick={onConnect}
        >
          <Inside state={state} />
        </button>
      ) : (
        <span
          className={`pill pill-${state.kind}`}
          title={state.kind === "live" ? title.join(" ") : undefined}
        >
          <Inside state={state} />
        </span>
      )}
      {/* Read aloud when it changes, without counting seconds. */}
      <span className="unseen" role="status">
        {pillTextWithoutTime(state)}
      </span>
    </>
  );
}

function Inside({ state }: { state: PillState }) {
  return (
    <>
      <i className="dot" aria-hidden="true" />
      <span aria-hidden="true">
        {state.kind === "live" ? (
          <>
            {words.connection.liveShort}
            <span className="wide-only">{words.connection.here(state.people)}</span>
          </>
        ) : (
          pillText(state)
        )}
      </span>
    </>
  );
}

/** The time, again every second while it is needed. */
function useSeconds(needed: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!needed) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [needed]);
  return now;
}
