import type { Timeline } from "../../shared/timeline/index.ts";
import type { Store, ThreadKey } from "../store/store.ts";
import { fromRow, type RunRecord } from "./input-record.ts";

type Asked = Pick<RunRecord, "tools" | "context" | "forwardedProps">;

/** What agents were asked with beside messages, by run: a run that goes on by itself is given the same. */
export class AskedWith {
  private readonly byRun = new Map<string, Asked>();

  get(runId: string): Asked | undefined {
    return this.byRun.get(runId);
  }

  keep(runId: string, { tools, context, forwardedProps }: Asked): void {
    this.byRun.set(runId, { tools, context, forwardedProps });
  }

  /** Forgets all runs but those that may go on. */
  forget(mayGoOn: (runId: string) => boolean): void {
    for (const runId of this.byRun.keys()) if (!mayGoOn(runId)) this.byRun.delete(runId);
  }

  /** Finds out about a run of before the room was in memory: it is in the row of the input that the run was for. */
  async find(store: Store, key: ThreadKey, { turns }: Timeline, runId: string): Promise<void> {
    if (this.byRun.has(runId)) return;
    for (
      let turn = turns.get(runId);
      turn;
      turn = turn.parent === null ? undefined : turns.get(turn.parent)
    ) {
      const row = turn.agent === undefined ? await store.input(key, turn.id) : null;
      if (row) return this.keep(runId, fromRow(row));
    }
  }
}
