import { useEffect, useState } from "react";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";

const SHOWN_MS = 1_600;

/** Puts a text on the clipboard and says so for a moment. */
export function CopyButton({ text, className = "" }: { text: () => string; className?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const label = copied ? words.message.copied : words.message.copy;
  return (
    <button
      type="button"
      className={`quiet copy ${className}`}
      onClick={() => void write(text()).then(setCopied)}
    >
      <Icon name={copied ? "check" : "copy"} size={14} />
      <span aria-live="polite">{label}</span>
    </button>
  );
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages without https have no clipboard of that kind.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "unseen";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
