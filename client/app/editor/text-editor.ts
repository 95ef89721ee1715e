import { standardKeymap } from "@codemirror/commands";
import { markdown } from "@codemirror/lang-markdown";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { yUndoManagerKeymap } from "y-codemirror.next";
import type { Awareness } from "y-protocols/awareness";
import type * as Y from "yjs";
import { atMost, together } from "./base.ts";

/** As much as a server takes at once without closing the connection, UTF-16 units. */
const LIMITS = { whole: 500_000, once: 100_000 };

/** A text of the state while it is edited. */
export interface TextEditor {
  /** What stands in it. */
  readonly text: string;
  focus(): void;
  close(): void;
}

/** What a {@link TextEditor} is opened with. */
export type TextOptions = {
  text: Y.Text;
  awareness: Awareness;
  /** The colour of an agent's caret. */
  agentColour: (agent: string) => string;
  label: string;
  onEscape: () => void;
  onTooMuch: () => void;
};

/** Opens a Markdown text in an element, for all who edit it. */
export function openText(parent: HTMLElement, options: TextOptions): TextEditor {
  const { text, awareness, agentColour, label, onEscape, onTooMuch } = options;
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text.toString(),
      extensions: [
        keymap.of([
          {
            key: "Escape",
            run() {
              onEscape();
              return true;
            },
          },
          ...yUndoManagerKeymap,
          ...standardKeymap,
        ]),
        together(text, awareness, agentColour),
        markdown(),
        syntaxHighlighting(MARKS),
        atMost(LIMITS, onTooMuch),
        EditorView.contentAttributes.of({ "aria-label": label }),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}

const MARKS = HighlightStyle.define([
  { tag: tags.heading, class: "text-heading" },
  { tag: tags.strong, class: "text-strong" },
  { tag: tags.emphasis, class: "text-emphasis" },
  { tag: tags.strikethrough, class: "text-struck" },
  { tag: [tags.link, tags.url], class: "text-link" },
  { tag: tags.monospace, class: "text-code" },
  { tag: tags.quote, class: "text-quote" },
  { tag: [tags.processingInstruction, tags.contentSeparator], class: "text-mark" },
]);
