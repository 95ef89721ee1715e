import { useEffect } from "react";

/** What single keys do, where nothing is being written. */
export type KeyActions = Readonly<Record<string, () => void>>;

/**
 * Listens to the keys of the whole page.
 * @param onEscape also where something is being written, unless something open closes by it
 */
export function useKeys(actions: KeyActions, onEscape: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
        return;
      if (document.querySelector("dialog[open], :popover-open")) return;
      const { key } = event;
      const action = key === "Escape" ? onEscape : writes(event.target) ? undefined : actions[key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [actions, onEscape]);
}

function writes(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
