import * as Y from "yjs";
import type { TextPaths } from "../../shared/json-crdt/text-paths.ts";
import type { Json } from "../../shared/protocol/index.ts";
import type { ChangeRow, Loaded, StateWrite } from "../store/store.ts";
import type { AgentMemory } from "./agent-view.ts";
import { SdkLane } from "./sdk-lane.ts";
import { SharedState } from "./shared-state.ts";
import type { StateChangeRow } from "./state-changes.ts";

/** Updates stored one by one before the whole document takes their place, bytes. */
const UPDATES_AT_LEAST = 64 * 1024;

/**
 * The shared state of a room, with what has to be stored of it. It is made when it is first needed: a thread in
 * which nobody runs or changes anything keeps no document in memory.
 */
export class StoredState {
  /** What the SDK is sent of the changes logged since this was made. */
  readonly lane = new SdkLane();
  private made: SharedState | null = null;
  private readonly make: () => SharedState;
  /** Bytes of the updates that lie behind the stored document. */
  private behind = 0;
  private whole = 0;

  /**
   * @param loaded what is stored; `null` for a new thread
   * @param state what the log says the state is
   */
  constructor(texts: TextPaths, loaded: Loaded | null, state: () => Json) {
    const { doc = [], agents = [], generation = 0, seq = 0 } = loaded ?? {};
    this.make = () => {
      const memories = agents.map(({ agent, json }) => [agent, JSON.parse(json) as AgentMemory] as const);
      const stored = doc.length > 0 ? Y.mergeUpdates(doc) : null;
      return new SharedState(texts, generation, stored, state, memories, seq);
    };
    this.whole = doc[0]?.byteLength ?? 0;
    this.behind = doc.slice(1).reduce((sum, update) => sum + update.byteLength, 0);
  }

  get shared(): SharedState {
    this.made ??= this.make();
    return this.made;
  }

  /**
   * What is to be stored with the next commit; `null` when nothing is. `by`: the peer that all of its updates are of.
   * @param foldDue the stored fold is written too: a good time for what may be large
   */
  take(foldDue: boolean): (StateWrite & { by: string | null }) | null {
    if (!this.made) return null;
    const { updates, by, rows, memories } = this.made.take(foldDue);
    if (updates.length + rows.length + memories.length === 0) return null;
    this.behind += updates.reduce((sum, update) => sum + update.byteLength, 0);
    const isWorthIt = foldDue && this.behind > Math.max(UPDATES_AT_LEAST, this.whole);
    const whole = isWorthIt ? this.shared.document.encode() : undefined;
    if (whole) [this.whole, this.behind] = [whole.byteLength, 0];
    return {
      updates,
      by,
      ...(whole && { whole }),
      changes: rows.map(({ seq, run, ...rest }) => ({ seq, run, json: JSON.stringify(rest) })),
      agents: memories.map(([agent, memory]) => ({ agent, json: JSON.stringify(memory) })),
    };
  }
}

/** Reads what {@link StoredState.take} has written. */
export function changeOf({ seq, run, json }: ChangeRow): StateChangeRow {
  return { seq, run, ...(JSON.parse(json) as Omit<StateChangeRow, "seq" | "run">) };
}
