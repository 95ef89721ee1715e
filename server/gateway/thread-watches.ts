import type { Clock } from "../../shared/clock.ts";
import type { ThreadQuery } from "../../shared/protocol/index.ts";
import { Rejection, type RoomsPort } from "../room/port.ts";

/** Who watches a thread list. */
export interface Watcher {
  /** Whether it does not read what it is sent. */
  readonly slow: boolean;
  sendText(frame: string): void;
}

/** Thread id → its item as text. */
type Items = ReadonlyMap<string, string>;

type Watch = {
  id: string;
  tenant: string;
  query: ThreadQuery;
  /** What the watcher has. */
  known: Items;
};

const EVERY_MS = 500;

/**
 * Live thread lists ([W3]): the first frame has all items, later ones what changed, at most two a second.
 * Equal queries are asked once for all who watch them.
 */
export class ThreadWatches {
  private readonly rooms: RoomsPort;
  private readonly clock: Clock;
  private readonly limit: number;
  private readonly byWatcher = new Map<Watcher, Map<string, Watch>>();
  private readonly stale = new Set<string>();
  private readonly stop: () => void;
  private cancel: (() => void) | null = null;
  private refreshing = false;

  /** @param limit lists one watcher may have */
  constructor(rooms: RoomsPort, clock: Clock, limit: number) {
    this.rooms = rooms;
    this.clock = clock;
    this.limit = limit;
    this.stop = rooms.onThreadChange(({ tenant }) => {
      this.stale.add(tenant);
      this.refreshSoon();
    });
  }

  /** Begins or replaces a list; its first frame is sent before this resolves. @throws Rejection quota */
  async add(watcher: Watcher, tenant: string, id: string, query: ThreadQuery): Promise<void> {
    const watches = this.byWatcher.get(watcher) ?? new Map<string, Watch>();
    if (!watches.has(id) && watches.size >= this.limit)
      throw new Rejection("quota", `A connection may watch ${this.limit} thread lists. End one first.`);
    const watch: Watch = { id, tenant, query, known: new Map() };
    this.byWatcher.set(watcher, watches.set(id, watch));
    try {
      this.tell(watcher, watch, await this.ask(tenant, query), true);
    } catch (error) {
      if (watches.get(id) === watch) watches.delete(id);
      throw error;
    }
  }

  remove(watcher: Watcher, id: string): void {
    this.byWatcher.get(watcher)?.delete(id);
  }

  removeAll(watcher: Watcher): void {
    this.byWatcher.delete(watcher);
  }

  close(): void {
    this.stop();
    this.cancel?.();
  }

  private refreshSoon(): void {
    if (this.refreshing) return;
    this.cancel ??= this.clock.after(EVERY_MS, () => {
      this.cancel = null;
      this.refreshing = true;
      void this.refresh().finally(() => {
        this.refreshing = false;
        if (this.stale.size > 0) this.refreshSoon();
      });
    });
  }

  private async refresh(): Promise<void> {
    const tenants = new Set(this.stale);
    this.stale.clear();
    const asked = new Map<string, Promise<Items>>();
    for (const [watcher, watches] of this.byWatcher) {
      for (const watch of watches.values()) {
        const { tenant, query } = watch;
        if (!tenants.has(tenant)) continue;
        const question = JSON.stringify([tenant, query]);
        let answer = asked.get(question);
        if (!answer) {
          answer = this.ask(tenant, query);
          asked.set(question, answer);
        }
        try {
          this.tell(watcher, watch, await answer, false);
        } catch {
          // The list cannot be read now; the next moment tries again.
          this.stale.add(tenant);
        }
      }
    }
  }

  /** Encodes each item once, however many watch it. */
  private async ask(tenant: string, query: ThreadQuery): Promise<Items> {
    const threads = await this.rooms.threads({ tenant, query });
    return new Map(threads.map((thread) => [thread.id, JSON.stringify(thread)]));
  }

  private tell(watcher: Watcher, watch: Watch, now: Items, first: boolean): void {
    if (this.byWatcher.get(watcher)?.get(watch.id) !== watch) return;
    if (watcher.slow && !first) {
      // It is told what has changed when it reads again.
      this.stale.add(watch.tenant);
      return;
    }
    const { known } = watch;
    const items = [...now].filter(([id, json]) => known.get(id) !== json).map(([, json]) => json);
    const removed = [...known.keys()].filter((id) => !now.has(id));
    watch.known = now;
    if (!first && items.length + removed.length === 0) return;
    const head = JSON.stringify({ type: "threads", watch: watch.id, removed }).slice(0, -1);
    watcher.sendText(`${head},"items":[${items.join(",")}]}`);
  }
}
