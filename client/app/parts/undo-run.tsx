import { useState } from "react";
import { nameOf } from "../people.ts";
import { refusedChange } from "../refused-change.ts";
import { hasState, revertRun, useSharedState } from "../shared-state.ts";
import { useThreadContext } from "../thread-context.ts";
import { useChangeOfRun } from "../use-state-changes.ts";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";
import { Menu } from "./menu.tsx";

/**
 * Whether something of a run may be taken back: `known` when it changed the state, `maybe` when this window was
 * not there to see.
 */
export function useUndo(runId: string): "no" | "known" | "maybe" | "undone" {
  const { thread, changes } = useThreadContext();
  const { kind } = useChangeOfRun(changes, runId);
  const some = useSharedState(thread, hasState);
  if (kind === "undone") return "undone";
  if (kind === "changed") return "known";
  return kind === "unknown" && some ? "maybe" : "no";
}

/** Takes back what a run did to the state, and says what was left. */
export function UndoRun({ runId }: { runId: string }) {
  const { thread, changes } = useThreadContext();
  const undo = useUndo(runId);
  const change = useChangeOfRun(changes, runId);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<string | null>(null);
  const revert = () => {
    setBusy(true);
    setSaid(null);
    revertRun(thread, runId)
      .then((left) => left > 0 && setSaid(words.state.left(left)))
      .catch((error) => setSaid(refusedChange(error)))
      .finally(() => setBusy(false));
  };
  return (
    <>
      {undo === "known" && (
        <button type="button" className="quiet undo" disabled={busy} onClick={revert}>
          {busy ? words.state.undoing : words.state.undo}
        </button>
      )}
      {undo === "maybe" && (
        <Menu
          label={words.state.runMenu}
          className="quiet square run-menu"
          items={[{ text: words.state.undo, onChoose: revert }]}
        >
          <Icon name="dots" size={14} />
        </Menu>
      )}
      <span className="marginal" aria-live="polite">
        {[change.kind === "undone" ? words.state.undone(nameOf(change.by)) : "", said ?? ""].join(" ").trim()}
      </span>
    </>
  );
}
