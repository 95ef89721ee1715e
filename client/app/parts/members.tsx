import { useId, useRef } from "react";
import { type AgentInfo, type Thread, useMessageIds, useThreadValue } from "../../react/index.ts";
import type { Here } from "../people.ts";
import { agentColour, agentName, peopleColours } from "../thread-context.ts";
import { words } from "../words.ts";
import { AgentAvatar, PersonAvatar } from "./avatar.tsx";
import { placeAt } from "./menu.tsx";

/** So many people are shown; the rest is a number. */
const SHOWN = 5;
/** The same where there is little room. */
const SHOWN_NARROW = 2;

/**
 * Who is here, and the agents that take part. A ring says who types or works. A press tells their names, for
 * those who cannot point.
 */
export function Members(props: {
  thread: Thread;
  here: readonly Here[];
  /** How many more are here that nobody names. */
  others: number;
  agents: readonly AgentInfo[];
  /** Whether what is known of them is of now. */
  live: boolean;
}) {
  const { thread, here, others, agents, live } = props;
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const taking = useAgentsOf(thread, agents);
  const runs = useThreadValue(thread, ({ runs }) => runs);
  const working = new Set(live ? runs.map(({ agent }) => agent) : []);
  const people = here.map((person) => {
    const busy = live && person.typing;
    const label = busy ? words.people.isTyping(person.name) : person.name;
    return { key: person.id, name: person.name, colour: peopleColours.of(person.id), busy, label };
  });
  const helpers = taking.map((agent) => {
    const name = agentName(agents, agent);
    const busy = working.has(agent);
    const label = busy ? words.people.working(name) : words.people.agent(name);
    return { key: agent, colour: agentColour(agents, agent), busy, label };
  });
  const names = [...people, ...helpers].map(({ label }) => label);
  return (
    <>
      <button
        ref={button}
        type="button"
        className="quiet members"
        aria-label={words.people.hereAre(names.join("; "))}
        popoverTarget={id}
      >
        {people.slice(0, SHOWN).map(({ key, ...person }, i) => (
          <span key={key} className={i < SHOWN_NARROW ? "member" : "member wide-only"}>
            <PersonAvatar {...person} />
          </span>
        ))}
        <More className="wide-only" names={people.slice(SHOWN).map(({ name }) => name)} others={others} />
        <More
          className="narrow-only"
          names={people.slice(SHOWN_NARROW).map(({ name }) => name)}
          others={others}
        />
        {helpers.map(({ key, ...agent }) => (
          <span key={key} className="member">
            <AgentAvatar {...agent} />
          </span>
        ))}
      </button>
      <div
        id={id}
        popover="auto"
        className="menu everyone"
        onBeforeToggle={(event) => {
          if (event.newState === "open" && button.current) placeAt(event.currentTarget, button.current);
        }}
      >
        <ul aria-label={words.people.here}>
          {people.map(({ key, label, ...person }) => (
            <li key={key}>
              <PersonAvatar {...person} />
              <span>{label}</span>
            </li>
          ))}
          {helpers.map(({ key, label, ...agent }) => (
            <li key={key}>
              <AgentAvatar {...agent} />
              <span>{label}</span>
            </li>
          ))}
          {others > 0 && <li className="marginal">{words.people.others(others)}</li>}
        </ul>
      </div>
    </>
  );
}

function More(props: { className: string; names: readonly string[]; others: number }) {
  const { className, names, others } = props;
  if (names.length + others === 0) return null;
  const title = [...names, ...(others > 0 ? [words.people.others(others)] : [])].join(", ");
  return (
    <span className={`members-more ${className}`} title={title}>
      {words.people.more(names.length + others)}
    </span>
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
