import type { Database, Statement } from "better-sqlite3";
import { explainSqlite, sqliteCode } from "./sqlite-error.ts";
import { stateWriter } from "./sqlite-state.ts";
import type { Batch, CommitResult, EncodedEntry, FoldChange, ThreadChange } from "./store.ts";
import { judge, type Standing } from "./verdict.ts";

/** A page of entries is read by whole rows: one commit that imports a long history must not be one row. */
const ROW_CHARACTERS = 64 * 1024;

type Found = Standing & { id: number };

/**
 * The writing side of the SQLite store, on prepared statements. The returned function commits the batches of
 * one `Store.commit` call in one transaction, each behind a savepoint of its own, and never throws.
 */
export function sqliteCommit(db: Database): (batches: Batch[]) => CommitResult[] {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const save = db.prepare("SAVEPOINT batch");
  const release = db.prepare("RELEASE batch");
  const undo = db.prepare("ROLLBACK TO batch");
  const end = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");
  const find = db.prepare<[string, string], Found>(
    `SELECT id, owner_epoch AS ownerEpoch, created_mark AS createdMark, generation,
       (SELECT coalesce(max(seq), 0) FROM commits WHERE commits.thread = threads.id) AS seq
     FROM threads WHERE tenant = ? AND thread = ?`,
  );
  const lastRow = db.prepare<[number, number], { mark: string }>(
    "SELECT mark FROM commits WHERE thread = ? AND seq = ?",
  );
  const nextRow = db.prepare<[number, number], { mark: string }>(
    "SELECT mark FROM commits WHERE thread = ? AND seq > ? ORDER BY seq LIMIT 1",
  );
  const write = batchWriter(db);

  /** A row that the next one continues is not the end of its commit. */
  function endsAt(id: number, seq: number): string | undefined {
    const mark = lastRow.get(id, seq)?.mark;
    return mark === nextRow.get(id, seq)?.mark ? undefined : mark;
  }

  function one(batch: Batch): CommitResult {
    const found = find.get(batch.key.tenant, batch.key.thread);
    const verdict = judge(batch, found, (seq) => endsAt(found!.id, seq));
    if (typeof verdict === "object") return verdict.answer;
    save.run();
    try {
      write(batch, found);
      release.run();
    } catch (error) {
      if (db.inTransaction) undoBatch();
      throw error;
    }
    return { ok: true, duplicate: false };
  }

  /** Nothing of a failed batch may stay: what cannot be undone alone takes the transaction with it. */
  function undoBatch(): void {
    try {
      undo.run();
      release.run();
    } catch {
      if (db.inTransaction) rollback.run();
    }
  }

  /** One attempt at a transaction; -1, or the index of the batch that cost all the others their place. */
  function attempt(batches: Batch[], results: CommitResult[], out: ReadonlySet<number>): number {
    begin.run();
    for (const [i, batch] of batches.entries()) {
      if (out.has(i)) continue;
      try {
        results[i] = one(batch);
      } catch (error) {
        results[i] = { ok: false, code: "failed", error: explainSqlite(error) };
        if (!db.inTransaction) return i;
      }
    }
    try {
      end.run();
    } catch (error) {
      // Only a disk that failed while the last page was written leaves open whether a restart will see it.
      const code = sqliteCode(error).startsWith("SQLITE_IOERR") ? "unknown" : "failed";
      failAll(code, error, batches, results, out);
    }
    return -1;
  }

  function failAll(
    code: "failed" | "unknown",
    cause: unknown,
    batches: Batch[],
    results: CommitResult[],
    out: ReadonlySet<number>,
  ): void {
    if (db.inTransaction) rollback.run();
    const error = explainSqlite(cause);
    for (const i of batches.keys()) if (!out.has(i)) results[i] = { ok: false, code, error };
  }

  return (batches) => {
    const results: CommitResult[] = [];
    const out = new Set<number>();
    try {
      // A full disk makes SQLite roll the whole transaction back, not only the statement: the others go
      // again without the batch that did it.
      for (let lost = 0; lost >= 0 && out.size < batches.length; ) {
        lost = attempt(batches, results, out);
        if (lost >= 0) out.add(lost);
      }
    } catch (error) {
      failAll("failed", error, batches, results, out);
    }
    return results;
  };
}

