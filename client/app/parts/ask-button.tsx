import { useState } from "react";
import { useThreadValue } from "../../react/index.ts";
import { agentName, useThreadContext } from "../thread-context.ts";
import { words } from "../words.ts";

/** Lets the agent answer what was only said. */
export function AskButton() {
  const { thread, agents, live } = useThreadContext();
  const role = useThreadValue(thread, ({ role }) => role);
  const [state, setState] = useState<"idle" | "asked" | { reason: string }>("idle");
  const agent = agents.find((agent) => agent.default)?.id ?? agents[0]?.id;
  if (agent === undefined || role === "viewer") return null;
  const ask = () => {
    setState("asked");
    thread.send([], { start: true, agent }).then(
      () => setState("idle"),
      (error: Error) => setState({ reason: error.message }),
    );
  };
  return (
    <span className="ask">
      <button type="button" className="quiet" disabled={!live || state === "asked"} onClick={ask}>
        {words.talk.ask(agentName(agents, agent))}
      </button>
      {typeof state === "object" && <span className="marginal">{state.reason}</span>}
    </span>
  );
}
