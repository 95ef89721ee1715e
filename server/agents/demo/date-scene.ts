import { contentToText, type RunAgentInput, type Tool } from "@ag-ui/core";
import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";
import { inMarkdown } from "./wording.ts";

/** The tool by which the app lets a person pick a date. */
const TOOL = "pick_date";
const DAY_MS = 86_400_000;

/** What came of asking for a date. */
export type Picked = { date: string } | { refused: string };

/**
 * Asks a person for a date, by a tool that their window has; without that, in words.
 * @param tools what clients can do
 * @param now ms since the epoch
 */
export function* dateScene(scene: Scene, tools: readonly Tool[], now: number): Generator<Beat> {
  const { narrator, board } = scene;
  const id = narrator.id("m");
  if (!tools.some(({ name }) => name === TOOL)) {
    const text = "No window here can show me a calendar. Tell me the day in words, and I take it.";
    return yield* narrator.message(id, narrator.words(id, scene.opening([text])));
  }
  yield* narrator.message(
    id,
    narrator.words(id, scene.opening(["Pick a day in your window.", "You decide."])),
  );
  const question = board.name === "" ? "When shall it be?" : `When shall it be: ${board.name}?`;
  const args = { question, from: new Date(now + DAY_MS).toISOString().slice(0, 10) };
  yield* narrator.ask(narrator.id("t"), { name: TOOL, args, parentMessageId: id });
}

/** The date a person has just picked; `null` when nobody was asked for one last. */
export function pickedDate({ messages }: RunAgentInput): Picked | null {
  const last = messages.at(-1);
  if (last?.role !== "tool") return null;
  const isDate = messages.some(
    (message) =>
      message.role === "assistant" &&
      message.toolCalls?.some(({ id, function: { name } }) => id === last.toolCallId && name === TOOL),
  );
  if (!isDate) return null;
  if (last.error !== undefined) return { refused: last.error };
  try {
    const { date } = JSON.parse(contentToText(last.content)) as { date?: unknown };
    return typeof date === "string" ? { date } : { refused: "" };
  } catch {
    return { refused: "" };
  }
}

/** Says what the date means. */
export function* pickedScene(scene: Scene, picked: Picked): Generator<Beat> {
  const { narrator } = scene;
  const id = narrator.id("m");
  const text =
    "date" in picked
      ? scene.say([
          `**${inMarkdown(readable(picked.date))}** it is. I plan towards that day.`,
          `Good: **${inMarkdown(readable(picked.date))}**. Everything else follows from it.`,
        ])
      : "Then we leave the day open. Say *pick a date* when you want to decide.";
  yield* narrator.message(id, narrator.words(id, text));
}

/** 2026-12-09 → Wednesday, 9 December 2026 */
function readable(date: string): string {
  const day = new Date(`${date}T12:00:00Z`);
  if (Number.isNaN(day.getTime())) return date;
  return day.toLocaleDateString("en-GB", {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
}
