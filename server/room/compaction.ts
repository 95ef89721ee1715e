import { randomUUID } from "node:crypto";
import * as Y from "yjs";
import type { Store, ThreadKey } from "../store/store.ts";
import { freshDocument, NotCarriedError } from "./fresh-document.ts";
import { LAST_GENERATION, serverId } from "./generation.ts";

/** How a document is made anew. */
export type CompactOptions = {
  /** What part of its bytes must go, 0 to 1; a document that would lose less stays. */
  minGain: number;
  /** Only find out what it would come to. */
  dryRun: boolean;
};

/** What became of a thread's document. Sizes are of all of it as one Yjs update, bytes. */
export type Compaction =
  /** It was made anew, or would be. */
  | { kind: "anew"; before: number; after: number; generation: number }
  /** Too little would go. */
  | { kind: "worth nothing"; before: number; after: number }
  /** It cannot be made anew; `why` is a sentence. The document stays as it was. */
  | { kind: "refused"; why: string }
  /** There is no such thread, or it has no document. */
  | { kind: "none" };

/**
 * [Y8] Makes a thread's document anew, of the next generation and without what was deleted in it. Nobody may be
 * connected; a room that is in memory all the same is no longer the owner and cannot write behind it.
 * @throws Error what the store throws
 */
export async function compactThread(
  store: Store,
  key: ThreadKey,
  { minGain, dryRun }: CompactOptions,
): Promise<Compaction> {
  const loaded = await store.load(key);
  if (!loaded || loaded.doc.length === 0) return { kind: "none" };
  const generation = loaded.generation + 1;
  if (generation > LAST_GENERATION)
    return { kind: "refused", why: `It was made anew ${LAST_GENERATION} times, and cannot be once more.` };
  let made: ReturnType<typeof freshDocument>;
  try {
    const stored = Y.mergeUpdates(loaded.doc);
    if (!Y.parseUpdateMeta(stored).to.has(serverId(loaded.generation)))
      return {
        kind: "refused",
        why: "It has no mark of its generation yet; the next change of it makes one.",
      };
    made = freshDocument(stored, generation);
  } catch (error) {
    const why = error instanceof NotCarriedError ? error.message : "It cannot be read as a Yjs document.";
    return { kind: "refused", why };
  }
  const { update, before } = made;
  const after = update.byteLength;
  if (after > before * (1 - minGain)) return { kind: "worth nothing", before, after };
  if (dryRun) return { kind: "anew", before, after, generation };
  const [result] = await store.commit([
    {
      key,
      ownerEpoch: loaded.ownerEpoch + 1,
      mark: randomUUID(),
      after: loaded.seq,
      entries: [],
      state: { updates: [], whole: update, generation, changes: [], agents: [] },
    },
  ]);
  if (!result?.ok) throw result?.error ?? new Error("The store did not answer.");
  return { kind: "anew", before, after, generation };
}
