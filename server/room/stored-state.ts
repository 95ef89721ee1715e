import * as Y from "yjs";
import { byteSize } from "../../shared/byte-size.ts";
import type { TextPaths } from "../../shared/json-crdt/text-paths.ts";
import type { Json } from "../../shared/protocol/index.ts";
import type { ChangeRow, Loaded, StateWrite } from "../store/store.ts";
import type { AgentMemory } from "./agent-view.ts";
import { DOCUMENT_LIMITS, type DocumentLimits } from "./document-limits.ts";
import { DocumentSize } from "./document-size.ts";
import { SdkLane } from "./sdk-lane.ts";
import { SharedState } from "./shared-state.ts";
import type { StateChangeRow } from "./state-changes.ts";
import type { UpdateVerdict } from "./update-check.ts";

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
  private readonly size: DocumentSize;
  private readonly limits: DocumentLimits;

  /**
   * @param loaded what is stored; `null` for a new thread
   * @param state what the log says the state is
   * @param limits of the document, where they differ from the defaults
   */
  constructor(
    texts: TextPaths,
    loaded: Loaded | null,
    state: () => Json,
    limits: Partial<DocumentLimits> = {},
  ) {
    this.limits = { ...DOCUMENT_LIMITS, ...limits };
    const { doc = [], agents = [], generation = 0, seq = 0 } = loaded ?? {};
    this.make = () => {
      const memories = agents.map(({ agent, json }) => [agent, JSON.parse(json) as AgentMemory] as const);
      const stored = doc.length > 0 ? Y.mergeUpdates(doc) : null;
      return new SharedState(texts, generation, stored, state, memories, seq);
    };
    this.whole = doc[0]?.byteLength ?? 0;
    this.behind = doc.slice(1).reduce((sum, update) => sum + update.byteLength, 0);
    const measure = () => this.shared.document.encode().byteLength;
    this.size = new DocumentSize(this.whole + this.behind, measure);
  }

  /** Whether an update of a Yjs peer may be merged ([Y6], [Y9]). */
  check(update: Uint8Array): UpdateVerdict {
    const { bytes, draft } = this.limits;
    const verdict = this.shared.check(update, draft);
    if (verdict.ok && verdict.deletes) this.size.shrink();
    // What only deletes makes room.
    if (!verdict.ok || verdict.ids.length === 0 || this.size.admits(update.byteLength, bytes)) return verdict;
    const reason = `The document would have more than ${byteSize(bytes)} with this. Take out what nobody needs any more, and try again.`;
    return { ok: false, kind: "too_big", reason };
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
    const bytes = updates.reduce((sum, update) => sum + update.byteLength, 0);
    this.behind += bytes;
    this.size.grow(bytes);
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
