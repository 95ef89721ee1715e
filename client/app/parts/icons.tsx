const PATHS = {
  plus: "M8 3v10M3 8h10",
  dots: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  close: "M4 4l8 8M12 4l-8 8",
  down: "M8 3v9.5M4 8.5l4 4 4-4",
  chevron: "M6 3.5L10.5 8 6 12.5",
  check: "M3 8.5l3.2 3.2L13 4.8",
  side: "M2.5 3.5h11v9h-11zM9.5 3.5v9",
  copy: "M5.5 5.5V3.2c0-.4.3-.7.7-.7h6.6c.4 0 .7.3.7.7v6.6c0 .4-.3.7-.7.7h-2.3M3.2 5.5h6.6c.4 0 .7.3.7.7v6.6c0 .4-.3.7-.7.7H3.2a.7.7 0 0 1-.7-.7V6.2c0-.4.3-.7.7-.7z",
  spark: "M8 2.5v11M3.2 5.2l9.6 5.6M3.2 10.8l9.6-5.6",
  people:
    "M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM1.8 13c.2-2.4 2-3.7 4.2-3.7s4 1.3 4.2 3.7M10.6 3.2a2.2 2.2 0 0 1 0 4.1M12 9.6c1.3.5 2.1 1.7 2.2 3.4",
  lock: "M4 7.2h8v6H4zM5.6 7V5.2a2.4 2.4 0 0 1 4.8 0V7",
  stop: "M4.5 4.5h7v7h-7z",
  pencil: "M3 13l.6-2.8 6.9-6.9a1 1 0 0 1 1.4 0l.8.8a1 1 0 0 1 0 1.4l-6.9 6.9zM9.3 4.5l2.2 2.2",
} as const;

/** The name of one of the icons the app draws. */
export type IconName = keyof typeof PATHS;

/** A line drawing in the colour of the text around it; it says nothing to those who cannot see it. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      className={`icon icon-${name}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "dots" || name === "spark" ? 2 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
