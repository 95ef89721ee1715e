import { words } from "./words.ts";

const PARTS = 3;

/**
 * What a tool gave back, in a few words: how many things, or the facts that were not asked with already.
 * @param args the call's arguments, JSON text that may be incomplete
 */
export function resultSummary(content: string, args: string): string {
  const value = parsed(content);
  if (Array.isArray(value)) return countOf(value);
  if (isObject(value)) {
    const asked = parsed(args);
    const known = isObject(asked) ? asked : {};
    const news = Object.entries(value).filter(
      ([key, each]) => JSON.stringify(known[key]) !== JSON.stringify(each),
    );
    const parts = news.slice(0, PARTS).map(([key, each]) => `${key}: ${brief(each)}`);
    return parts.join(", ");
  }
  return content.replace(/\s+/g, " ").trim();
}

/** What a tool was asked with, in a few words: the values, and what is no object as it is. */
export function argsSummary(args: string): string {
  const value = parsed(args);
  return isObject(value) ? Object.values(value).map(brief).join(", ") : args;
}

/** JSON text with line breaks where people expect them; any other text as it is. */
export function readable(json: string): string {
  const value = parsed(json);
  return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : json;
}

function brief(value: unknown): string {
  if (Array.isArray(value))
    return value.length > 0 && value.every((each) => typeof each !== "object")
      ? value.join(", ")
      : countOf(value);
  return typeof value === "object" && value !== null ? "{…}" : String(value);
}

function countOf(list: readonly unknown[]): string {
  return list.length === 0 ? words.work.noItems : words.work.items(list.length);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
