import { keep, kept } from "./storage.ts";

/**
 * What somebody was about to send in a thread. `alone`: they write it where nobody sees it; otherwise `text` is what
 * they typed before the draft of all was there.
 */
export type Draft = { text: string; note: boolean; agent?: string; alone?: true };

const EMPTY: Draft = { text: "", note: false };
const keyOf = (thread: string) => `draft.${thread}`;

/** The draft of a thread in this window; it outlives switching threads and reloading the page. */
export function readDraft(thread: string): Draft {
  try {
    const value: unknown = JSON.parse(kept("window", keyOf(thread)) ?? "null");
    if (typeof value !== "object" || value === null) return EMPTY;
    const { text, note, agent, alone } = value as Record<string, unknown>;
    return {
      text: typeof text === "string" ? text : "",
      note: note === true,
      ...(typeof agent === "string" && { agent }),
      ...(alone === true && { alone }),
    };
  } catch {
    return EMPTY;
  }
}

const fields = new Map<string, (text: string, note: boolean) => void>();

/** Takes what {@link putBack} gives a thread, while its field is shown. @returns stops that */
export function takeBack(thread: string, take: (text: string, note: boolean) => void): () => void {
  fields.set(thread, take);
  return () => {
    if (fields.get(thread) === take) fields.delete(thread);
  };
}

/** Puts a text that was sent in vain into the field of its thread again, before what stands there by now. */
export function putBack(thread: string, text: string, note: boolean): void {
  fields.get(thread)?.(text, note);
}

/** Keeps a draft; one that says nothing is forgotten. */
export function keepDraft(thread: string, draft: Draft): void {
  const { text, note, agent, alone } = draft;
  const isNothing = text === "" && !note && agent === undefined && !alone;
  keep("window", keyOf(thread), isNothing ? null : JSON.stringify(draft));
}
