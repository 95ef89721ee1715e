import { useState } from "react";
import { type ThreadInfo, useClient } from "../../react/index.ts";
import { plainLine, plainTitle } from "../excerpt.ts";
import { threadHash } from "../route.ts";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";
import { Menu } from "./menu.tsx";
import { TitleField } from "./title-field.tsx";

/** More than this is just many. */
const MOST = 99;

/** One thread of the list: its title, what was said last, how much of it is news, whether an agent is at work. */
export function ThreadRow(props: { thread: ThreadInfo; current: boolean; onChoose: () => void }) {
  const { thread, current, onChoose } = props;
  const { id, archived, running, unread, lastMessage } = thread;
  const client = useClient();
  const [renaming, setRenaming] = useState(false);
  const title = plainTitle(thread.title) || words.untitled;
  const change = (what: { title: string } | { archived: boolean }) =>
    // What did not work shows in that it did not change.
    void client
      .peek(id)
      .update(what)
      .catch(() => {});

  if (renaming)
    return (
      <li className="row">
        <TitleField
          title={plainTitle(thread.title)}
          label={words.thread.title}
          onDone={(next) => {
            setRenaming(false);
            if (next !== null) change({ title: next });
          }}
        />
      </li>
    );
  return (
    <li className={current ? "row row-current" : "row"}>
      <a href={threadHash(id)} aria-current={current ? "page" : undefined} onClick={onChoose}>
        <span className="row-title">{title}</span>
        <span className="row-last">{plainLine(lastMessage) || words.list.empty}</span>
      </a>
      {unread > 0 && !current && (
        <span className="row-unread" role="img" aria-label={words.list.unread(unread)}>
          {unread > MOST ? `${MOST}+` : unread}
        </span>
      )}
      {running && (
        <i className="pulse" role="img" aria-label={words.list.running} title={words.list.running} />
      )}
      <Menu
        label={words.list.more(title)}
        className="quiet square row-menu"
        items={[
          { text: words.list.rename, onChoose: () => setRenaming(true) },
          {
            text: archived ? words.list.unarchive : words.list.archive,
            onChoose: () => change({ archived: !archived }),
          },
        ]}
      >
        <Icon name="dots" />
      </Menu>
    </li>
  );
}