/** Writes all of a batch that was judged good; throws what SQLite throws. */
function batchWriter(db: Database): (batch: Batch, found: Found | undefined) => void {
  const create = db.prepare<[string, string, string, string, number, number, number]>(
    `INSERT INTO threads (tenant, thread, epoch, created_mark, owner_epoch, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const own = db.prepare<[number, number]>("UPDATE threads SET owner_epoch = ? WHERE id = ?");
  const addRow = db.prepare<[number, number, string, string]>(
    "INSERT INTO commits (thread, seq, mark, entries) VALUES (?, ?, ?, ?)",
  );
  const putInput = db.prepare<[number, string, string, string]>(
    `INSERT INTO inputs (thread, input_id, status, json) VALUES (?, ?, ?, ?)
     ON CONFLICT (thread, input_id) DO UPDATE SET status = excluded.status, json = excluded.json`,
  );
  const putAck = db.prepare<[number, string, string, string, number, string]>(
    `INSERT INTO acks (thread, user, ack_key, hash, at, json) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (thread, user, ack_key)
     DO UPDATE SET hash = excluded.hash, at = excluded.at, json = excluded.json`,
  );
  const putRead = db.prepare<[number, string, number, number]>(
    `INSERT INTO reads (thread, user, seq, heard) VALUES (?, ?, ?, ?)
     ON CONFLICT (thread, user) DO UPDATE SET seq = excluded.seq, heard = excluded.heard
     WHERE excluded.seq >= reads.seq`,
  );
  const putFold = foldWriter(db);
  const putState = stateWriter(db);
  const putInfo = infoWriter(db);

  return (batch, found) => {
    const { mark, ownerEpoch, entries } = batch;
    const id = found?.id ?? createThread(batch);
    if (found && ownerEpoch > found.ownerEpoch) own.run(ownerEpoch, id);
    addEntries(id, mark, entries);
    if (batch.fold) putFold(id, batch.fold);
    for (const { inputId, status, json } of batch.inputs ?? []) putInput.run(id, inputId, status, json);
    for (const ack of batch.acks ?? []) putAck.run(id, ack.user, ack.key, ack.hash, ack.at, ack.json);
    for (const { user, seq, heard } of batch.reads ?? []) putRead.run(id, user, seq, heard);
    if (batch.info) putInfo(id, batch.info);
    if (batch.state) putState(id, (batch.entries.at(-1)?.seq ?? batch.after) as number, batch.state);
  };

  function addEntries(id: number, mark: string, entries: EncodedEntry[]): void {
    let row: string[] = [];
    let size = 0;
    for (const [i, { seq, json }] of entries.entries()) {
      row.push(json);
      size += json.length;
      if (size < ROW_CHARACTERS && i < entries.length - 1) continue;
      addRow.run(id, seq, mark, row.join("\n"));
      row = [];
      size = 0;
    }
  }

  function createThread({ key, create: made, mark, ownerEpoch }: Batch): number {
    const { epoch, at } = made!;
    return Number(create.run(key.tenant, key.thread, epoch, mark, ownerEpoch, at, at).lastInsertRowid);
  }
}

function foldWriter(db: Database): (id: number, fold: FoldChange) => void {
  const putHead = db.prepare<[number, number, string]>(
    `INSERT INTO folds (thread, seq, rest) VALUES (?, ?, ?)
     ON CONFLICT (thread) DO UPDATE SET seq = excluded.seq, rest = excluded.rest`,
  );
  // A message that is being streamed is written again and again at its place; this leaves its indexes alone.
  const changeMessage = db.prepare<[string, number, string, number]>(
    "UPDATE fold_messages SET json = ? WHERE thread = ? AND id = ? AND place = ?",
  );
  const putMessage = db.prepare<[number, string, number, string]>(
    `INSERT INTO fold_messages (thread, id, place, json) VALUES (?, ?, ?, ?)
     ON CONFLICT (thread, id) DO UPDATE SET place = excluded.place, json = excluded.json`,
  );
  const putTurn = db.prepare<[number, string, number, string]>(
    `INSERT INTO fold_turns (thread, id, place, json) VALUES (?, ?, ?, ?)
     ON CONFLICT (thread, id) DO UPDATE SET place = excluded.place, json = excluded.json`,
  );
  const dropMessage = db.prepare<[number, string]>("DELETE FROM fold_messages WHERE thread = ? AND id = ?");

  return (id, fold) => {
    putHead.run(id, fold.seq, fold.rest);
    for (const dropped of fold.dropped) dropMessage.run(id, dropped);
    for (const message of fold.messages) {
      const { changes } = changeMessage.run(message.json, id, message.id, message.place);
      if (changes === 0) putMessage.run(id, message.id, message.place, message.json);
    }
    for (const turn of fold.turns) putTurn.run(id, turn.id, turn.place, turn.json);
  };
}

/** The columns of `threads` behind the fields of `ThreadChange`. */
const COLUMNS: Record<keyof ThreadChange, string> = {
  title: "title",
  archived: "archived",
  agent: "agent",
  updatedAt: "updated_at",
  lastMessage: "last_message",
  running: "running",
  waiting: "waiting",
  said: "said",
  unfinished: "unfinished",
};

/** One statement for each set of fields that occurs, so that columns that stay do not touch their indexes. */
function infoWriter(db: Database): (id: number, info: ThreadChange) => void {
  const fields = Object.keys(COLUMNS) as (keyof ThreadChange)[];
  const statements = new Map<string, Statement>();

  return (id, info) => {
    const given = fields.filter((field) => info[field] !== undefined);
    if (given.length === 0) return;
    const sets = given.map((field) => `${COLUMNS[field]} = ?`).join(", ");
    let statement = statements.get(sets);
    if (!statement) {
      statement = db.prepare(`UPDATE threads SET ${sets} WHERE id = ?`);
      statements.set(sets, statement);
    }
    const values = given.map((field) => info[field]);
    statement.run(...values.map((value) => (typeof value === "boolean" ? Number(value) : value)), id);
  };
}
