import * as Y from "yjs";
import type { Author } from "../../shared/protocol/index.ts";
import type { Broadcast, Caller, DocSync, DocTaken, RoomsPort } from "./port.ts";
import type { Room } from "./room.ts";
import { readStateVector } from "./state-vector.ts";
import type { UpdateVerdict } from "./update-check.ts";

/** An update without structs and without deletions, as peers send it that have nothing new. */
const isEmpty = (update: Uint8Array) => update.byteLength === 2 && update[0] === 0 && update[1] === 0;

/**
 * [Y1] What a peer lacks of the document as it is committed, and what the server has.
 * @param vector the peer's state vector
 */
export function answerSync(
  room: Room,
  vector: Uint8Array,
): Promise<DocSync | (DocTaken & { kind: "refused" })> {
  return room.enqueue(() => () => {
    // Once the turn is committed: what lies before it in the same turn has been stored with it.
    const { document } = room.state.shared;
    const clocks = readStateVector(vector);
    if (!clocks) return refused(4402, "That was no state vector.");
    if (document.isOfOtherGeneration(clocks))
      return refused(
        4410,
        "The document was made anew since. Load it again; edits of the old one are to be made again.",
      );
    return {
      generation: room.place.generation,
      seq: room.place.seq,
      update: document.encode(vector),
      vector: document.vector(),
      awareness: room.audience.follow(),
    };
  });
}

/** [Y3] Takes in an update of a peer; it counts when it is committed. */
export function takeUpdate(room: Room, request: Parameters<RoomsPort["docUpdate"]>[0]): Promise<DocTaken> {
  const { caller, update, via } = request;
  return room.enqueue<DocTaken>((turn) => {
    const saved = () => ({ kind: "saved" as const, seq: room.place.seq });
    if (isEmpty(update)) return saved;
    if (caller.role === "viewer")
      return () => ({ kind: "forbidden", reason: "You can read this document, and not change it." });
    const { shared } = room.state;
    const verdict = room.state.check(update);
    if (!verdict.ok && verdict.kind === "missing") {
      const { reason } = verdict;
      return () => ({ kind: "missing", reason, vector: shared.document.vector() });
    }
    if (!verdict.ok) return () => refusal(verdict);
    const { user, connection } = caller;
    const { writers } = room.audience;
    const taken = writers.taken(verdict.ids, user.id);
    if (taken !== undefined)
      return () =>
        refused(
          4409,
          `Somebody else here writes under the client id ${taken}. Take a new one and connect again.`,
        );
    writers.wrote(verdict.ids, user.id, connection);
    if (!verdict.empty) shared.merge(turn, authorOf(caller), update, via, caller.connection);
    return saved;
  });
}

/** [Y2] What a commit did to the document, for everybody who follows it. */
export function docBroadcast(
  seq: number,
  { updates, by }: { updates: readonly Uint8Array[]; by: string | null },
): Broadcast {
  const [only] = updates;
  const update = updates.length === 1 && only ? only : Y.mergeUpdates([...updates]);
  return { kind: "doc", seq, update, by };
}

function authorOf({ user }: Caller): Author {
  return { kind: "user", id: user.id, name: user.name };
}

function refused(code: (DocTaken & { kind: "refused" })["code"], reason: string) {
  return { kind: "refused" as const, code, reason };
}

function refusal(verdict: UpdateVerdict & { ok: false }): DocTaken {
  const { kind, reason } = verdict;
  return refused(
    kind === "too_big" || kind === "too_costly" ? 4413 : kind === "reserved_id" ? 4409 : 4402,
    reason,
  );
}
