import type { Database } from "better-sqlite3";
import type { AgentRow, ChangeRow, StateWrite } from "./store.ts";

/** Writes what a batch does to the shared document; throws what SQLite throws. */
export function stateWriter(db: Database): (thread: number, seq: number, state: StateWrite) => void {
  const addUpdate = db.prepare<[number, number, number, Uint8Array]>(
    `INSERT INTO doc_updates (thread, n, seq, bytes)
     VALUES (?, (SELECT coalesce(max(n), 0) + 1 FROM doc_updates WHERE thread = ?), ?, ?)`,
  );
  const dropUpdates = db.prepare<[number]>("DELETE FROM doc_updates WHERE thread = ?");
  const putWhole = db.prepare<[number, number, number, Uint8Array]>(
    `INSERT INTO doc_snapshots (thread, generation, seq, bytes)
     VALUES (?, (SELECT generation FROM threads WHERE id = ?), ?, ?)
     ON CONFLICT (thread)
     DO UPDATE SET generation = excluded.generation, seq = excluded.seq, bytes = excluded.bytes`,
  );
  const beOf = db.prepare<[number, number]>("UPDATE threads SET generation = ? WHERE id = ?");
  const addChange = db.prepare<[number, number, string | null, string]>(
    "INSERT INTO state_changes (thread, seq, run, json) VALUES (?, ?, ?, ?)",
  );
  const putAgent = db.prepare<[number, string, string]>(
    `INSERT INTO agent_memories (thread, agent, json) VALUES (?, ?, ?)
     ON CONFLICT (thread, agent) DO UPDATE SET json = excluded.json`,
  );

  return (thread, seq, { updates, whole, generation, changes, agents }) => {
    if (generation !== undefined) beOf.run(generation, thread);
    if (whole) {
      dropUpdates.run(thread);
      putWhole.run(thread, thread, seq, whole);
    } else for (const update of updates) addUpdate.run(thread, thread, seq, update);
    for (const { seq: of, run, json } of changes) addChange.run(thread, of, run, json);
    for (const { agent, json } of agents) putAgent.run(thread, agent, json);
  };
}

/** Reads what belongs to the shared document of a thread. */
export function stateReader(db: Database) {
  const whole = db.prepare<[number], Uint8Array>("SELECT bytes FROM doc_snapshots WHERE thread = ?").pluck();
  const updates = db
    .prepare<[number], Uint8Array>("SELECT bytes FROM doc_updates WHERE thread = ? ORDER BY n")
    .pluck();
  const agents = db.prepare<[number], AgentRow>(
    "SELECT agent, json FROM agent_memories WHERE thread = ? ORDER BY agent",
  );
  const changes = db.prepare<[number, number, string], ChangeRow>(
    `SELECT seq, run, json FROM state_changes WHERE thread = ?
     AND seq >= (SELECT min(seq) FROM state_changes WHERE thread = ? AND run = ?) ORDER BY seq`,
  );
  const after = db.prepare<[number, number], ChangeRow>(
    "SELECT seq, run, json FROM state_changes WHERE thread = ? AND seq > ? ORDER BY seq",
  );
  return {
    doc: (thread: number): Uint8Array[] => {
      const stored = whole.get(thread);
      return [...(stored ? [stored] : []), ...updates.all(thread)];
    },
    agents: (thread: number): AgentRow[] => agents.all(thread),
    changes: (thread: number, run: string): ChangeRow[] => changes.all(thread, thread, run),
    changesAfter: (thread: number, seq: number): ChangeRow[] => after.all(thread, seq),
  };
}
