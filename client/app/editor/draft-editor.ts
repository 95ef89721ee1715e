import { insertNewline, standardKeymap } from "@codemirror/commands";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { yUndoManagerKeymap } from "y-codemirror.next";
import type * as Y from "yjs";
import type { ThreadDoc } from "../../doc/index.ts";
import { CothreadError, type Mention, type Thread } from "../../react/index.ts";
import { mentioning } from "../mentions.ts";
import { newId } from "../new-id.ts";
import type { MentionEvents } from "../use-mentions.ts";
import { atMost, together } from "./base.ts";
import { heldBack, hidingWhatIsSent, holdBack } from "./held-back.ts";
import { indexIn, placeBehind } from "./remote-carets.ts";

/** As much as people write together before they send it, UTF-16 units. */
const MOST = 100_000;

/** What became of a press on Send: nothing is said of a text that was sent. */
export type DraftOutcome =
  | { kind: "sent" }
  /** Somebody else was first, or it is another text by now. */
  | { kind: "first"; by: { id: string; name?: string } | undefined }
  | { kind: "failed"; reason: string };

/** The field in which the people of a thread write one message together. */
export interface DraftEditor {
  /** What stands in it, without what is being sent. */
  readonly text: string;
  focus(): void;
  /** Writes a text before what stands there. */
  putBefore(text: string): void;
  /** Writes a text behind what stands there. */
  putBehind(text: string): void;
  /** Writes a text in the place of another one, and the caret behind it. */
  replace(from: number, to: number, text: string): void;
  /** Sends what stands there; `null` when that is nothing. */
  send(options: DraftOptions): Promise<DraftOutcome> | null;
  close(): void;
}

/**
 * Who answers, whether anybody shall, whom it mentions, and whether it is said in the place of answers that an agent
 * waits for.
 */
export type DraftOptions = {
  agent?: string;
  note: boolean;
  start?: true;
  interrupts?: "cancel";
  mentions?: readonly Mention[];
};

/** What a field is called, and what it tells the composer around it. */
export type DraftEvents = MentionEvents & {
  label: string;
  /** It became another text. `own`: by what was done here */
  changed(text: string, own: boolean): void;
  /** Enter was pressed. */
  enter(): void;
  /** Somebody pastes more than people write together. */
  tooMuch(text: string): void;
};

/** Keys that a list of names takes while it is open. */
const MENTION_KEYS = ["ArrowDown", "ArrowUp", "Enter", "Tab", "Escape"];

/** What was sent off and is still in a draft: fields come and go, and hide it all the same. */
const leaving = new WeakMap<Y.Text, Set<Y.RelativePosition>>();

