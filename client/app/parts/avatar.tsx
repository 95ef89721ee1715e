import type { CSSProperties } from "react";
import { initials } from "../initials.ts";
import { Icon } from "./icons.tsx";

type Shown = {
  colour: string;
  /** What it says to those who point at it or cannot see it; without one it stands beside a name. */
  label?: string;
  /** A ring: typing, or at work. */
  busy?: boolean;
};

/** A person: a disc with initials. */
export function PersonAvatar({ name, ...shown }: Shown & { name: string }) {
  return (
    <span {...attributes("avatar", shown)}>
      <span aria-hidden="true">{initials(name)}</span>
    </span>
  );
}

/** An agent: a rounded square, so that it is not taken for a person. */
export function AgentAvatar(shown: Shown) {
  return (
    <span {...attributes("avatar avatar-agent", shown)}>
      <Icon name="spark" size={14} />
    </span>
  );
}

function attributes(className: string, { colour, label, busy }: Shown) {
  return {
    className: busy ? `${className} avatar-busy` : className,
    style: { "--who": colour } as CSSProperties,
    ...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label, title: label }),
  };
}
