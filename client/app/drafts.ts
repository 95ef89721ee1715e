import { keep, kept } from "./storage.ts";

/** What somebody was about to send in a thread. */
export type Draft = { text: string; note: boolean; agent?: string };

const EMPTY: Draft = { text: "", note: false };
const keyOf = (thread: string) => `draft.${thread}`;

/** The draft of a thread in this window; it outlives switching threads and reloading the page. */
export function readDraft(thread: string): Draft {
  try {
    const value: unknown = JSON.parse(kept("window", keyOf(thread)) ?? "null");
    if (typeof value !== "object" || value === null) return EMPTY;
    const { text, note, agent } = value as Record<string, unknown>;
    return {
      text: typeof text === "string" ? text : "",
      note: note === true,
      ...(typeof agent === "string" && { agent }),
    };
  } catch {
    return EMPTY;
  }
}

/** Keeps a draft; one that says nothing is forgotten. */
export function keepDraft(thread: string, draft: Draft): void {
  const { text, note, agent } = draft;
  keep("window", keyOf(thread), text === "" && !note && agent === undefined ? null : JSON.stringify(draft));
}
