import type { AgentInfo, Author, Message, Person, Turn } from "../react/index.ts";
import type { Named } from "./mentions.ts";
import { words } from "./words.ts";

/** Somebody who is here, in however many windows. */
export type Here = { id: string; name: string; typing: boolean; windows: number };

/** The people who are here, each once, in the order they came. */
export function everyone(people: readonly Person[]): Here[] {
  const byId = new Map<string, Here>();
  for (const { user, kind, data } of people) {
    if (kind === "agent") continue;
    const known = byId.get(user.id);
    byId.set(user.id, {
      id: user.id,
      name: user.name,
      typing: (known?.typing ?? false) || data?.typing === true,
      windows: (known?.windows ?? 0) + 1,
    });
  }
  return [...byId.values()];
}

/** Whom one can mention in a thread: the server's agents, who is here, and who has written; not oneself. */
export function mentionable(
  agents: readonly AgentInfo[],
  people: readonly Person[],
  turns: readonly Turn[],
  me: string,
): Named[] {
  const names = new Map(turns.flatMap(({ by }) => (by.kind === "user" && by.name ? [[by.id, by.name]] : [])));
  for (const { id, name } of everyone(people)) names.set(id, name);
  names.delete(me);
  return [
    ...agents.map(({ id, name }): Named => ({ kind: "agent", id, name })),
    ...[...names].map(([id, name]): Named => ({ kind: "user", id, name })),
  ];
}

/** How many clients are here that nobody names: of more than a hundred only the number is told. */
export function unnamed(people: readonly Person[], count: number): number {
  return Math.max(0, count - people.filter(({ kind }) => kind !== "agent").length);
}

/** The name under which somebody wrote something. */
export function nameOf(by: Author, message?: Message): string {
  if (by.kind === "user" || by.kind === "service") {
    const stamped = message && "name" in message ? message.name : undefined;
    return by.name || stamped || words.message.someone;
  }
  return by.kind === "agent" ? by.id : words.app;
}
