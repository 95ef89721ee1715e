import type { Database } from "better-sqlite3";
import type { Entry } from "../../shared/protocol/index.ts";
import { matches } from "./matches.ts";
import { parseEntry } from "./parse-entry.ts";
import { stateReader } from "./sqlite-state.ts";
import {
  ACK_KEPT_MS,
  type AckRow,
  type ChangeRow,
  type FoldMessage,
  type FoldTurn,
  type InputRow,
  type Loaded,
  type ReadRow,
  type ThreadKey,
  type ThreadRow,
  type ThreadsQuery,
} from "./store.ts";

type ThreadHead = Omit<Loaded, "seq" | "fold" | "inputs" | "doc" | "agents" | "reads"> & { id: number };
type ListedRow = Omit<ThreadRow, "archived" | "running" | "waiting"> &
  Record<"archived" | "running" | "waiting", 0 | 1>;
type ListFilter = { tenant: string; archived: 0 | 1 | null; text: string | null; ids: string; limit: number };

const LISTED = `SELECT thread AS id, title, archived, agent, created_at AS createdAt,
  updated_at AS updatedAt, last_message AS lastMessage, running, waiting FROM threads`;
const FOUND = "(@text IS NULL OR thread_matches(@text, title, last_message))";
const NEWEST = "ORDER BY updated_at DESC, thread LIMIT @limit";

