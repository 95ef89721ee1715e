import { type RefObject, useLayoutEffect } from "react";
import type { MentionEvents } from "../use-mentions.ts";
import { words } from "../words.ts";

type Props = {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  hint: string;
  /** Whether it takes the place of a field that one was writing in. */
  takeFocus: () => boolean;
  /** Called when it goes; with whether one was writing in it. */
  onLeave: (hadFocus: boolean) => void;
  onChange: (text: string) => void;
  onEnter: () => void;
  mention: MentionEvents;
};

/** The field of one who writes alone. */
export function OwnField({ field, text, hint, takeFocus, onLeave, onChange, onEnter, mention }: Props) {
  // As high as its text, up to what its style allows.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [field, text]);
  useLayoutEffect(() => {
    const element = field.current;
    if (takeFocus()) element?.focus({ preventScroll: true });
    return () => {
      if (document.activeElement === element) onLeave(true);
    };
  }, [field, takeFocus, onLeave]);
  return (
    <textarea
      ref={field}
      rows={1}
      value={text}
      aria-label={words.composer.label}
      placeholder={hint}
      onChange={(event) => onChange(event.target.value)}
      // Told of every move of the caret, what is written included.
      onSelect={({ currentTarget: { value, selectionStart, selectionEnd } }) =>
        mention.caret(value, selectionStart === selectionEnd ? selectionStart : null)
      }
      onBlur={({ currentTarget }) => mention.caret(currentTarget.value, null)}
      onKeyDown={(event) => {
        // Enter also ends the composition of a character.
        if (event.shiftKey || event.nativeEvent.isComposing) return;
        if (mention.key(event.key)) return event.preventDefault();
        if (event.key !== "Enter") return;
        event.preventDefault();
        onEnter();
      }}
    />
  );
}
