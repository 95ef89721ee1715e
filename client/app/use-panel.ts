import { useEffect, useState } from "react";
import { ALONE } from "./alone.ts";
import { keep, kept } from "./storage.ts";

/** What the panel beside a conversation can show. */
export type Tab = "plan" | "document" | "data";

/** Up to this width the panel lies over the conversation; what the list of threads does not take is room too. */
const NARROW = ALONE ? "(max-width: 699px)" : "(max-width: 999px)";
const OPEN = "state.open";
const TAB = "state.tab";

/**
 * Whether the panel is open and what it shows; this window remembers both. Unless somebody has said otherwise
 * it is open where it has room of its own, and shows the first of what there is.
 */
export function usePanel(tabs: readonly Tab[]) {
  const [narrow, setNarrow] = useState(() => window.matchMedia(NARROW).matches);
  const [chosen, setChosen] = useState(() => kept("window", OPEN));
  const [wanted, setWanted] = useState(() => kept("window", TAB));
  useEffect(() => {
    const query = window.matchMedia(NARROW);
    const look = () => setNarrow(query.matches);
    look();
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return {
    narrow,
    open: tabs.length > 0 && (chosen === null ? !narrow : chosen === "yes"),
    tab: tabs.find((tab) => tab === wanted) ?? tabs[0],
    setOpen(open: boolean) {
      keep("window", OPEN, open ? "yes" : "no");
      setChosen(open ? "yes" : "no");
    },
    setTab(tab: Tab) {
      keep("window", TAB, tab);
      setWanted(tab);
    },
  };
}
