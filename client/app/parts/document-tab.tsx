import { useLayoutEffect, useRef, useState } from "react";
import { useThreadValue } from "../../react/index.ts";
import { keepLostDocument, useLostDocument } from "../lost-document.ts";
import { refusedChange } from "../refused-change.ts";
import { changeState } from "../shared-state.ts";
import { movedCaret } from "../text-merge.ts";
import { useThreadContext } from "../thread-context.ts";
import { useDocument } from "../use-document.ts";
import { useSharedText } from "../use-shared-doc.ts";
import { useChangeOfDocument } from "../use-state-changes.ts";
import { words } from "../words.ts";
import { ChangedBy } from "./changed-by.tsx";
import { CopyButton } from "./copy-button.tsx";
import { DocumentEditor } from "./document-editor.tsx";
import { Markdown } from "./markdown.tsx";

/** The document in the state: read as Markdown, written as text. */
export function DocumentTab() {
  const { thread, changes, shared = null } = useThreadContext();
  const document = useDocument(thread);
  const changed = useChangeOfDocument(changes);
  const text = useSharedText(shared, "/document");
  const lost = useLostDocument(thread);
  const role = useThreadValue(thread, ({ role }) => role);
  const [editing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const toggle = () => {
    void document.save();
    setEditing(!editing);
  };
  // Whoever leaves the field by a key stays at the document.
  const leave = () => {
    button.current?.focus();
    toggle();
  };
  if (lost !== null) return <Lost text={lost} isBack={document.isThere} />;
  return (
    <section className="document">
      <header className="document-head">
        <ChangedBy changed={changed} />
        <span className="space" />
        {role === "viewer" ? (
          <span className="marginal">{words.composer.reader}</span>
        ) : (
          <button ref={button} type="button" className="quiet" onClick={toggle}>
            {editing ? words.state.done : words.state.edit}
          </button>
        )}
      </header>
      {!editing || role === "viewer" ? (
        <Reading text={document.text} />
      ) : shared && text && !document.unsaved ? (
        <DocumentEditor shared={shared} text={text} onDone={leave} />
      ) : (
        <Field document={document} onDone={leave} />
      )}
      {document.trouble && <p role="alert">{document.trouble}</p>}
    </section>
  );
}

/** What stood in a document that was removed while one was in it. */
function Lost({ text, isBack }: { text: string; isBack: boolean }) {
  const { thread } = useThreadContext();
  const [trouble, setTrouble] = useState<string | null>(null);
  const forget = () => keepLostDocument(thread, null);
  const putBack = () => {
    setTrouble(null);
    changeState(thread, [{ op: "add", path: "/document", value: text }]).then(forget, (error) =>
      setTrouble(refusedChange(error)),
    );
  };
  return (
    <section className="document">
      <p role="status">{words.state.removed}</p>
      <div className="document-lost">
        {!isBack && (
          <button type="button" onClick={putBack}>
            {words.state.putBack}
          </button>
        )}
        <CopyButton text={() => text} />
        <button type="button" className="quiet" onClick={forget}>
          {words.close}
        </button>
      </div>
      {trouble && <p role="alert">{trouble}</p>}
      <Reading text={text} />
    </section>
  );
}

function Reading({ text }: { text: string }) {
  if (text.trim() === "") return <p className="marginal">{words.state.emptyDocument}</p>;
  return <Markdown text={text} />;
}

function Field({ document, onDone }: { document: ReturnType<typeof useDocument>; onDone: () => void }) {
  const { text, unsaved, trouble, save, type } = document;
  const field = useRef<HTMLTextAreaElement>(null);
  const shown = useRef(text);
  const caret = useRef<[number, number]>([0, 0]);
  const remember = () => {
    const { selectionStart, selectionEnd } = field.current as HTMLTextAreaElement;
    caret.current = [selectionStart, selectionEnd];
  };
  useLayoutEffect(() => {
    field.current?.focus();
  }, []);
  // What others write moves the text under the caret, and not the caret out of its word.
  useLayoutEffect(() => {
    const { current } = field;
    if (!current || shown.current === text) return;
    const [start, end] = caret.current;
    current.setSelectionRange(movedCaret(start, shown.current, text), movedCaret(end, shown.current, text));
    shown.current = text;
    caret.current = [current.selectionStart, current.selectionEnd];
  }, [text]);
  return (
    <>
      <textarea
        ref={field}
        aria-label={words.state.field}
        value={text}
        onSelect={remember}
        onChange={(event) => {
          shown.current = event.currentTarget.value;
          remember();
          type(event.currentTarget.value);
        }}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
          event.preventDefault();
          onDone();
        }}
      />
      <p className="marginal" aria-live="polite">
        {trouble ? "" : unsaved ? words.state.saving : words.state.saved}
      </p>
    </>
  );
}
