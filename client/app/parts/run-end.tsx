import type { TurnEnd } from "../../react/index.ts";
import { runSentence } from "../run-sentence.ts";
import { agentName, useThreadContext } from "../thread-context.ts";
import { words } from "../words.ts";

type Props = { run: { id: string; agent: string }; end: TurnEnd };

/** Nothing was said after it: to ask once more goes on where it stopped. */
type Latest = { latest: boolean };

/** What went wrong in a run, with a way to try again where that may help. */
export function RunTrouble({ run, end, latest }: Props & Latest) {
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
    </div>
  );
}

/** Whether {@link RunRemark} has something to say. */
export const hasRemark = (end: TurnEnd) => runSentence(end, "")?.tone === "quiet";

/** How a run ended, where that is no trouble and yet to be known. */
export function RunRemark({ run, end }: Props) {
  const sentence = useSentence(run, end);
  return sentence?.tone === "quiet" ? <span className="marginal">{sentence.text}</span> : null;
}

function useSentence(run: Props["run"], end: TurnEnd) {
  const { agents } = useThreadContext();
  return runSentence(end, agentName(agents, run.agent));
}
