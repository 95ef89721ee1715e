-- How far people have read: what is unread in a thread is its messages, `said`, less those that somebody has heard.
-- Both are counted when the thread changes, so that a list of threads costs a row for each and never looks at a log.
ALTER TABLE threads ADD COLUMN said INTEGER NOT NULL DEFAULT 0;

CREATE TABLE reads (
  thread INTEGER NOT NULL,
  user   TEXT    NOT NULL,
  seq    INTEGER NOT NULL,
  heard  INTEGER NOT NULL,
  PRIMARY KEY (thread, user)
) STRICT, WITHOUT ROWID;
