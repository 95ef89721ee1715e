import type { Clock } from "../../shared/clock.ts";
import type { Batch, CommitResult, Store } from "../store/store.ts";

/** A room as the committer sees it. */
export interface Committing {
  /** Ends gathering and gives the batch to commit; `null` when there is nothing to store. Never throws. */
  collect(): Promise<Batch | null>;
  /** Is told the result; `null` when there was no batch. */
  settle(result: CommitResult | null): void;
}

const RETRIES_MS = [50, 200, 1_000, 3_000];

/**
 * Gathers what all rooms have to commit in one turn of the event loop into one call of the store ([L3]).
 * A room takes part again only when its last batch is settled.
 */
export class CommitTurn {
  private readonly store: Store;
  private readonly clock: Clock;
  private waiting = new Set<Committing>();
  private scheduled = false;
  private running = 0;
  private idle: (() => void)[] = [];

  constructor(store: Store, clock: Clock) {
    this.store = store;
    this.clock = clock;
  }

  /** Asks for a commit at the end of this turn. */
  schedule(room: Committing): void {
    this.waiting.add(room);
    if (this.scheduled) return;
    this.scheduled = true;
    // After the poll phase: everything that arrived on sockets in this turn is in the rooms' inboxes by then.
    setImmediate(() => {
      this.scheduled = false;
      const rooms = [...this.waiting];
      this.waiting = new Set();
      void this.turn(rooms);
    });
  }

  /** Resolves when nothing is scheduled or under way. */
  async settled(): Promise<void> {
    while (this.scheduled || this.running > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private async turn(rooms: Committing[]): Promise<void> {
    this.running += 1;
    const batches = await Promise.all(rooms.map((room) => room.collect()));
    const given = batches.filter((batch) => batch !== null);
    const results = given.length > 0 ? await this.commit(given) : [];
    const byBatch = new Map(given.map((batch, i) => [batch, results[i] as CommitResult]));
    rooms.forEach((room, i) => {
      const batch = batches[i] ?? null;
      const result = batch && (byBatch.get(batch) as CommitResult);
      if (batch && result && !result.ok && result.code === "unknown") void this.find(room, batch);
      else room.settle(result);
    });
    this.running -= 1;
    const idle = this.idle;
    this.idle = [];
    for (const resolve of idle) resolve();
  }

  /** [L5] Commits a batch of unknown fate again, with the same mark and seqs, until the store can tell. */
  private async find(room: Committing, batch: Batch): Promise<void> {
    let result: CommitResult | undefined;
    for (const ms of RETRIES_MS) {
      await new Promise<void>((resolve) => this.clock.after(ms, resolve));
      [result] = await this.commit([batch]);
      if (!result || result.ok || result.code !== "unknown") break;
    }
    room.settle(result ?? null);
  }

  /** A store must not throw; of one that does all the same, nobody knows what it has written. */
  private async commit(batches: Batch[]): Promise<CommitResult[]> {
    try {
      return await this.store.commit(batches);
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      return batches.map(() => ({ ok: false, code: "unknown", error }));
    }
  }
}
