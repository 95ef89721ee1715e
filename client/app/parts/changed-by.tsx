import { useEffect, useState } from "react";
import { nameOf } from "../people.ts";
import type { Changed } from "../state-changes.ts";
import { agentColour, agentName, colourOf, useThreadContext } from "../thread-context.ts";
import { fullTime } from "../when.ts";
import { words } from "../words.ts";

/** How long a change is one of just now, ms. */
const NOW_MS = 60_000;

/** The name of whoever changed something last; nothing where this window does not know. */
export function ChangedBy({ changed }: { changed: Changed | undefined }) {
  const { agents } = useThreadContext();
  const [, again] = useState(0);
  useEffect(() => {
    if (!changed) return;
    const timer = setTimeout(() => again((n) => n + 1), changed.at + NOW_MS - Date.now());
    return () => clearTimeout(timer);
  }, [changed]);
  if (!changed) return null;
  const { by, at } = changed;
  const isAgent = by.kind === "agent";
  const name = isAgent ? agentName(agents, by.id) : nameOf(by);
  const colour = isAgent ? agentColour(agents, by.id) : colourOf(by);
  return (
    <span className="changed-by" title={fullTime(at)}>
      <span className="changed-dot" style={{ background: colour }} aria-hidden="true" />
      {words.state.by(name, !isAgent && Date.now() - at < NOW_MS)}
    </span>
  );
}
