import type { Clock } from "../../shared/clock.ts";
import type { ThreadQuery } from "../../shared/protocol/index.ts";
import { type Caller, Rejection, type RoomsPort } from "../room/port.ts";

/** Who watches a thread list. */
export interface Watcher {
  /** Whether it does not read what it is sent. */
  readonly slow: boolean;
  sendText(frame: string): void;
}

/** Thread id → its item as text, as everybody's list has it: all but `unread`, and the last brace. */
type Items = ReadonlyMap<string, string>;
/** Thread id → its item in somebody's list. */
type OwnItems = ReadonlyMap<string, { item: string; unread: number }>;

type Watch = {
  id: string;
  tenant: string;
  /** Whose list it is. */
  user: string;
  query: ThreadQuery;
  /** What the watcher has. */
  known: OwnItems;
};

const EVERY_MS = 500;

/**
 * Live thread lists ([W3]): the first frame has all items, later ones what changed, at most two a second.
 * Equal queries are asked once for all who watch them, and what somebody has not read ([W4]) only of threads in
 * which something has happened.
 */
export class ThreadWatches {
  private readonly rooms: RoomsPort;
  private readonly clock: Clock;
  private readonly limit: number;
  private readonly byWatcher = new Map<Watcher, Map<string, Watch>>();
  /** Tenant → its threads in which something has happened since they were asked for. */
  private stale = new Map<string, Set<string>>();
  private readonly stop: () => void;
  private cancel: (() => void) | null = null;
  private refreshing = false;

  /** @param limit lists one watcher may have */
  constructor(rooms: RoomsPort, clock: Clock, limit: number) {
    this.rooms = rooms;
    this.clock = clock;
    this.limit = limit;
    this.stop = rooms.onThreadChange(({ tenant, thread }) => {
      this.again(tenant, [thread]);
      this.refreshSoon();
    });
  }

  /** Begins or replaces a list; its first frame is sent before this resolves. @throws Rejection quota */
  async add(
    watcher: Watcher,
    { tenant, user }: Pick<Caller, "tenant" | "user">,
    id: string,
    query: ThreadQuery,
  ): Promise<void> {
    const watches = this.byWatcher.get(watcher) ?? new Map<string, Watch>();
    if (!watches.has(id) && watches.size >= this.limit)
      throw new Rejection("quota", `A connection may watch ${this.limit} thread lists. End one first.`);
    const watch: Watch = { id, tenant, user: user.id, query, known: new Map() };
    this.byWatcher.set(watcher, watches.set(id, watch));
    try {
      const items = await this.ask(tenant, query);
      this.tell(watcher, watch, await this.own(watch, items, items), true);
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
    const { stale } = this;
    this.stale = new Map();
    const asked = new Map<string, Promise<Items>>();
    for (const [watcher, watches] of this.byWatcher) {
      for (const watch of watches.values()) {
        const { tenant, query } = watch;
        const touched = stale.get(tenant);
        if (!touched) continue;
        const question = JSON.stringify([tenant, query]);
        let answer = asked.get(question);
        if (!answer) {
          answer = this.ask(tenant, query);
          asked.set(question, answer);
        }
        try {
          const isSent = this.tell(watcher, watch, await this.own(watch, await answer, touched), false);
          // It is told what has changed when it reads again.
          if (!isSent) this.again(tenant, touched);
        } catch {
          // The list cannot be read now; the next moment tries again.
          this.again(tenant, touched);
        }
      }
    }
  }

  private again(tenant: string, threads: Iterable<string>): void {
    const touched = this.stale.get(tenant) ?? new Set();
    for (const thread of threads) touched.add(thread);
    this.stale.set(tenant, touched);
  }

  /** Encodes each item once, however many watch it. */
  private async ask(tenant: string, query: ThreadQuery): Promise<Items> {
    const threads = await this.rooms.threads({ tenant, query });
    return new Map(threads.map((thread) => [thread.id, JSON.stringify(thread).slice(0, -1)]));
  }

  /** Adds what somebody has not read. @param touched threads in which that may be another number than before */
  private async own(
    { tenant, user, known }: Watch,
    items: Items,
    touched: { has(thread: string): boolean },
  ): Promise<OwnItems> {
    const ids = [...items.keys()].filter((id) => touched.has(id) || !known.has(id));
    const unread = new Map(ids.length > 0 ? await this.rooms.unread({ tenant, user, ids }) : []);
    for (const id of ids) if (!unread.has(id)) unread.set(id, 0);
    return new Map(
      [...items].map(([id, item]) => [id, { item, unread: unread.get(id) ?? known.get(id)?.unread ?? 0 }]),
    );
  }

  /** @returns false when the watcher does not read what it is sent, and has to be told later */
  private tell(watcher: Watcher, watch: Watch, now: OwnItems, first: boolean): boolean {
    if (this.byWatcher.get(watcher)?.get(watch.id) !== watch) return true;
    if (watcher.slow && !first) return false;
    const { known } = watch;
    const news = [...now].filter(([id, { item, unread }]) => {
      const old = known.get(id);
      return old?.item !== item || old.unread !== unread;
    });
    const items = news.map(([, { item, unread }]) => `${item},"unread":${unread}}`);
    const removed = [...known.keys()].filter((id) => !now.has(id));
    watch.known = now;
    if (!first && items.length + removed.length === 0) return true;
    const head = JSON.stringify({ type: "threads", watch: watch.id, removed }).slice(0, -1);
    watcher.sendText(`${head},"items":[${items.join(",")}]}`);
    return true;
  }
}
