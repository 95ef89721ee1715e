import { useSyncExternalStore } from "react";
import type { PlainAndMerged, PlainStateView } from "../plain-state.ts";

/** Both states, by plain rules and merged; renders anew whenever either changes. */
export function usePlainState(view: PlainStateView): PlainAndMerged {
  const now = () => view.snapshot;
  return useSyncExternalStore(view.subscribe, now, now);
}
