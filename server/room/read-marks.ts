import type { Timeline } from "../../shared/timeline/index.ts";
import type { ReadRow } from "../store/store.ts";
import { textOf } from "./thread-info.ts";
import type { Turn } from "./turn.ts";

/** What was said in a thread: seqs at which the texts of messages were written last, ascending; all of them, and those of each person. */
type Said = { all: number[]; own: Map<string, number[]> };

/** [W4] Up to which seq each person has read a thread, and how much of what was said that is. */
export class ReadMarks {
  private readonly byUser: Map<string, ReadRow>;

  /** @param rows as the store has them */
  constructor(rows: readonly ReadRow[] = []) {
    this.byUser = new Map(rows.map((row) => [row.user, row]));
  }

  /** Moves somebody's mark forward; a seq that is not ahead of it changes nothing. */
  move(turn: Turn, user: string, upTo: number): void {
    const seq = Math.min(upTo, turn.lastSeq);
    const known = this.byUser.get(user);
    if (seq < 0 || (known && known.seq >= seq)) return;
    const said = saidIn(turn.timeline);
    turn.setInfo({ said: said.all.length });
    this.put(turn, { user, seq, heard: heardBy(user, seq, said) });
  }

  /**
   * Counts anew what each person has heard; what somebody said themselves they have.
   * @returns how much was said
   */
  recount(turn: Turn): number {
    const said = saidIn(turn.timeline);
    for (const { user, seq, heard: before } of [...this.byUser.values()]) {
      const heard = heardBy(user, seq, said);
      if (heard !== before) this.put(turn, { user, seq, heard });
    }
    return said.all.length;
  }

  private put(turn: Turn, row: ReadRow): void {
    this.byUser.set(row.user, row);
    turn.read(row);
  }
}

/** What people and agents have said: no tool results, thoughts or activities, and no call without a word. */
function saidIn(timeline: Timeline): Said {
  const all: number[] = [];
  const own = new Map<string, number[]>();
  for (const { message, turn: id, asOf, said = asOf } of timeline.messages.slots) {
    if (message.role !== "user" && (message.role !== "assistant" || textOf(message) === "")) continue;
    all.push(said);
    const { by, agent } = timeline.turns.get(id) ?? {};
    if (agent !== undefined || by?.kind !== "user") continue;
    const mine = own.get(by.id);
    if (mine) mine.push(said);
    else own.set(by.id, [said]);
  }
  // Messages stand in the order in which they are shown.
  for (const seqs of [all, ...own.values()]) seqs.sort((a, b) => a - b);
  return { all, own };
}

function heardBy(user: string, seq: number, { all, own }: Said): number {
  const mine = own.get(user) ?? [];
  return upTo(all, seq) + mine.length - upTo(mine, seq);
}

/** How many of the ascending numbers are not above `limit`. */
function upTo(sorted: readonly number[], limit: number): number {
  let low = 0;
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
