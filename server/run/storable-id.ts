const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Whether every store can tell an id from all others: not empty, and well-formed Unicode. Half of a surrogate
 * pair becomes the same replacement character, whichever half it was.
 */
export function isStorableId(id: unknown): id is string {
  return typeof id === "string" && id.length > 0 && !LONE_SURROGATE.test(id);
}