/** Opens the shared draft of a thread in an element. */
export function openDraft(
  parent: HTMLElement,
  thread: Thread,
  doc: ThreadDoc,
  events: DraftEvents,
): DraftEditor {
  const { draft } = doc;
  const sent = leaving.get(draft) ?? new Set();
  leaving.set(draft, sent);
  const heldEnd = () =>
    Math.max(0, ...[...sent].map((place) => indexIn(draft, place)).filter((at) => typeof at === "number"));
  let told = "";
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: draft.toString(),
      selection: { anchor: draft.length },
      extensions: [
        Prec.high(
          keymap.of([
            {
              key: "Enter",
              run() {
                events.enter();
                return true;
              },
              shift: insertNewline,
            },
          ]),
        ),
        Prec.highest(
          keymap.of(
            MENTION_KEYS.map((key) => ({ key, run: ({ composing }) => !composing && events.key(key) })),
          ),
        ),
        keymap.of([...yUndoManagerKeymap, ...standardKeymap]),
        together(draft, doc.awareness),
        hidingWhatIsSent(),
        atMost({ whole: MOST, once: MOST }, events.tooMuch),
        EditorView.contentAttributes.of({ "aria-label": events.label }),
        EditorView.updateListener.of(({ transactions, docChanged, selectionSet, focusChanged }) => {
          const text = shown();
          if (docChanged || selectionSet || focusChanged) events.caret(text, caret());
          if (text === told) return;
          told = text;
          const own = transactions.some((each) => each.isUserEvent("input") || each.isUserEvent("delete"));
          events.changed(text, own);
        }),
      ],
    }),
  });
  let isOpen = true;
  const shown = () => view.state.sliceDoc(view.state.field(heldBack));
  const hide = () => {
    if (isOpen) view.dispatch({ effects: holdBack.of(heldEnd()) });
  };
  const caret = () => {
    const { main } = view.state.selection;
    return view.hasFocus && main.empty ? main.head - view.state.field(heldBack) : null;
  };
  const change = (from: number, to: number, insert: string) => {
    const anchor = from + insert.length;
    view.dispatch({ changes: { from, to, insert }, ...(insert !== "" && { selection: { anchor } }) });
  };
  if (sent.size > 0) hide();
  told = shown();

  /** Empty lines around it are nothing; spaces before the first line may be code. */
  const trim = () => {
    const text = shown();
    const lead = /^(?:[ \t]*\n)+/.exec(text)?.[0].length ?? 0;
    const start = view.state.field(heldBack);
    const kept = text.trimEnd().length;
    change(start + kept, view.state.doc.length, "");
    change(start, start + Math.min(lead, kept), "");
  };

  return {
    get text() {
      return shown();
    },
    focus: () => view.focus(),
    putBefore(text) {
      const start = view.state.field(heldBack);
      const rest = shown().trim() === "" ? "" : "\n\n";
      change(start, start, text + rest);
    },
    putBehind(text) {
      const end = view.state.doc.length;
      change(end, end, shown().trim() === "" ? text : `\n\n${text}`);
    },
    replace(from, to, text) {
      const start = view.state.field(heldBack);
      change(start + from, start + to, text);
    },
    send({ note, mentions = [], ...to }) {
      if (shown().trim() === "") return null;
      trim();
      const text = shown();
      const options = note ? {} : to;
      // The server cannot cut out what it has not heard of: that is sent as a message of its own.
      if (!doc.synced && doc.unsaved) {
        change(view.state.field(heldBack), view.state.doc.length, "");
        // A failure shows at the message.
        const said = mentioning(text, mentions);
        (note ? thread.note(said) : thread.send(said, options)).catch(() => {});
        return Promise.resolve({ kind: "sent" });
      }
      const end = placeBehind(draft, view.state.doc.length);
      sent.add(end);
      const inputId = newId();
      const done = thread
        .sendDraft(text, { ...options, note, inputId, ...(mentions.length > 0 && { mentions }) })
        .then(
          (): DraftOutcome => ({ kind: "sent" }),
          (error) => outcomeOf(thread, inputId, error),
        );
      hide();
      return done.then(async (outcome) => {
        // That it was cut out comes right behind the answer.
        if (outcome.kind === "sent") await gone(draft, end);
        sent.delete(end);
        hide();
        return outcome;
      });
    },
    close() {
      isOpen = false;
      view.destroy();
    },
  };
}

function outcomeOf(thread: Thread, inputId: string, error: unknown): DraftOutcome {
  if (!(error instanceof CothreadError)) throw error;
  if (error.code === "draft_sent") {
    const { by } = (error.details ?? {}) as { by?: { id: string; name?: string } };
    return { kind: "first", by };
  }
  // It still stands in the draft, where it can be sent again: it shall not stand in the conversation too.
  void thread.withdraw(inputId).catch(() => {});
  return error.code === "withdrawn" ? { kind: "sent" } : { kind: "failed", reason: error.message };
}

/** Resolves when nothing stands before a place any more, or after a while. */
function gone(text: Y.Text, end: Y.RelativePosition): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      const at = indexIn(text, end);
      if (typeof at === "number" && at > 0) return;
      clearTimeout(timer);
      text.unobserve(look);
      resolve();
    };
    const timer = setTimeout(() => {
      text.unobserve(look);
      resolve();
    }, GONE_MS);
    text.observe(look);
    look();
  });
}

/** Longer than a change takes to come behind its answer, ms. */
const GONE_MS = 3_000;
