/** What an activity says of itself, as far as it can be shown. */
export type Progress = {
  title: string;
  /** How much is done, where that is known. */
  count: { done: number; total: number } | null;
  items: { title: string; done: boolean }[];
};

/**
 * Reads an activity's content. Agents put there what they like: everything that is not understood is left out.
 * @param type the activity's type, its title when it has none
 */
export function readProgress(type: string, content: Record<string, unknown>): Progress {
  const list = [content.items, content.steps, content.tasks].find(Array.isArray) ?? [];
  const items = list.flatMap(readItem);
  const title = [content.title, content.name, content.message, content.text].find(
    (each) => typeof each === "string" && each.trim() !== "",
  );
  const total = numberOf(content.total) ?? (items.length || null);
  const done = numberOf(content.done) ?? (items.length > 0 ? items.filter((item) => item.done).length : null);
  return {
    title: typeof title === "string" ? title : spoken(type),
    count: total && done !== null ? { done: Math.min(Math.max(0, done), total), total } : null,
    items,
  };
}

function readItem(item: unknown): Progress["items"] {
  if (typeof item === "string") return [{ title: item, done: false }];
  if (typeof item !== "object" || item === null) return [];
  const { title, name, description, done, status } = item as Record<string, unknown>;
  const text = [title, name, description].find((each) => typeof each === "string");
  if (typeof text !== "string") return [];
  return [
    { title: text, done: done === true || /^(?:done|completed|complete|success)$/i.test(String(status)) },
  ];
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** `webSearch` and `web_search` as people write it: "Web search". */
function spoken(type: string): string {
  const text = type
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[_-]+/g, " ")
    .trim()
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
