import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Text } from "yjs";
import { keepLostDocument } from "../lost-document.ts";
import { agentColour, useThreadContext } from "../thread-context.ts";
import { documentOf } from "../use-document.ts";
import { type SharedDoc, useUnsaved } from "../use-shared-doc.ts";
import { words } from "../words.ts";

type Props = { shared: SharedDoc; text: Text; onDone: () => void };

/** The document while it is edited, by all who are in it at once. */
export function DocumentEditor({ shared, text, onDone }: Props) {
  const { thread, agents, live } = useThreadContext();
  const unsaved = useUnsaved(shared);
  const [tooMuch, setTooMuch] = useState(false);
  const host = useRef<HTMLDivElement>(null);
  const now = useRef({ agents, onDone });
  useEffect(() => {
    now.current = { agents, onDone };
  });
  useLayoutEffect(() => {
    if (!host.current) return;
    const { doc, parts } = shared;
    const editor = parts.openText(host.current, {
      text,
      awareness: doc.awareness,
      agentColour: (agent) => agentColour(now.current.agents, agent),
      label: words.state.field,
      onEscape: () => now.current.onDone(),
      onTooMuch: () => setTooMuch(true),
    });
    editor.focus();
    return () => {
      if (documentOf(thread.state) === undefined) keepLostDocument(thread, editor.text);
      editor.close();
    };
  }, [thread, shared, text]);
  const { saved, saving, waiting } = words.state;
  return (
    <>
      <div ref={host} className="document-text" />
      <p className="marginal" aria-live="polite">
        {!unsaved ? saved : live ? saving : waiting}
      </p>
      {tooMuch && <p role="alert">{words.state.tooBig}</p>}
    </>
  );
}
