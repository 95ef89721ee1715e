import { useState } from "react";
import { type AgentInfo, type Thread, useClient, useThreadValue } from "../../react/index.ts";
import { plainTitle } from "../excerpt.ts";
import { everyone, unnamed } from "../people.ts";
import { useSeenConnection } from "../use-seen-connection.ts";
import { words } from "../words.ts";
import { ConnectionPill } from "./connection-pill.tsx";
import { Icon } from "./icons.tsx";
import { Members } from "./members.tsx";
import { TitleField } from "./title-field.tsx";
import { TriggerMenu } from "./trigger-menu.tsx";

/** The line above a conversation: its title, how the connection is, who is here. */
export function ThreadHeader(props: {
  thread: Thread;
  agents: readonly AgentInfo[];
  onMenu: () => void;
  /** What is beside the conversation, where there is something to show. */
  panel: { open: boolean; setOpen: (open: boolean) => void } | undefined;
}) {
  const { thread, agents, onMenu, panel } = props;
  const client = useClient();
  const connection = useSeenConnection();
  const status = useThreadValue(thread, ({ status }) => status);
  const people = useThreadValue(thread, ({ people }) => people);
  const count = useThreadValue(thread, ({ peopleCount }) => peopleCount);
  const here = everyone(people);
  const others = unnamed(people, count);
  return (
    <header className="head">
      <MenuButton onClick={onMenu} />
      <Title thread={thread} />
      <ConnectionPill
        connection={connection}
        thread={status}
        people={here.length + others}
        onConnect={() => client.reconnect()}
      />
      <span className="space" />
      <Members
        thread={thread}
        here={here}
        others={others}
        agents={agents}
        live={status === "live" && connection.status === "live"}
      />
      <TriggerMenu thread={thread} />
      {panel && (
        <button
          type="button"
          className="quiet square panel-button"
          aria-label={panel.open ? words.state.hide : words.state.show}
          title={panel.open ? words.state.hide : words.state.show}
          aria-expanded={panel.open}
          onClick={() => panel.setOpen(!panel.open)}
        >
          <Icon name="side" />
        </button>
      )}
    </header>
  );
}

/** The same line where there is no conversation. */
export function PlainHeader({ onMenu }: { onMenu: () => void }) {
  const client = useClient();
  const connection = useSeenConnection();
  return (
    <header className="head">
      <MenuButton onClick={onMenu} />
      {connection.status !== "live" && (
        <ConnectionPill
          connection={connection}
          thread="loading"
          people={0}
          onConnect={() => client.reconnect()}
        />
      )}
    </header>
  );
}

/** Opens the list of threads where it is not always there. */
function MenuButton({ onClick }: { onClick: () => void }) {
  return (
    <button type="button" className="quiet square menu-button" aria-label={words.menu} onClick={onClick}>
      <Icon name="menu" size={18} />
    </button>
  );
}

function Title({ thread }: { thread: Thread }) {
  const title = useThreadValue(thread, ({ title }) => title);
  const [editing, setEditing] = useState(false);
  // What one has called it shows until the server says the same.
  const [mine, setMine] = useState<string | null>(null);
  if (mine !== null && mine === title) setMine(null);
  const shown = mine ?? title;
  if (editing)
    return (
      <TitleField
        title={plainTitle(shown)}
        label={words.thread.title}
        onDone={(next) => {
          setEditing(false);
          if (next === null) return;
          setMine(next);
          thread.update({ title: next }).catch(() => setMine(null));
        }}
      />
    );
  return (
    <h1>
      <button type="button" title={words.thread.rename} onClick={() => setEditing(true)}>
        <span>{plainTitle(shown) || words.untitled}</span>
      </button>
    </h1>
  );
}