/** The reading side of the SQLite store, on prepared statements; the methods throw what SQLite throws. */
export function sqliteReads(db: Database) {
  db.function("thread_matches", { deterministic: true }, (text: string, title: string, last: string) =>
    Number(matches(text, title, last)),
  );
  const find = db.prepare<[string, string], ThreadHead>(
    `SELECT id, epoch, generation, owner_epoch AS ownerEpoch, created_at AS createdAt, created_mark AS mark
     FROM threads WHERE tenant = ? AND thread = ?`,
  );
  const lastCommit = db.prepare<[number], { seq: number; mark: string }>(
    "SELECT seq, mark FROM commits WHERE thread = ? ORDER BY seq DESC LIMIT 1",
  );
  const rowsBehind = db.prepare<[number, number], { seq: number; entries: string }>(
    "SELECT seq, entries FROM commits WHERE thread = ? AND seq > ? ORDER BY seq",
  );
  const markOf = db.prepare<[number, number], { mark: string }>(
    "SELECT mark FROM commits WHERE thread = ? AND seq >= ? ORDER BY seq LIMIT 1",
  );
  const foldHead = db.prepare<[number], { seq: number; rest: string }>(
    "SELECT seq, rest FROM folds WHERE thread = ?",
  );
  const foldMessages = db.prepare<[number], FoldMessage>(
    "SELECT id, place, json FROM fold_messages WHERE thread = ? ORDER BY place, id",
  );
  const foldTurns = db.prepare<[number], FoldTurn>(
    "SELECT id, place, json FROM fold_turns WHERE thread = ? ORDER BY place, id",
  );
  const pending = db.prepare<[number], InputRow>(
    `SELECT input_id AS inputId, status, json FROM inputs
     WHERE thread = ? AND status IN ('queued', 'running') ORDER BY rowid`,
  );
  const inputById = db.prepare<[number, string], InputRow>(
    "SELECT input_id AS inputId, status, json FROM inputs WHERE thread = ? AND input_id = ?",
  );
  const ackOf = db.prepare<[number, string, string, number], AckRow>(
    `SELECT user, ack_key AS key, hash, at, json FROM acks
     WHERE thread = ? AND user = ? AND ack_key = ? AND at >= ?`,
  );
  const placeOf = db.prepare<[number, string], { place: number }>(
    "SELECT place FROM fold_messages WHERE thread = ? AND id = ?",
  );
  const messagesBefore = db.prepare<[number, number, string, number], FoldMessage>(
    `SELECT id, place, json FROM fold_messages WHERE thread = ? AND (place, id) < (?, ?)
     ORDER BY place DESC, id DESC LIMIT ?`,
  );
  // Two statements: with the ids, another index serves.
  const listed = db.prepare<[ListFilter], ListedRow>(
    `${LISTED} WHERE tenant = @tenant AND archived = @archived AND ${FOUND} ${NEWEST}`,
  );
  const listedByIds = db.prepare<[ListFilter], ListedRow>(
    `${LISTED} WHERE tenant = @tenant AND thread IN (SELECT value FROM json_each(@ids))
     AND (@archived IS NULL OR archived = @archived) AND ${FOUND} ${NEWEST}`,
  );
  const marks = db.prepare<[number], ReadRow>(
    "SELECT user, seq, heard FROM reads WHERE thread = ? ORDER BY user",
  );
  const unread = db.prepare<[string, string, string], { id: string; count: number }>(
    `SELECT threads.thread AS id, said - heard AS count
     FROM threads JOIN reads ON reads.thread = threads.id AND reads.user = ?
     WHERE tenant = ? AND threads.thread IN (SELECT value FROM json_each(?)) AND said > heard`,
  );
  const unfinished = db.prepare<[], ThreadKey>(
    "SELECT tenant, thread FROM threads WHERE unfinished = 1 ORDER BY id",
  );
  const documents = db.prepare<[], ThreadKey>(
    `SELECT tenant, thread FROM threads
     WHERE EXISTS (SELECT 1 FROM doc_snapshots WHERE doc_snapshots.thread = threads.id)
       OR EXISTS (SELECT 1 FROM doc_updates WHERE doc_updates.thread = threads.id)
     ORDER BY tenant, thread`,
  );

  const state = stateReader(db);

  const head = (key: ThreadKey): ThreadHead | undefined => find.get(key.tenant, key.thread);

  return {
    read(key: ThreadKey, after: number, limit: number): Entry[] {
      const found: Entry[] = [];
      const thread = head(key);
      const most = atMost(limit);
      if (!thread || most === 0) return found;
      // Ends within this call, so that no statement stays open.
      for (const row of rowsBehind.iterate(thread.id, after)) {
        const lines = row.entries.split("\n");
        const first = row.seq - lines.length + 1;
        for (const [i, json] of lines.entries()) {
          if (first + i > after && found.length < most) found.push(parseEntry({ seq: first + i, json }));
        }
        if (found.length === most) break;
      }
      return found;
    },

    load(key: ThreadKey): Loaded | null {
      const thread = head(key);
      if (!thread) return null;
      const { id, mark, ...stand } = thread;
      const fold = foldHead.get(id);
      return {
        ...stand,
        ...(lastCommit.get(id) ?? { seq: 0, mark }),
        fold: fold ? { ...fold, messages: foldMessages.all(id), turns: foldTurns.all(id) } : null,
        inputs: pending.all(id),
        doc: state.doc(id),
        agents: state.agents(id),
        reads: marks.all(id),
      };
    },

    mark(key: ThreadKey, seq: number): string | null {
      const thread = head(key);
      if (!thread || !Number.isInteger(seq) || seq < 1) return null;
      return markOf.get(thread.id, seq)?.mark ?? null;
    },

    ack(key: ThreadKey, user: string, ackKey: string, now: number): AckRow | null {
      const thread = head(key);
      return (thread && ackOf.get(thread.id, user, ackKey, now - ACK_KEPT_MS)) ?? null;
    },

    input(key: ThreadKey, inputId: string): InputRow | null {
      const thread = head(key);
      return (thread && inputById.get(thread.id, inputId)) ?? null;
    },

    messages(key: ThreadKey, before: string, limit: number): FoldMessage[] {
      const thread = head(key);
      const end = thread && placeOf.get(thread.id, before);
      return end ? messagesBefore.all(thread.id, end.place, before, atMost(limit)).reverse() : [];
    },

    changes(key: ThreadKey, run: string): ChangeRow[] {
      const thread = head(key);
      return thread ? state.changes(thread.id, run) : [];
    },

    changesAfter(key: ThreadKey, seq: number): ChangeRow[] {
      const thread = head(key);
      return thread ? state.changesAfter(thread.id, seq) : [];
    },

    threads({ tenant, archived, text, limit, ids }: ThreadsQuery): ThreadRow[] {
      const most = atMost(limit);
      const filter = { tenant, text: text ?? null, ids: JSON.stringify(ids ?? []), limit: most };
      const list = (value: boolean) => listed.all({ ...filter, archived: value ? 1 : 0 });
      const rows = ids
        ? listedByIds.all({ ...filter, archived: archived === undefined ? null : archived ? 1 : 0 })
        : archived === undefined
          ? [...list(false), ...list(true)].sort(newestFirst).slice(0, most)
          : list(archived);
      return rows.map((row) => ({
        ...row,
        archived: row.archived === 1,
        running: row.running === 1,
        waiting: row.waiting === 1,
      }));
    },

    unread(tenant: string, user: string, threads: readonly string[]): Map<string, number> {
      const found = unread.all(user, tenant, JSON.stringify(threads));
      return new Map(found.map(({ id, count }) => [id, count]));
    },

    unfinished: (): ThreadKey[] => unfinished.all(),
    documents: (): ThreadKey[] => documents.all(),
  };
}

/** SQLite takes a negative limit for "all". */
function atMost(limit: number): number {
  return Number.isNaN(limit) ? 0 : Math.max(0, Math.min(Math.floor(limit), 0x7fffffff));
}

function newestFirst(a: ListedRow, b: ListedRow): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1);
}
