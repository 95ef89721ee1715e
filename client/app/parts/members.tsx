import { type AgentInfo, type Thread, useMessageIds, useThreadValue } from "../../react/index.ts";
import type { Here } from "../people.ts";
import { agentColour, agentName, peopleColours } from "../thread-context.ts";
import { words } from "../words.ts";
import { AgentAvatar, PersonAvatar } from "./avatar.tsx";

/** So many people are shown; the rest is a number. */
const SHOWN = 5;

/** Who is here, and the agents that take part. A ring says who types or works. */
export function Members(props: {
  thread: Thread;
  here: readonly Here[];
  agents: readonly AgentInfo[];
  /** Whether what is known of them is of now. */
  live: boolean;
}) {
  const { thread, here, agents, live } = props;
  const taking = useAgentsOf(thread, agents);
  const runs = useThreadValue(thread, ({ runs }) => runs);
  const working = new Set(live ? runs.map(({ agent }) => agent) : []);
  const more = here.slice(SHOWN);
  return (
    <ul className="members" aria-label={words.people.here}>
      {here.slice(0, SHOWN).map(({ id, name, typing }) => (
        <li key={id}>
          <PersonAvatar
            name={name}
            colour={peopleColours.of(id)}
            busy={live && typing}
            label={live && typing ? words.people.isTyping(name) : name}
          />
        </li>
      ))}
      {more.length > 0 && (
        <li className="members-more" title={more.map(({ name }) => name).join(", ")}>
          {words.people.more(more.length)}
        </li>
      )}
      {taking.map((id) => {
        const name = agentName(agents, id);
        const busy = working.has(id);
        return (
          <li key={id}>
            <AgentAvatar
              colour={agentColour(agents, id)}
              busy={busy}
              label={busy ? words.people.working(name) : words.people.agent(name)}
            />
          </li>
        );
      })}
    </ul>
  );
}

/** Agents that spoke in a thread, else the one that would answer. */
function useAgentsOf(thread: Thread, agents: readonly AgentInfo[]): string[] {
  const ids = useMessageIds(thread);
  const spoke = new Set(ids.flatMap((id) => thread.about(id)?.agent ?? []));
  for (const { agent } of thread.runs) spoke.add(agent);
  const preset = agents.find((agent) => agent.default) ?? agents[0];
  return spoke.size === 0 && preset ? [preset.id] : [...spoke];
}
