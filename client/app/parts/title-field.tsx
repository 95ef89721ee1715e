import { useEffect, useRef, useState } from "react";

/** Longest title the protocol takes. */
const TITLE_MAX = 200;

/** A title that is being changed in place: Enter or leaving it keeps it, Escape does not. */
export function TitleField(props: { title: string; label: string; onDone: (title: string | null) => void }) {
  const { title, label, onDone } = props;
  const [text, setText] = useState(title);
  const field = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useEffect(() => field.current?.select(), []);
  const finish = (next: string | null) => {
    // Leaving the field follows on Enter and Escape.
    if (done.current) return;
    done.current = true;
    const trimmed = next?.trim();
    onDone(trimmed && trimmed !== title ? trimmed : null);
  };
  return (
    <input
      ref={field}
      className="title-field"
      value={text}
      maxLength={TITLE_MAX}
      aria-label={label}
      // biome-ignore lint/a11y/noAutofocus: it appears because somebody asked for it
      autoFocus
      onChange={(event) => setText(event.target.value)}
      onBlur={() => finish(text)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.nativeEvent.isComposing) finish(text);
        if (event.key === "Escape") {
          event.stopPropagation();
          finish(null);
        }
      }}
    />
  );
}
