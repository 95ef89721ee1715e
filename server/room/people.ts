import type { Person, User } from "../../shared/protocol/index.ts";

/** What changed about who is here, since it was last told. */
export type PeopleChange = {
  n: number;
  join: Person[];
  leave: string[];
  update: Person[];
  /** How many there are, where that is more than are named. */
  count?: number;
};

/** So many clients of people are named; of more, only how many they are is told ([W1]). */
export const NAMED = 100;

/**
 * Who is in a room, by connection ([W1]). Readers see clients: two connections of one client, as while a
 * socket is replaced, are one person who neither leaves nor joins.
 */
export class People {
  private readonly byConnection = new Map<string, Person>();
  private agents: readonly Person[] = [];
  private told = new Map<string, Person>();
  /** Clients that newcomers were shown since the last change was told: whoever of them goes is missed. */
  private readonly shown = new Set<string>();
  private toldCount = 0;
  /** Number of the last change that was told. */
  n = 0;

  /** Connections of people. */
  get size(): number {
    return this.byConnection.size;
  }

  has(connection: string): boolean {
    return this.byConnection.has(connection);
  }

  /** Somebody who uses the client id of another user, as everybody can see it, gets one of their own. */
  join(connection: string, person: Person): void {
    const taken = [...this.byConnection.values()].some(
      ({ client, user }) => client === person.client && user.id !== person.user.id,
    );
    this.byConnection.set(connection, taken ? { ...person, client: connection } : person);
  }

  leave(connection: string): boolean {
    return this.byConnection.delete(connection);
  }

  /** @returns whether that connection is here */
  setData(connection: string, data: Record<string, unknown>): boolean {
    const person = this.byConnection.get(connection);
    if (!person) return false;
    this.byConnection.set(connection, { ...person, data });
    return true;
  }

  /** Says which agents have a run under way. @returns whether these are others than before */
  setAgents(agents: readonly { id: string; name: string }[]): boolean {
    const { agents: before } = this;
    if (agents.length === before.length && agents.every(({ id }, i) => before[i]?.user.id === id))
      return false;
    this.agents = agents.map((user) => ({ client: `agent:${user.id}`, user, kind: "agent" }));
    return true;
  }

  /** The newest connection of a client that is here; `undefined` when there is none. */
  connectionOf(client: string): string | undefined {
    return [...this.byConnection].findLast(([, person]) => person.client === client)?.[0];
  }

  /**
   * Who is here, by client, and behind them agents that work. The newest connection of a client counts; the first
   * hundred clients are named.
   * @returns `count` where there are more
   */
  all(): { all: Person[]; count?: number } {
    const people = [
      ...new Map([...this.byConnection.values()].map((person) => [person.client, person])).values(),
    ];
    const { agents } = this;
    if (people.length <= NAMED) return { all: [...people, ...agents] };
    return { all: [...people.slice(0, NAMED), ...agents], count: people.length };
  }

  /** The people among those who are named, each once. */
  users(): User[] {
    const people = this.all().all.filter(({ kind }) => kind !== "agent");
    return [...new Map(people.map(({ user }) => [user.id, user])).values()];
  }

  /** The same for somebody who comes now. */
  show(): { all: Person[]; count?: number } {
    const here = this.all();
    for (const { client } of here.all) this.shown.add(client);
    return here;
  }

  /** @returns what changed since this was last called, or `null` */
  takeChange(): PeopleChange | null {
    const { all, count } = this.all();
    const now = new Map(all.map((person) => [person.client, person]));
    const join = [...now.values()].filter((person) => !this.told.has(person.client));
    const known = new Set([...this.told.keys(), ...this.shown]);
    const leave = [...known].filter((client) => !now.has(client));
    this.shown.clear();
    const update = [...now.values()].filter((person) => {
      const before = this.told.get(person.client);
      return before !== undefined && before !== person;
    });
    if (join.length + leave.length + update.length === 0 && (count ?? 0) === this.toldCount) return null;
    this.told = now;
    this.toldCount = count ?? 0;
    this.n += 1;
    return { n: this.n, join, leave, update, ...(count !== undefined && { count }) };
  }
}
