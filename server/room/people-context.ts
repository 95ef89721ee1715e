import type { Author, Context, User } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";

/** So many people are named; of more, only how many they are is told. */
const NAMED = 50;

/**
 * [R13] Says who takes part: those who wrote what is shown, and those who are here.
 * @param by in whose name the run begins; first of them
 * @param here the names they have now count
 * @returns nothing where there are fewer than two
 */
export function peopleContext(timeline: Timeline, by: Author, here: readonly User[]): Context[] {
  const people = new Map<string, string>();
  const asked = by.kind === "user";
  if (asked) people.set(by.id, by.name ?? by.id);
  const meet = (id: string, name: string) => {
    // The name somebody asks under is newer than those they wrote under before.
    if (!asked || id !== by.id) people.set(id, name);
  };
  for (const { message, turn: id } of timeline.slots) {
    const turn = message.role === "user" ? timeline.turns.get(id) : undefined;
    const author = turn?.by;
    if (turn?.agent === undefined && author?.kind === "user") meet(author.id, author.name ?? author.id);
  }
  for (const { id, name } of here) meet(id, name);
  if (people.size < 2) return [];
  const [first, ...others] = [...people].map(([id, name]) => ({ name, id }));
  const named = (asked ? others : [first, ...others]).slice(0, NAMED);
  const more = people.size - named.length - (asked ? 1 : 0);
  const value = { ...(asked && { askedBy: first }), others: named, ...(more > 0 && { more }) };
  return [{ description: "People in this conversation", value: JSON.stringify(value) }];
}
