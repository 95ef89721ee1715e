import { useEffect, useState } from "react";

/** How long something stands: in words, and whether it is over. */
export type TimeLeft = { text: string; over: boolean };

/**
 * The time until a moment, anew every second.
 * @param until as ISO 8601
 * @returns `null` without a moment, or with one that cannot be read
 */
export function useTimeLeft(until: string | undefined): TimeLeft | null {
  const end = until === undefined ? Number.NaN : Date.parse(until);
  const [now, setNow] = useState(Date.now);
  const isOver = !(end > now);
  useEffect(() => {
    if (Number.isNaN(end) || isOver) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [end, isOver]);
  if (Number.isNaN(end)) return null;
  return { text: clockText(end - now), over: isOver };
}

/** 581,000 ms → 9:41; a day and more in days */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const days = Math.floor(seconds / 86_400);
  if (days > 0) return days === 1 ? "1 day" : `${days} days`;
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
