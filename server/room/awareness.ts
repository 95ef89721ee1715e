import { randomInt } from "node:crypto";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { byteSize } from "../../shared/byte-size.ts";
import type { Json } from "../../shared/protocol/index.ts";

/** Who a client of the document is, as the server knows it. */
export type AwarenessUser = { id: string; name: string };

/** Bytes of JSON that one state may have. */
const LONGEST = 4 * 1024;
/** Ids that one connection may have at a time: a window has one, and for a moment another one when Yjs changes it. */
const IDS = 8;
/** Clients that have gone and are remembered. */
const REMEMBERED = 1_000;
/** Client ids below this are the server's. */
const RESERVED = 1024;
/** Yjs takes ids of 32 bits: those above are for whom the server speaks. */
const STAND_INS = 2 ** 32;
/** In the place of a connection. */
const SERVER = "";

type State = {
  connection: string;
  user: string;
  clock: number;
  json: string;
  /** Another connection of the user that said the same: it may be the client that has come back. */
  heir?: string | undefined;
};

/** A message that is refused, with what to say to its sender. */
export type AwarenessRefusal = { code: 4402 | 4409 | 4413; reason: string };

/**
 * What the clients of a document tell about themselves: carets, selections, presence ([Y5]). Unlike the awareness of
 * y-protocols it believes nobody: an id belongs to the connection that announced it, and the user in a state is put
 * there by the server. What changes is gathered until it is asked for.
 */
export class RoomAwareness {
  private readonly states = new Map<number, State>();
  /** Ids by the connection that has them. */
  private readonly ids = new Map<string, Set<number>>();
  /** Clocks of those that have gone, the newest last. */
  private readonly gone = new Map<number, number>();
  /** For whom the server speaks, with their ids. */
  private readonly standIns = new Map<string, number>();
  /** Connections that another one of the same user took an id from, with the id. */
  private readonly outdone = new Set<string>();
  /** What has changed and was not handed on, by id. */
  private changed = new Map<number, [clock: number, json: string]>();

  /** Number of clients that have told something. */
  get size(): number {
    return this.states.size;
  }

  /** Whether a connection has told something that stands. */
  has(connection: string): boolean {
    return this.ids.has(connection);
  }

  /** What has changed since this was last called, as one update; `null` when nothing has. */
  news(): Uint8Array | null {
    const { changed } = this;
    if (changed.size === 0) return null;
    this.changed = new Map();
    return encodeUpdate([...changed].map(([id, [clock, json]]) => [id, clock, json]));
  }

  /** Everything at this moment as one update; `null` when there is nothing. */
  all(): Uint8Array | null {
    if (this.states.size === 0) return null;
    return encodeUpdate([...this.states].map(([id, { clock, json }]) => [id, clock, json]));
  }

  /**
   * Takes in what a connection tells.
   * @param update as y-protocols encodes it
   * @returns whether there is anything new in it, or why it is refused: nothing of it counts then
   */
  take(connection: string, user: AwarenessUser, update: Uint8Array): boolean | AwarenessRefusal {
    const told = readUpdate(update);
    if (!Array.isArray(told)) return told;
    const read = told.filter((one) => !this.isEcho(connection, user, one));
    let own = this.ids.get(connection)?.size ?? 0;
    for (const { id, state } of read) {
      const known = this.states.get(id);
      // Somebody who comes back may be here before the old socket is known to be dead; two that both live are not one.
      const isTaken = known && known.connection !== connection && known.user !== user.id;
      if (isTaken || this.outdone.has(`${connection} ${id}`))
        return { code: 4409, reason: `Another client uses the id ${id}. Take a new one and connect again.` };
      if (known?.connection !== connection && state !== null && ++own > IDS)
        return { code: 4413, reason: `A connection may have ${IDS} awareness ids at a time.` };
    }
    let isNews = false;
    for (const { id, clock, state } of read) {
      const known = this.states.get(id);
      // A state that is gone is told with the clock it had.
      if (known ? clock < known.clock || (clock === known.clock && state !== null) : state === null) continue;
      if (known && known.connection !== connection) this.outdone.add(`${known.connection} ${id}`);
      if (state === null) this.isGone(id, clock);
      else this.put(id, { connection, user: user.id, clock, json: JSON.stringify(stamped(state, user)) });
      isNews = true;
    }
    return isNews;
  }

  /** A connection has gone, and what it told goes with it. @returns whether it had told anything */
  leave(connection: string): boolean {
    for (const one of this.outdone) if (one.startsWith(`${connection} `)) this.outdone.delete(one);
    for (const state of this.states.values()) if (state.heir === connection) state.heir = undefined;
    let isNews = false;
    for (const id of [...(this.ids.get(connection) ?? [])]) {
      const state = this.states.get(id) as State;
      const { heir, clock } = state;
      if (heir === undefined) {
        this.isGone(id, clock);
        isNews = true;
      } else {
        this.forget(id, connection);
        this.own(id, heir);
        state.connection = heir;
        state.heir = undefined;
      }
    }
    return isNews;
  }

