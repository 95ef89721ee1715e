import type { Message } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";
import type { ThreadChange } from "../store/store.ts";

const EXCERPT = 120;
const TITLE = 60;

/** What thread lists show of a timeline. @param at now, ms */
export function threadInfo(timeline: Timeline, at: number): ThreadChange {
  const last = timeline.list.findLast(
    (m) => m.role === "user" || (m.role === "assistant" && textOf(m) !== ""),
  );
  return {
    updatedAt: at,
    ...(last && { lastMessage: excerpt(textOf(last), EXCERPT) }),
    running: timeline.runs.size > 0,
    waiting: [...timeline.interrupts.values()].some((i) => !i.answered) || timeline.tools.size > 0,
  };
}

/** A title for a thread that has none: the beginning of the first message. `undefined` without text */
export function titleFrom(messages: readonly Message[]): string | undefined {
  const text = messages.map(textOf).find((t) => t.trim() !== "");
  return text === undefined ? undefined : excerpt(text, TITLE);
}

/** What a message says, without pictures and files; empty when that is nothing. */
export function textOf(message: Message): string {
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
}

/** Cuts at a word, never inside of a surrogate pair. */
function excerpt(text: string, length: number): string {
  const line = text
    .slice(0, length * 4)
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= length) return line;
  const cut = line.slice(0, length - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > length / 2 ? cut.slice(0, space) : cut).replace(/[\ud800-\udbff]$/, "")}…`;
}
