/** The text of a message's content: what is not text is left out. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: { type?: unknown; text?: unknown }) =>
      part?.type === "text" && typeof part.text === "string" ? [part.text] : [],
    )
    .join("\n\n");
}

/** What else is in a message's content: the kinds of its parts, with their file names. */
export function attachments(content: unknown): string[] {
  if (!Array.isArray(content)) return [];
  return content
    .filter((part: { type?: unknown }) => part?.type !== "text")
    .map((part: { type?: unknown; metadata?: { filename?: unknown } }) =>
      [part?.metadata?.filename, part?.type].filter((each) => typeof each === "string").join(", "),
    );
}