  /**
   * Tells something for somebody who cannot.
   * @param who any name; what is told for it replaces what was told before
   * @param json an object; `null` when they have gone
   */
  speak(who: string, json: string | null): void {
    let id = this.standIns.get(who);
    const clock = (id === undefined ? undefined : this.states.get(id)?.clock) ?? 0;
    if (json === null) {
      if (id === undefined) return;
      this.standIns.delete(who);
      return this.isGone(id, clock);
    }
    if (id === undefined) {
      // By chance, so that a room that was loaded anew is not taken for its past.
      do id = STAND_INS + randomInt(2 ** 47);
      while (this.states.has(id));
      this.standIns.set(who, id);
    }
    this.put(id, { connection: SERVER, user: SERVER, clock: clock + 1, json });
  }

  /** Stock providers send back whatever they hear, also of clients that have gone since. */
  private isEcho(connection: string, user: AwarenessUser, { id, clock, state }: Told): boolean {
    const known = this.states.get(id);
    if (known && known.connection !== connection && clock === known.clock && state && known.user === user.id)
      known.heir = connection;
    if (known) return known.connection !== connection && clock <= known.clock;
    return clock <= (this.gone.get(id) ?? -1);
  }

  private put(id: number, state: State): void {
    const before = this.states.get(id)?.connection;
    if (before !== undefined && before !== state.connection) this.forget(id, before);
    this.own(id, state.connection);
    this.states.set(id, state);
    this.changed.set(id, [state.clock, state.json]);
  }

  private isGone(id: number, clock: number): void {
    const state = this.states.get(id);
    if (state) this.forget(id, state.connection);
    this.states.delete(id);
    this.changed.set(id, [clock, "null"]);
    this.gone.set(id, clock);
    const [oldest] = this.gone.keys();
    if (this.gone.size > REMEMBERED && oldest !== undefined) this.gone.delete(oldest);
  }

  private own(id: number, connection: string): void {
    const ids = this.ids.get(connection);
    if (ids) ids.add(id);
    else this.ids.set(connection, new Set([id]));
  }

  private forget(id: number, connection: string): void {
    const ids = this.ids.get(connection);
    ids?.delete(id);
    if (ids?.size === 0) this.ids.delete(connection);
  }
}

type Told = { id: number; clock: number; state: Record<string, Json> | null };

function readUpdate(update: Uint8Array): Told[] | AwarenessRefusal {
  const told: Told[] = [];
  try {
    const decoder = decoding.createDecoder(update);
    let left = decoding.readVarUint(decoder);
    if (left === 0 && !decoding.hasContent(decoder)) return told;
    for (; left > 0; left -= 1) {
      const id = decoding.readVarUint(decoder);
      const clock = decoding.readVarUint(decoder);
      const length = decoding.readVarUint(decoder);
      if (length > LONGEST)
        return { code: 4413, reason: `An awareness state may have ${byteSize(LONGEST)}.` };
      const json = new TextDecoder("utf-8", { fatal: true }).decode(decoding.readUint8Array(decoder, length));
      const state = JSON.parse(json) as Json;
      // What the server said for somebody comes back as an echo.
      if (id < RESERVED || (state !== null && (typeof state !== "object" || Array.isArray(state)))) break;
      told.push({ id, clock, state });
      if (left === 1 && !decoding.hasContent(decoder)) return told;
    }
  } catch {
    // Said below.
  }
  return {
    code: 4402,
    reason: `That was no awareness update: each state is an object or null, its id at least ${RESERVED}.`,
  };
}

/** The state with the user it is by; how they look (their colour) is for them to say. Nobody says to be an agent. */
function stamped(state: Record<string, Json>, { id, name }: AwarenessUser): Record<string, Json> {
  const { user } = state;
  const said = typeof user === "object" && user !== null && !Array.isArray(user) ? user : {};
  const { kind: _, ...look } = said;
  return { ...state, user: { ...look, id, name } };
}

function encodeUpdate(states: readonly [id: number, clock: number, json: string][]): Uint8Array {
  const encoder = encoding.createEncoder();
  encoding.writeVarUint(encoder, states.length);
  for (const [id, clock, json] of states) {
    encoding.writeVarUint(encoder, id);
    encoding.writeVarUint(encoder, clock);
    encoding.writeVarString(encoder, json);
  }
  return encoding.toUint8Array(encoder);
}
