import { applyPatch } from "../json-crdt/patch.ts";
import { replaceAt, valueAt } from "../json-crdt/place.ts";
import { parsePointer } from "../json-crdt/pointer.ts";
import { applyTextEdits } from "../json-crdt/text-edits.ts";
import type { Entry, EntryOf, Json, JsonPatch } from "../protocol/index.ts";

/**
 * The state behind an entry ([H10]).
 * @param state the state before it
 * @returns the same object where the entry changed nothing: what does not apply leaves the state as it is, and the
 *   run goes on (AG-UI, State)
 */
export function foldState(state: Json, entry: Entry): Json {
  switch (entry.kind) {
    case "state":
      return patched(state, entry.patch);
    case "text":
      return edited(state, entry);
    case "event":
      // Logs of other servers may hold a snapshot as it was sent.
      if ((entry.event.type as string) === "STATE_SNAPSHOT") return entry.event.snapshot as Json;
      if ((entry.event.type as string) === "STATE_DELTA")
        return patched(state, entry.event.delta as JsonPatch);
  }
  return state;
}

/** A state with a patch applied; the same one where the patch does not apply. */
export function patched(state: Json, patch: JsonPatch): Json {
  try {
    return applyPatch(state, patch);
  } catch {
    return state;
  }
}

function edited(state: Json, { path, edits }: EntryOf<"text">): Json {
  const tokens = parsePointer(path);
  const text = valueAt(state, tokens);
  return typeof text === "string" ? replaceAt(state, tokens, applyTextEdits(text, edits)) : state;
}
