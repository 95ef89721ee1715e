import type { Author, EntryOf } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";
import { Rejection, type RoomRequest } from "./port.ts";
import type { Room } from "./room.ts";
import type { StateChangeRow } from "./state-changes.ts";
import type { Turn } from "./turn.ts";

/** A move of the head to another turn ([T6]). */
export type HeadMove = { to: string | null; why: EntryOf<"head">["why"]; keepState: boolean };

/**
 * Where a request would move the head; `null` when it moves nothing.
 * @throws Rejection not_found when it names a turn that is not there
 */
export function headMove(room: Room, frame: RoomRequest): HeadMove | null {
  const { turns } = room.timeline;
  if (frame.type === "head") {
    known(room, frame.turn);
    const to = frame.turn === null ? null : turns.tip(frame.turn);
    return { to, why: "switch", keepState: frame.keepState === true };
  }
  if (frame.type !== "submit") return null;
  const keepState = frame.keepState === true;
  if (frame.parent !== undefined) {
    known(room, frame.parent);
    const isNew = (frame.messages?.length ?? 0) > 0 || frame.draft !== undefined;
    return { to: frame.parent, why: isNew ? "edit" : "regenerate", keepState };
  }
  if (frame.policy !== "rollback") return null;
  const asked = room.responses.askedFirst;
  return asked === undefined ? null : { to: turns.get(asked)?.parent ?? null, why: "rollback", keepState };
}

/** Seq of the log at which the state was what a branch from a turn begins with. */
export function seqAt({ turns, messages }: Timeline, turn: string | null): number {
  if (turn === null) return 0;
  const end = turns.get(turn)?.end?.seq;
  if (end !== undefined) return end;
  // What people say does not change: it was as it is when it was said.
  return messages.slots.reduce((seq, slot) => (slot.turn === turn ? Math.max(seq, slot.asOf) : seq), 0);
}

/**
 * Moves the head, and makes the state what it was there.
 * @param stored the stored changes of the state behind {@link seqAt}
 */
export function moveHead(
  room: Room,
  turn: Turn,
  by: Author,
  { to, why, keepState }: HeadMove,
  stored: readonly StateChangeRow[],
): void {
  const seq = seqAt(turn.timeline, to);
  turn.log({ kind: "head", by, turn: to, why });
  if (!keepState) room.state.shared.goBack(turn, by, stored, seq);
}

/** Whether a run is on the way from the beginning to a turn. */
export function isBefore({ turns }: Timeline, run: string, turn: string | null): boolean {
  for (let at = turn; at !== null; at = turns.get(at)?.parent ?? null) if (at === run) return true;
  return false;
}

/**
 * The branch a run is on, for agents that remember ([T7]): the last turn on its path that is not the first to begin
 * where it does; `undefined` on the first branch there was.
 * @param run which is about to begin
 */
export function branchOf({ turns }: Timeline, run: string): string | undefined {
  const path = turns.current();
  // Something has gone on from here before.
  if (turns.next(turns.head).length > 0) return run;
  return path.findLast(({ id }) => turns.siblings(id)[0] !== id)?.id;
}

/** Whether {@link headMove} would find what a request names. */
export function isSound({ timeline }: Room, frame: RoomRequest): boolean {
  const turn = frame.type === "head" ? frame.turn : frame.type === "submit" ? frame.parent : null;
  return turn == null || timeline.turns.get(turn) !== undefined;
}

function known(room: Room, turn: string | null): void {
  if (turn !== null && !room.timeline.turns.get(turn))
    throw new Rejection("not_found", "This thread has no such turn to go on from.");
}
