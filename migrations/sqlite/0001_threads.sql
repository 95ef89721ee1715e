-- Threads, their logs, the stored fold, inputs, acks and shared documents.
--
-- A thread is named by (tenant, thread), each up to 256 characters, and only the table `threads` holds those
-- names. Every other table hangs on the integer that stands for the pair: keys stay a few bytes instead of
-- hundreds, which is most of the size of a row of the log, and no statement can forget the tenant, because
-- the integer can only be had by looking the pair up.
--
-- Runs inside a transaction; the file's number becomes `PRAGMA user_version` in the same transaction.

-- "coth": lets a server tell its own file from another program's.
PRAGMA application_id = 0x636f7468;

-- Where a log stands is not repeated here but read from its last commit: one page less to write per commit.
-- `created_mark` is the mark of the batch that made the thread, and that of an empty log.
-- AUTOINCREMENT: an integer is never given twice, so rows of a removed thread cannot fall to a new one.
CREATE TABLE threads (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant       TEXT    NOT NULL,
  thread       TEXT    NOT NULL,
  epoch        TEXT    NOT NULL,
  created_mark TEXT    NOT NULL,
  generation   INTEGER NOT NULL DEFAULT 0,
  owner_epoch  INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  title        TEXT    NOT NULL DEFAULT '',
  archived     INTEGER NOT NULL DEFAULT 0,
  agent        TEXT,
  last_message TEXT    NOT NULL DEFAULT '',
  running      INTEGER NOT NULL DEFAULT 0,
  waiting      INTEGER NOT NULL DEFAULT 0,
  unfinished   INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, thread)
) STRICT;
CREATE INDEX threads_listed ON threads (tenant, archived, updated_at DESC, thread);
CREATE INDEX threads_unfinished ON threads (id) WHERE unfinished = 1;

-- The log: a row per commit, with the last seq it wrote, its mark, and its entries as one JSON text a line.
-- Long commits take several rows with one mark. The line of an entry is `seq` minus the lines behind it.
-- Measured: a row per entry, clustered by (thread, seq), takes 20 entries of 200 bytes at a quarter of the
-- speed, and every commit needs its mark anyway. In SQL: SELECT entries FROM commits WHERE thread = ? ORDER BY seq.
CREATE TABLE commits (
  id      INTEGER PRIMARY KEY,
  thread  INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  mark    TEXT    NOT NULL,
  entries TEXT    NOT NULL,
  UNIQUE (thread, seq)
) STRICT;

-- The stored fold: everything that is neither a message nor a turn, as of `seq`.
CREATE TABLE folds (
  thread INTEGER PRIMARY KEY,
  seq    INTEGER NOT NULL,
  rest   TEXT    NOT NULL
) STRICT;

-- Rowid tables where rows are long (messages, inputs, acks): in a clustered key, everything over a quarter
-- of a page would take an overflow page of its own.
CREATE TABLE fold_messages (
  thread INTEGER NOT NULL,
  id     TEXT    NOT NULL,
  place  REAL    NOT NULL,
  json   TEXT    NOT NULL,
  UNIQUE (thread, id)
) STRICT;
CREATE INDEX fold_messages_placed ON fold_messages (thread, place, id);

CREATE TABLE fold_turns (
  thread INTEGER NOT NULL,
  id     TEXT    NOT NULL,
  place  REAL    NOT NULL,
  json   TEXT    NOT NULL,
  PRIMARY KEY (thread, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE inputs (
  thread   INTEGER NOT NULL,
  input_id TEXT    NOT NULL,
  status   TEXT    NOT NULL,
  json     TEXT    NOT NULL,
  UNIQUE (thread, input_id)
) STRICT;
CREATE INDEX inputs_pending ON inputs (thread) WHERE status IN ('queued', 'running');

-- Answers to idempotent requests; `sweep` removes them by age.
CREATE TABLE acks (
  thread  INTEGER NOT NULL,
  user    TEXT    NOT NULL,
  ack_key TEXT    NOT NULL,
  hash    TEXT    NOT NULL,
  at      INTEGER NOT NULL,
  json    TEXT    NOT NULL,
  UNIQUE (thread, user, ack_key)
) STRICT;
CREATE INDEX acks_aged ON acks (at);

-- The shared document of a thread: the last full state and the updates behind it, in order.
CREATE TABLE doc_snapshots (
  thread     INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  bytes      BLOB    NOT NULL
) STRICT;

CREATE TABLE doc_updates (
  thread INTEGER NOT NULL,
  n      INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  bytes  BLOB    NOT NULL,
  PRIMARY KEY (thread, n)
) STRICT, WITHOUT ROWID;
