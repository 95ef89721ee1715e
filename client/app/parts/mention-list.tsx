import type { AgentInfo } from "../../react/index.ts";
import { agentColour, peopleColours } from "../thread-context.ts";
import type { Mentioning } from "../use-mentions.ts";
import { words } from "../words.ts";
import { AgentAvatar, PersonAvatar } from "./avatar.tsx";

/** The names that fit what is written behind an `@`, over the field. */
export function MentionList({ mention, agents }: { mention: Mentioning; agents: readonly AgentInfo[] }) {
  const { items, active, choose } = mention;
  if (items.length === 0) return null;
  return (
    <div className="menu mention-list" role="listbox" aria-label={words.talk.names} tabIndex={-1}>
      {items.map((item, i) => (
        <button
          key={`${item.kind} ${item.id}`}
          type="button"
          role="option"
          tabIndex={-1}
          aria-selected={i === active}
          // The field keeps the caret.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => choose(item)}
        >
          {item.kind === "agent" ? (
            <AgentAvatar colour={agentColour(agents, item.id)} />
          ) : (
            <PersonAvatar name={item.name} colour={peopleColours.of(item.id)} />
          )}
          <span>{item.name}</span>
        </button>
      ))}
    </div>
  );
}
