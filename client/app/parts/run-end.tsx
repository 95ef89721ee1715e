import type { ReactNode } from "react";
import type { TurnEnd } from "../../react/index.ts";
import { runSentence } from "../run-sentence.ts";
import { agentName, useThreadContext } from "../thread-context.ts";
import { words } from "../words.ts";

type Props = { run: { id: string; agent: string }; end: TurnEnd };

/** Nothing was said after it: to ask once more goes on where it stopped. */
type Latest = { latest: boolean };

/** What went wrong in a run, with a way to try again where that may help, and what else one can do. */
export function RunTrouble({ run, end, latest, children }: Props & Latest & { children?: ReactNode }) {
  const { again } = useThreadContext();
  const sentence = useSentence(run, end);
  if (sentence?.tone !== "bad") return null;
  return (
    <div className="trouble">
      <span>
        {sentence.text}
        {sentence.details && <span className="marginal block">{sentence.details}</span>}
      </span>
      {sentence.again && latest && (
        <button type="button" onClick={() => again(run)}>
          {words.end.again}
        </button>
      )}
      {children}
    </div>
  );
}

/** Whether {@link RunTrouble} or {@link RunRemark} has something to say. */
export const toneOf = (end: TurnEnd) => runSentence(end, "")?.tone;

/** How a run ended, where that is no trouble and yet to be known. */
export function RunRemark({ run, end }: Props) {
  const sentence = useSentence(run, end);
  return sentence?.tone === "quiet" ? <span className="marginal">{sentence.text}</span> : null;
}

function useSentence(run: Props["run"], end: TurnEnd) {
  const { agents } = useThreadContext();
  return runSentence(end, agentName(agents, run.agent));
}
