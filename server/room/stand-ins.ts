import type { Json, Person } from "../../shared/protocol/index.ts";
import type { RoomAwareness } from "./awareness.ts";
import type { People } from "./people.ts";

/** Where an agent writes, as editors of Yjs tell it; `null` when it writes nowhere. */
export type CaretOf = (agent: string) => Json | null;

/**
 * Awareness states for those who are here and have none of their own ([W2]): people whose client does not use Yjs, with
 * the data of their presence, and agents that work, with a caret where they write. So editors see all who are here.
 */
export class StandIns {
  private readonly people: People;
  private readonly awareness: RoomAwareness;
  private told = new Map<string, string>();

  constructor(people: People, awareness: RoomAwareness) {
    this.people = people;
    this.awareness = awareness;
  }

  /** Brings the states up to date. */
  refresh(caretOf: CaretOf): void {
    const now = new Map<string, string>();
    for (const person of this.people.all().all) {
      const state = this.stateOf(person, caretOf);
      if (state) now.set(person.client, JSON.stringify(state));
    }
    for (const client of this.told.keys()) if (!now.has(client)) this.awareness.speak(client, null);
    for (const [client, json] of now) if (this.told.get(client) !== json) this.awareness.speak(client, json);
    this.told = now;
  }

  private stateOf({ client, user, kind, data }: Person, caretOf: CaretOf): Record<string, Json> | null {
    const { id, name } = user;
    if (kind === "agent") return { user: { id, name, kind }, cursor: caretOf(id) };
    const connection = this.people.connectionOf(client);
    if (connection === undefined || this.awareness.has(connection)) return null;
    return { user: { id, name }, ...(data && { data: data as Json }) };
  }
}
