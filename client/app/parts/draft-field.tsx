import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Thread } from "../../react/index.ts";
import type { DraftEditor } from "../editor/index.ts";
import type { MentionEvents } from "../use-mentions.ts";
import { type SharedDoc, useReplica } from "../use-shared-doc.ts";
import { words } from "../words.ts";

type Props = {
  thread: Thread;
  shared: SharedDoc;
  hint: string;
  /** Whether it takes the place of a field that one was writing in. */
  takeFocus: () => boolean;
  /** Called when it goes; with whether one was writing in it. */
  onLeave: (hadFocus: boolean) => void;
  /** Gives what is open, and `null` when it is closed. */
  onOpen: (editor: DraftEditor | null) => void;
  /** It became another text; `own` by what was done here. */
  onChange: (text: string, own: boolean) => void;
  onEnter: () => void;
  onTooMuch: (text: string) => void;
  mention: MentionEvents;
};

/** The field in which all who are here write one message. */
export function DraftField(props: Props) {
  const { thread, shared, hint, takeFocus, onLeave, onOpen } = props;
  const host = useRef<HTMLDivElement>(null);
  const [empty, setEmpty] = useState(true);
  const replica = useReplica(shared);
  const now = useRef(props);
  useEffect(() => {
    now.current = props;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another document is another field
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    const say = (text: string, own: boolean) => {
      setEmpty(text === "");
      now.current.onChange(text, own);
    };
    const editor = shared.parts.openDraft(element, thread, shared.doc, {
      label: words.composer.label,
      changed: say,
      enter: () => now.current.onEnter(),
      tooMuch: (text) => now.current.onTooMuch(text),
      caret: (text, place) => now.current.mention.caret(text, place),
      key: (key) => now.current.mention.key(key),
    });
    say(editor.text, false);
    onOpen(editor);
    if (takeFocus()) editor.focus();
    return () => {
      if (element.contains(document.activeElement)) onLeave(true);
      onOpen(null);
      editor.close();
    };
  }, [thread, shared, replica, takeFocus, onLeave, onOpen]);
  return (
    <div className="draft-field">
      <div ref={host} className={empty ? "draft-text draft-empty" : "draft-text"} />
      {empty && (
        <span className="draft-hint" aria-hidden="true">
          {hint}
        </span>
      )}
    </div>
  );
}
