import { openMemory } from "../../server/store/memory.ts";
import type { CommitResult, Store } from "../../server/store/store.ts";

/** How a commit fails. */
export type CommitMood = "failed" | "fenced" | "conflict" | "unknown" | "unknown but written" | "throws";

/** A store that does what it should until it is told otherwise. */
export class MoodyStore {
  readonly inner = openMemory();
  /** How the next commits fail, one each; the last one stays when `always` is set. */
  moods: CommitMood[] = [];
  always = false;
  loadFails = false;
  ackFails = false;
  commits = 0;
  /** Marks of all batches that were tried, in order. */
  readonly marks: string[] = [];
  readonly store: Store;

  constructor() {
    this.store = {
      ...this.inner,
      commit: async (batches) => {
        this.commits += 1;
        for (const { mark } of batches) this.marks.push(mark);
        const mood = this.always ? this.moods[0] : this.moods.shift();
        if (!mood) return this.inner.commit(batches);
        if (mood === "throws") throw new Error("the disk is on fire");
        if (mood === "unknown but written") await this.inner.commit(batches);
        const code = mood === "unknown but written" ? "unknown" : mood;
        return batches.map((): CommitResult => ({ ok: false, code, error: new Error("the disk is full") }));
      },
      load: async (key) => {
        if (this.loadFails) throw new Error("the disk is gone");
        return this.inner.load(key);
      },
      ack: async (...of) => {
        if (this.ackFails) throw new Error("the disk is gone");
        return this.inner.ack(...of);
      },
    };
  }
}
