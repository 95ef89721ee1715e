import type { Random } from "./random.ts";
import { capital } from "./wording.ts";

/** A time that somebody names: one day, a month, or some other span of days. */
export type When = { kind: "day" | "month" | "span"; text: string };

const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);
const MONTH =
  "(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
const DAY = "([12]\\d|3[01]|0?[1-9])(?:st|nd|rd|th)?";
const YEAR = "(?:,? (\\d{4}))?\\b";
/** "12 March", "12th of March 2027" */
const DAY_FIRST = new RegExp(`\\b${DAY}(?: of)? ${MONTH}\\b${YEAR}`, "i");
/** "March 12", "Mar 12th, 2027" */
const MONTH_FIRST = new RegExp(`\\b${MONTH}\\.? ${DAY}\\b(?!:)${YEAR}`, "i");
const NUMBERS = /\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}\/\d{1,2}\/\d{4})\b/;
const NEAR_DAY = /\b(?:(?:(?:this|next) )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|tomorrow)\b/i;
// "may" is a month only where a month can stand
const MONTH_ALONE =
  /\b(?:January|February|March|April|June|July|August|September|October|November|December|(?<=\b(?:in|by|of|until|before) )May)\b/i;
const SPAN = /\b(?:this|next) (?:week|month|quarter)\b/i;

/** The time a text names; the next two weeks when it names none. */
export function whenOf(text: string): When {
  const date = dateOf(text) ?? NUMBERS.exec(text)?.[0];
  if (date !== undefined) return { kind: "day", text: date };
  const near = NEAR_DAY.exec(text)?.[0].toLowerCase();
  if (near !== undefined)
    return {
      kind: "day",
      text: near.replace(/^(this |next |)(\w+day)$/, (_, which, day) => which + capital(day)),
    };
  const month = MONTH_ALONE.exec(text)?.[0];
  if (month !== undefined) return { kind: "month", text: capital(month.toLowerCase()) };
  return { kind: "span", text: SPAN.exec(text)?.[0].toLowerCase() ?? "next two weeks" };
}

function dateOf(text: string): string | undefined {
  const dayFirst = DAY_FIRST.exec(text);
  const monthFirst = dayFirst ? null : MONTH_FIRST.exec(text);
  const [day, month, year] = dayFirst?.slice(1) ?? [monthFirst?.[2], monthFirst?.[1], monthFirst?.[3]];
  if (day === undefined || month === undefined) return undefined;
  const name = MONTHS.find((each) => each.toLowerCase().startsWith(month.slice(0, 3).toLowerCase()));
  return [Number(day), name, year].filter((part) => part !== undefined).join(" ");
}

const HOURS = ["09:30", "10:00", "11:00", "14:00", "15:30", "16:00"];

/** `count` different elements in their order. */
function some<T>(list: readonly T[], count: number, random: Random): T[] {
  const left = [...list];
  while (left.length > count) left.splice(Math.floor(random.between(0, left.length)), 1);
  return left;
}

/** Three times within `when`, one after the other; the first is the one to take. */
export function slotsIn(when: When, random: Random): [string, string, string] {
  if (when.kind === "day") return some(HOURS, 3, random).map((hour) => `${when.text} ${hour}`) as never;
  const days =
    when.kind === "month"
      ? Array.from({ length: 27 }, (_, i) => `${i + 2} ${when.text}`)
      : ["Mon", "Tue", "Wed", "Thu", "Fri"];
  return some(days, 3, random).map((day) => `${day} ${random.pick(HOURS)}`) as never;
}
