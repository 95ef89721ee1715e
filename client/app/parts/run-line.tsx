import { useEffect, useState } from "react";
import type { ThreadRun } from "../../react/index.ts";
import { useThreadContext } from "../thread-context.ts";
import { words } from "../words.ts";

/** After this long without news one wonders whether anything happens, ms. */
const QUIET_MS = 20_000;

/**
 * The last line of a run that is under way: what the agent is at.
 * @param run absent until the agent has begun
 * @param sign another value whenever there is news
 */
export function RunLine({ run, sign }: { run: ThreadRun | undefined; sign: unknown }) {
  const [quietSince, setQuietSince] = useState<unknown>(null);
  useEffect(() => {
    const timer = setTimeout(() => setQuietSince(sign), QUIET_MS);
    return () => clearTimeout(timer);
  }, [sign]);
  const step = run?.open.findLast((event) => (event.type as string) === "STEP_STARTED")?.stepName;
  const quiet = sign !== undefined && quietSince === sign;
  const { live } = useThreadContext();
  if (!live) return <p className="run-line marginal">{words.work.lastSeen}</p>;
  const what = quiet ? words.work.still : run ? words.work.working : words.work.starting;
  return (
    <p className="run-line marginal">
      <i className="pulse" aria-hidden="true" />
      {typeof step === "string" && !quiet ? step : what}
    </p>
  );
}
