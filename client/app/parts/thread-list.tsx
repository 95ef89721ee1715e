import { type RefObject, useEffect, useState } from "react";
import { type ThreadInfo, useConnection, useThreads } from "../../react/index.ts";
import { plainLine, plainTitle } from "../excerpt.ts";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";
import { ThreadRow } from "./thread-row.tsx";

/** The longest list a server gives. */
const LIMIT = 200;

type Props = {
  current: string | null;
  filter: RefObject<HTMLInputElement | null>;
  onNew: () => void;
  onChoose: () => void;
  /** Told of the threads that are listed, in order. */
  onListed: (ids: readonly string[]) => void;
  children: React.ReactNode;
};

/** All threads, newest first; and, when asked for, those put away. */
export function ThreadList({ current, filter, onNew, onChoose, onListed, children }: Props) {
  const [text, setText] = useState("");
  const [archived, setArchived] = useState(false);
  const wanted = text.trim();
  const whole = useThreads({ archived, limit: LIMIT });
  // A list that is cut off is searched by the server.
  const cut = whole.items.length >= LIMIT && wanted !== "";
  const found = useThreads(cut ? { archived, text: wanted, limit: LIMIT } : { archived, limit: LIMIT });
  const items = cut ? found.items : whole.items.filter((thread) => matches(thread, wanted));
  const { status } = useConnection();
  const ids = items.map(({ id }) => id).join("\n");
  useEffect(() => onListed(ids === "" ? [] : ids.split("\n")), [ids, onListed]);

  return (
    <nav className="threads" aria-label={words.threads}>
      <div className="threads-head">
        <b>{words.app}</b>
        <button
          type="button"
          className="quiet square"
          aria-label={words.list.start}
          title={`${words.list.start} (n)`}
          onClick={onNew}
        >
          <Icon name="plus" />
        </button>
      </div>
      <div className="filter">
        <input
          ref={filter}
          type="search"
          value={text}
          placeholder={words.list.filter}
          aria-label={words.list.filter}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            setText("");
            event.currentTarget.blur();
          }}
        />
        <kbd>{words.list.filterKey}</kbd>
      </div>
      {items.length === 0 && whole.status === "live" && (
        <p className="marginal threads-none">
          {wanted !== ""
            ? words.list.nothingFound(wanted)
            : archived
              ? words.list.noArchived
              : words.list.none}
        </p>
      )}
      {whole.status === "failed" && status === "live" && whole.error && (
        <p className="marginal threads-none">
          {words.list.failed(whole.error.message)}{" "}
          <button type="button" className="quiet" onClick={whole.retry}>
            {words.thread.again}
          </button>
        </p>
      )}
      <ul className="rows">
        {items.map((thread) => (
          <ThreadRow key={thread.id} thread={thread} current={thread.id === current} onChoose={onChoose} />
        ))}
      </ul>
      <div className="threads-foot">
        <button
          type="button"
          className="quiet"
          aria-pressed={archived}
          onClick={() => setArchived(!archived)}
        >
          {archived ? words.list.hideArchived : words.list.showArchived}
        </button>
        {children}
      </div>
    </nav>
  );
}

function matches(thread: ThreadInfo, text: string): boolean {
  const within =
    `${plainTitle(thread.title) || words.untitled}\n${plainLine(thread.lastMessage)}`.toLocaleLowerCase();
  return text
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((part) => within.includes(part));
}
