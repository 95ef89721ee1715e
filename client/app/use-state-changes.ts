import { useSyncExternalStore } from "react";
import type { Changed, RunChange, StateChanges } from "./state-changes.ts";

/** Who changed a step last, as far as this window knows. */
export function useChangeOfStep(changes: StateChanges, key: string): Changed | undefined {
  return useSyncExternalStore(changes.subscribe, () => changes.ofStep(key));
}

/** Who changed the document last, as far as this window knows. */
export function useChangeOfDocument(changes: StateChanges): Changed | undefined {
  return useSyncExternalStore(changes.subscribe, changes.ofDocument);
}

/** What a run did to the state, as far as this window knows. */
export function useChangeOfRun(changes: StateChanges, runId: string): RunChange {
  return useSyncExternalStore(changes.subscribe, () => changes.ofRun(runId));
}
