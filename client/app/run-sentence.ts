import type { TurnEnd } from "../react/index.ts";
import { nameOf } from "./people.ts";
import { words } from "./words.ts";

/** How a run ended, where there is something to say about it. */
export type RunSentence = {
  tone: "quiet" | "bad";
  text: string;
  /** What the agent or the server said, where the sentence is ours. */
  details?: string;
  /** Asking once more may help. */
  again: boolean;
};

/** Codes whose message the server has written for people; it names the agent and the cause. */
const SAID_WELL = /^(?:AGENT_|STORE_FAILED)/;

/**
 * What to say about the end of a run; `null` when it went well.
 * @param agent the agent's name
 */
export function runSentence(end: TurnEnd, agent: string): RunSentence | null {
  switch (end.outcome) {
    case "success":
      return null;
    case "cancelled":
      return {
        tone: "quiet",
        text: end.by ? words.end.stoppedBy(nameOf(end.by)) : words.end.stopped,
        again: false,
      };
    case "interrupt":
      return { tone: "quiet", text: decided(end) ?? words.end.asked, again: false };
    case "error": {
      const { code = "", message } = end;
      if (message && SAID_WELL.test(code)) return { tone: "bad", text: message, again: true };
      const ours = words.end.codes[code]?.(agent) ?? words.end.failed(agent);
      const details = SAID_WELL.test(code) || code === "SERVER_RESTART" ? undefined : message;
      return { tone: "bad", text: ours, ...(details && { details }), again: true };
    }
  }
}

/** Who decided what about the questions of a run; `null` before anybody did. */
function decided({ decisions = [] }: TurnEnd): string | null {
  const { approved: yes, declined, answered, cancelled } = words.end.decided;
  const said = decisions.map(({ by, status, approved }) => {
    const say =
      status === "cancelled" ? cancelled : approved === undefined ? answered : approved ? yes : declined;
    return say(nameOf(by));
  });
  return said.length === 0 ? null : [...new Set(said)].join(" · ");
}
