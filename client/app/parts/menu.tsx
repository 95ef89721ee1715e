import { type KeyboardEvent, useId, useRef, useState } from "react";

/** One thing a menu offers; `chosen` where one of several holds: whether it is this one. */
export type MenuItem = { text: string; chosen?: boolean; onChoose: () => void };

/** A button that opens a short list of things to do. Escape and a press elsewhere close it. */
export function Menu(props: {
  label: string;
  className: string;
  items: readonly MenuItem[];
  children: React.ReactNode;
}) {
  const { label, className, items, children } = props;
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);

  const move = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined || !list.current) return;
    event.preventDefault();
    const buttons = [...list.current.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons[(at + by + buttons.length) % buttons.length]?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        popoverTarget={id}
      >
        {children}
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        className="menu"
        onKeyDown={move}
        onBeforeToggle={(event) => {
          if (event.newState === "open" && button.current) placeAt(event.currentTarget, button.current);
        }}
        onToggle={(event) => {
          const now = event.newState === "open";
          setOpen(now);
          if (now) event.currentTarget.querySelector("button")?.focus();
        }}
      >
        {items.map(({ text, chosen, onChoose }) => (
          <button
            key={text}
            type="button"
            {...(chosen === undefined
              ? { role: "menuitem" }
              : { role: "menuitemradio", "aria-checked": chosen })}
            onClick={() => {
              list.current?.hidePopover();
              onChoose();
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </>
  );
}

/** Puts what opens below its button, or above it where there is more room. */
export function placeAt(menu: HTMLElement, button: HTMLElement) {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const above = top > window.innerHeight - bottom;
  const onTheRight = left > window.innerWidth / 2;
  Object.assign(menu.style, {
    top: above ? "auto" : `${bottom + 4}px`,
    bottom: above ? `${window.innerHeight - top + 4}px` : "auto",
    left: onTheRight ? "auto" : `${left}px`,
    right: onTheRight ? `${window.innerWidth - right}px` : "auto",
  });
}
