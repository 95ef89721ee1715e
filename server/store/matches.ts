/**
 * Whether a thread is found by `ThreadsQuery.text`: the text, whatever its case, is part of the title or of
 * the last message. Every text holds the empty one.
 */
export function matches(text: string, title: string, lastMessage: string): boolean {
  const sought = text.toLowerCase();
  return title.toLowerCase().includes(sought) || lastMessage.toLowerCase().includes(sought);
}
