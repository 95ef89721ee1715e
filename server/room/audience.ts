import type { Clock } from "../../shared/clock.ts";
import type { ThreadKey } from "../store/store.ts";
import { RoomAwareness } from "./awareness.ts";
import { DocWriters } from "./doc-writers.ts";
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

/** In the place of a connection. */
const SERVER = "";

/** Who is in a room ([W1]), and what they tell about themselves ([Y5]). */
export class Audience {
  readonly people = new People();
  readonly awareness = new RoomAwareness();
  readonly writers = new DocWriters();
  private readonly standIns = new StandIns(this.people, this.awareness);
  /** Connections that have told something since that was handed on. */
  private readonly tellers = new Set<string>();
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
    this.writers.left(connection);
    if (this.awareness.size > 0)
      this.clock.after(GRACE_MS, () => {
        if (this.awareness.leave(connection)) this.tellSoon(SERVER);
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
    if (typeof taken === "object") return taken;
    if (taken) this.tellSoon(connection);
    if (taken && hadNone) this.tellPeople();
    return null;
  }

  /** What comes at about the same time is told in one message: with many editors most of the work is sending. */
  private tellSoon(connection: string): void {
    const waits = this.tellers.size > 0;
    this.tellers.add(connection);
    if (waits) return;
    setImmediate(() => {
      const [only = SERVER] = this.tellers.size === 1 ? this.tellers : [];
      this.tellers.clear();
      const news = this.awareness.news();
      if (news) this.tell(news, only === SERVER ? null : only);
    });
  }

  private tellStandIns(): void {
    this.standIns.refresh(this.caretOf);
    this.tellSoon(SERVER);
  }
}
