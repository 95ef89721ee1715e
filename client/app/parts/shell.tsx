import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useClient, useThreads } from "../../react/index.ts";
import { ALONE } from "../alone.ts";
import { newId } from "../new-id.ts";
import { refusalOf } from "../refusal.ts";
import { readRoute } from "../route.ts";
import { useKeys } from "../use-keys.ts";
import { goTo, goToDoor, useHash } from "../use-route.ts";
import { useSeenConnection } from "../use-seen-connection.ts";
import { words } from "../words.ts";
import { Waiting } from "./away.tsx";
import { Keys } from "./keys.tsx";
import { type MeActions, MeMenu } from "./me-menu.tsx";
import { Refused } from "./refused.tsx";
import { PlainHeader } from "./thread-header.tsx";
import { ThreadList } from "./thread-list.tsx";
import { ThreadPage } from "./thread-page.tsx";

/** The thread that a server without any opens with; the same for all, so that newcomers meet in it. */
const FIRST_THREAD = "welcome";

/** Threads that were made in this window; the server hears of them when they are joined. */
const made = new Set<string>([FIRST_THREAD]);

type Props = {
  name: string;
  other: boolean;
  join: string | null;
  onCode: (code: string) => void;
} & MeActions;

/** Threads on the left, the conversation beside them. */
export function Shell({ name, other, join, onCode, ...me }: Props) {
  const client = useClient();
  const connection = useSeenConnection();
  const { status } = connection;
  const hash = useHash();
  const current = readRoute(hash).thread;
  const threads = useThreads(ALL);
  const [sheet, setSheet] = useState(false);
  const filter = useRef<HTMLInputElement>(null);
  const keys = useRef<HTMLDialogElement>(null);
  const listed = useRef<readonly string[]>([]);
  const onListed = useCallback((ids: readonly string[]) => {
    listed.current = ids;
  }, []);

  /** Keys brought one here, and shall lead on. */
  const byKeys = useRef(false);
  useEffect(() => {
    if (current !== null) byKeys.current = false;
  }, [current]);

  const ready = threads.status === "live";
  const newest = threads.items[0]?.id ?? FIRST_THREAD;
  useEffect(() => {
    if (current === null && ready) goTo(newest, true);
  }, [current, ready, newest]);

  const onNew = useCallback(() => {
    setSheet(false);
    // One that is still empty does as well, unless somebody else sits in it.
    const empty = threads.items.find(
      ({ id, title, lastMessage, people, running }) =>
        !(title || lastMessage || running) &&
        people.every((each) => each.id === client.user?.id) &&
        // Of the one that is shown more is known than the list says yet.
        (id !== current || client.peek(id).messages.length === 0),
    );
    const id = empty?.id ?? newId();
    if (!empty) made.add(id);
    goTo(id);
  }, [threads.items, client, current]);

  const actions = useMemo(() => {
    const step = (by: number) => {
      const ids = listed.current;
      const at = current === null ? -1 : ids.indexOf(current);
      const next = ids[Math.min(Math.max(0, at + by), ids.length - 1)];
      if (next === undefined || next === current) return;
      byKeys.current = true;
      goTo(next);
    };
    return {
      "/": () => {
        setSheet(true);
        filter.current?.focus();
      },
      "?": () => keys.current?.showModal(),
      n: onNew,
      j: () => step(1),
      k: () => step(-1),
    };
  }, [current, onNew]);
  const onEscape = useCallback(() => {
    if (sheet) setSheet(false);
    else document.querySelector<HTMLButtonElement>("[data-stop]")?.click();
  }, [sheet]);
  useKeys(ALONE ? NO_KEYS : actions, onEscape);

  const error = refusalOf(connection);
  if (error) return <Refused error={error} join={join} onAgain={() => client.reconnect()} onCode={onCode} />;
  const openSheet = () => setSheet(true);
  const classes = ["shell", ALONE && "shell-alone", sheet && "sheet-open", status !== "live" && "away"];
  return (
    <div className={classes.filter(Boolean).join(" ")}>
      {!ALONE && (
        <>
          <ThreadList
            current={current}
            filter={filter}
            onNew={onNew}
            onChoose={() => setSheet(false)}
            onListed={onListed}
          >
            <MeMenu name={name} other={other} {...me} />
            <button type="button" className="quiet keys-button" onClick={() => keys.current?.showModal()}>
              {words.keys.open} <kbd>?</kbd>
            </button>
          </ThreadList>
          <button
            type="button"
            className="backdrop"
            aria-label={words.close}
            onClick={() => setSheet(false)}
          />
        </>
      )}
      {current === null ? (
        <NoThread onMenu={openSheet} />
      ) : (
        <ThreadPage
          key={current}
          id={current}
          made={made.has(current)}
          join={join}
          focus={!byKeys.current}
          onMenu={openSheet}
          onNewest={goToDoor}
          onSomeoneElse={me.onSomeoneElse}
        />
      )}
      <Keys dialog={keys} />
    </div>
  );
}

/** What single keys do moves about among threads. */
const NO_KEYS = {};

const ALL = { archived: false, limit: 200 };

/** Before it is known which thread to open. */
function NoThread({ onMenu }: { onMenu: () => void }) {
  return (
    <main className="thread">
      <PlainHeader onMenu={onMenu} />
      <Waiting />
    </main>
  );
}
