import { type DiffOptions, diffJson } from "../../shared/json-crdt/diff.ts";
import { jsonEqual } from "../../shared/json-crdt/patch.ts";
import type { StateChange } from "../../shared/json-crdt/y-read.ts";
import type { Json, JsonPatch } from "../../shared/protocol/index.ts";
import { foldState, patched } from "../../shared/timeline/fold-state.ts";

/** What an agent said of its state, without its private parts. */
export type Said = { snapshot: Json } | { delta: JsonPatch };

/** What is more than this is not kept: it would make the log larger than the agent made it. UTF-16 units. */
const LONGEST = 64 * 1024;

/**
 * What an agent said, for its entry, where that is not what became of the state ([H15]).
 * @param before the state before the entry
 * @param change what the entry, and the `text` entries behind it, say
 * @returns a patch: of a delta the agent's own, of a snapshot what leads to it from the state that `change.patch`
 *   makes; `undefined` where the entries say the same, or where it is too long to keep
 */
export function asSent(
  said: Said,
  before: Json,
  change: StateChange,
  diff?: DiffOptions,
): JsonPatch | undefined {
  if ("delta" in said) {
    // Not by what it does: that may be the same in one state, and another thing in that of a client that did not merge.
    return jsonEqual(said.delta, change.patch) && change.texts.length === 0 ? undefined : short(said.delta);
  }
  const after = patched(before, change.patch);
  const told = change.texts.reduce<Json>(
    (state, { path, edits }) => foldState(state, { kind: "text", run: null, seq: 0, at: 0, path, edits }),
    after,
  );
  return jsonEqual(said.snapshot, told) ? undefined : short(diffJson(after, said.snapshot, diff));
}

function short(sent: JsonPatch): JsonPatch | undefined {
  return JSON.stringify(sent).length > LONGEST ? undefined : sent;
}
