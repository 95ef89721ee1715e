-- What changed the shared state, beside the log: what takes each change back, and what is known of the agents.
CREATE TABLE state_changes (
  thread INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  run    TEXT,
  json   TEXT    NOT NULL,
  PRIMARY KEY (thread, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX state_changes_of_run ON state_changes (thread, run, seq) WHERE run IS NOT NULL;

-- The state each agent last emitted, and its private parts.
CREATE TABLE agent_memories (
  thread INTEGER NOT NULL,
  agent  TEXT    NOT NULL,
  json   TEXT    NOT NULL,
  PRIMARY KEY (thread, agent)
) STRICT, WITHOUT ROWID;
