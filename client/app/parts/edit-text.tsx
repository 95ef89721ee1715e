import { useState } from "react";
import { words } from "../words.ts";

/** A text while it is changed: Enter keeps it, Escape leaves it. */
export function EditText(props: {
  text: string;
  label: string;
  save: string;
  /** Gets what it has become; `null` when it is left, or is the same. */
  onDone: (text: string | null) => void;
}) {
  const { label, save, onDone } = props;
  const [text, setText] = useState(props.text);
  return (
    <form
      className="edit-text"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onDone(text === props.text ? null : text);
      }}
    >
      <textarea
        aria-label={label}
        value={text}
        rows={Math.min(8, text.split("\n").length)}
        // biome-ignore lint/a11y/noAutofocus: it appears because somebody asked for it
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }
          if (event.key !== "Escape") return;
          event.stopPropagation();
          onDone(null);
        }}
      />
      <button type="submit" className="quiet" disabled={text.trim() === ""}>
        {save}
      </button>
      <button type="button" className="quiet" onClick={() => onDone(null)}>
        {words.queue.leave}
      </button>
    </form>
  );
}
