const DAY_MS = 86_400_000;

/** The time of day, as this browser's language writes it; without seconds. */
export function timeOfDay(at: number): string {
  return new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" }).format(at);
}

/** Date and time in full, for where one points at a time. */
export function fullTime(at: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" }).format(at);
}

/** Whether two moments are on different days here. */
export function onOtherDays(a: number, b: number): boolean {
  return midnight(a) !== midnight(b);
}

/**
 * The day of a moment.
 * @returns how many days ago when that is 0 or 1, else the date
 */
export function dayOf(at: number, now: number): 0 | 1 | string {
  // By half a day, since days have 23 to 25 hours.
  const days = Math.round((midnight(now) - midnight(at)) / DAY_MS);
  if (days === 0 || days === 1) return days;
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat(undefined, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(!sameYear && { year: "numeric" }),
  }).format(at);
}

function midnight(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
