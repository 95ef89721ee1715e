import { type ReactNode, use, useState } from "react";
import { HoldStill } from "../hold-still.ts";
import { Icon } from "./icons.tsx";

/** One line that opens to more. What is in it is made when it is opened. */
export function Folded({
  line,
  children,
  className = "",
}: {
  line: ReactNode;
  children: () => ReactNode;
  className?: string;
}) {
  const holdStill = use(HoldStill);
  const [open, setOpen] = useState(false);
  return (
    <details
      className={`folded ${className}`}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is pressed, and by keys too */}
      <summary onClick={(event) => holdStill(event.currentTarget)}>
        <Icon name="chevron" size={12} />
        <span className="folded-line">{line}</span>
      </summary>
      {open && <div className="folded-body">{children()}</div>}
    </details>
  );
}
