import * as Y from "yjs";
import type { Json } from "../protocol/agui.ts";
import type { TextPaths } from "./text-paths.ts";

/** Name of the root type that holds the state while it is an object. */
export const STATE = "state";
/** Name of the root type with a state that is not an object, as plain JSON. */
export const AGUI = "agui";
/** Key of the state that is no object, within {@link AGUI}. */
export const ROOT = "root";

/** Name of the root type with the prompt that people write together, a text. */
export const DRAFT = "draft";

/**
 * Makes a Y value of a JSON value: `Y.Map` of an object, `Y.Array` of an array, `Y.Text` of a string whose path
 * is that of a text field; other scalars stay JSON.
 * @param path where it is going to stand
 */
export function toY(value: Json, path: readonly string[], texts: TextPaths): unknown {
  if (typeof value === "string") return texts.matches(path) ? new Y.Text(value) : value;
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const array = new Y.Array();
    array.push(value.map((item, i) => toY(item, [...path, String(i)], texts)));
    return array;
  }
  const map = new Y.Map();
  for (const [key, item] of Object.entries(value)) map.set(key, toY(item, [...path, key], texts));
  return map;
}

/** The JSON value of what stands in a Y type. */
export function toJson(value: unknown): Json {
  if (value instanceof Y.Text) return value.toString();
  if (value instanceof Y.AbstractType) return value.toJSON() as Json;
  return value as Json;
}

/** The state a document holds. */
export function stateOf(doc: Y.Doc): Json {
  const agui = doc.getMap(AGUI);
  return agui.has(ROOT) ? (agui.get(ROOT) as Json) : (doc.getMap(STATE).toJSON() as Json);
}
