import type { Clock } from "../../shared/clock.ts";
import type { AckRow, Store, ThreadKey } from "../store/store.ts";

/** How many acks a room remembers by itself; older ones are read from the store. */
const KEPT = 2_000;

/** The answers a room has given to changing requests ([D1]), the newest in memory. */
export class AckMemory {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly key: ThreadKey;
  private readonly rows = new Map<string, AckRow>();

  constructor(store: Store, clock: Clock, key: ThreadKey) {
    this.store = store;
    this.clock = clock;
    this.key = key;
  }

  /** Makes sure that an earlier answer is in memory. @param ackKey request type and key */
  async find(user: string, ackKey: string): Promise<void> {
    if (this.rows.has(idOf(user, ackKey))) return;
    const row = await this.store.ack(this.key, user, ackKey, this.clock.now());
    if (row) this.keep(row);
  }

  /** The answer {@link find} found, or that was given since. */
  get(user: string, ackKey: string): AckRow | undefined {
    return this.rows.get(idOf(user, ackKey));
  }

  keep(row: AckRow): void {
    this.rows.set(idOf(row.user, row.key), row);
    if (this.rows.size > KEPT) this.rows.delete(this.rows.keys().next().value as string);
  }

  /** Forgets all; the store has those that count. */
  clear(): void {
    this.rows.clear();
  }
}

function idOf(user: string, ackKey: string): string {
  return `${user}\n${ackKey}`;
}
