import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, ViewPlugin } from "@codemirror/view";
import { yCollab, ySyncAnnotation } from "y-codemirror.next";
import type { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { peopleColours } from "../thread-context.ts";
import { caretsIn, ownCaret, remoteCarets } from "./remote-carets.ts";

/**
 * What every text is edited with: one text for all, undoing what one did oneself, and where the others are.
 * @param agentColour the colour this window gives an agent that writes there
 */
export function together(
  text: Y.Text,
  awareness: Awareness,
  agentColour = (agent: string) => peopleColours.of(agent),
): Extension {
  const undoManager = new Y.UndoManager(text);
  return [
    yCollab(text, null, { undoManager }),
    ViewPlugin.define(() => ({ destroy: () => undoManager.destroy() })),
    ownCaret(text, awareness),
    remoteCarets(caretsIn(text, awareness, agentColour)),
    EditorView.lineWrapping,
    look,
  ];
}

/** Leaves out a change made here that would be too much. @param tooMuch is told what the text would have become */
export function atMost(limits: { whole: number; once: number }, tooMuch: (text: string) => void): Extension {
  return EditorState.transactionFilter.of((change) => {
    if (!change.docChanged || change.annotation(ySyncAnnotation) !== undefined) return change;
    const before = change.startState.doc.length;
    const after = change.newDoc.length;
    if (after <= before || (after <= limits.whole && after - before <= limits.once)) return change;
    const text = change.newDoc.toString();
    // Not in the middle of a change.
    queueMicrotask(() => tooMuch(text));
    return [];
  });
}

const look = EditorView.theme({
  "&": { color: "inherit", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "inherit", lineHeight: "inherit", overflowX: "hidden" },
  ".cm-content": { padding: "0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0" },
});
