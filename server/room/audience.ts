import type { Clock } from "../../shared/clock.ts";
import type { ThreadKey } from "../store/store.ts";
import { RoomAwareness } from "./awareness.ts";
import { People } from "./people.ts";
import { peopleTeller } from "./people-teller.ts";
import type { Broadcast, Caller } from "./port.ts";
import { type CaretOf, StandIns } from "./stand-ins.ts";

/** What an audience is told through. */
type AudienceHost = {
  clock: Clock;
  publish(key: ThreadKey, broadcast: Broadcast): void;
  changed(key: ThreadKey): void;
};

/** How long what a connection told stays when it has gone: a window that comes back at once does not flicker. Ms. */
const GRACE_MS = 3_000;

/** Who is in a room ([W1]), and what they tell about themselves ([Y5]). */
export class Audience {
  readonly people = new People();
  readonly awareness = new RoomAwareness();
  private readonly standIns = new StandIns(this.people, this.awareness);
  private caretOf: CaretOf = () => null;
  /** Whether anybody follows the awareness, and stand-ins are told. */
  private isFollowed = false;
  private readonly tell: (update: Uint8Array, by: string | null) => void;
  /** Tells soon who is here, and where agents are. */
  private readonly tellPeople: () => void;
  private readonly clock: Clock;

  constructor(key: ThreadKey, host: AudienceHost) {
    this.clock = host.clock;
    this.tell = (update, by) => host.publish(key, { kind: "awareness", update, by });
    this.tellPeople = peopleTeller(host.clock, () => {
      const change = this.people.takeChange();
      if (change) {
        host.publish(key, { kind: "people", ...change });
        host.changed(key);
      }
      if (this.isFollowed) this.tellStandIns();
    });
  }

  /**
   * Says which agents work; to be called whenever that, or where they write, may have changed.
   * @param caretOf where an agent writes, asked when it is told
   */
  agentsAre(agents: readonly { id: string; name: string }[], caretOf: CaretOf): void {
    this.caretOf = caretOf;
    if (this.people.setAgents(agents) || (this.isFollowed && agents.length > 0)) this.tellPeople();
  }

  /** What everybody tells, for somebody who follows it from now on; `null` when there is nothing. */
  follow(): Uint8Array | null {
    this.isFollowed = true;
    this.tellStandIns();
    return this.awareness.all();
  }

  join({ connection, client, user }: Caller): void {
    this.people.join(connection, { client, user });
    this.tellPeople();
  }

  /** Somebody has gone. @returns whether they were here */
  leave(connection: string): boolean {
    if (this.awareness.size > 0)
      this.clock.after(GRACE_MS, () => {
        const gone = this.awareness.leave(connection);
        if (gone) this.tell(gone, null);
      });
    if (!this.people.leave(connection)) return false;
    this.tellPeople();
    return true;
  }

  setData(connection: string, data: Record<string, unknown>): void {
    if (this.people.setData(connection, data)) this.tellPeople();
  }

  /** Takes in what a client of the document tells, and hands it on. @returns why it is refused, else `null` */
  take({ connection, user }: Caller, update: Uint8Array) {
    const hadNone = !this.awareness.has(connection);
    const taken = this.awareness.take(connection, user, update);
    if (taken && !(taken instanceof Uint8Array)) return taken;
    if (taken) this.tell(taken, connection);
    if (taken && hadNone) this.tellPeople();
    return null;
  }

  private tellStandIns(): void {
    for (const update of this.standIns.refresh(this.caretOf)) this.tell(update, null);
  }
}
