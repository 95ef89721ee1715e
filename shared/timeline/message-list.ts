import type { Message, ToolCall } from "../protocol/index.ts";

/** A message with its place in the thread. `message` is never changed, only replaced. */
export type Slot = {
  message: Message;
  /** Order within the thread; fractions stand between whole numbers. */
  place: number;
  /** The turn it belongs to. */
  turn: string;
  /** When it first entered the log, ms. */
  at: number;
  /** Entries up to this seq are already in it: the one that made it, or all that a page it came with knew. */
  asOf: number;
  /** Seq of the entry that wrote its text last, where that is a later one than made it. */
  said?: number;
};

/** What changed since the last {@link MessageList.takeChanges}. */
export type MessageChanges = { changed: Slot[]; dropped: string[] };

/** Where an entry puts a message: into whose turn, when, and at which seq. */
export type EntryPlace = { turn: string; at: number; seq: number };

const NO_CALLS: readonly ToolCall[] = [];

/**
 * The messages of a thread in order, whatever branch they stand on; no two have one id. Finding a message or
 * the owner of a tool call, replacing and appending are O(1); inserting costs the distance to the end.
 */
export class MessageList {
  private readonly byId = new Map<string, Slot>();
  /** tool call id → the first message, in order, that has the call */
  private readonly owners = new Map<string, Slot>();
  private readonly visible: (turn: string) => boolean;
  /** Seq of the entry that is being applied. */
  seq = 0;
  private order: Slot[] = [];
  private changed = new Set<Slot>();
  private dropped = new Set<string>();
  /** The place the next appended message gets. Never one that a message had before, dropped ones included. */
  end = 0;
  /** Grows when messages come, go or move, and not when one is replaced. */
  orderVersion = 0;
  /** Slots that were replaced since messages last came, went or moved. Whoever has looked at them empties it. */
  readonly replaced = new Set<Slot>();
  /**
   * Place of the oldest message that an applied entry counted on: one it reopened, put something behind, or
   * whose id it used again. It only sinks; whoever reads it sets it back to Infinity. A client that holds
   * only messages from a later place on would fold such an entry wrongly and needs a snapshot instead.
   */
  reach = Number.POSITIVE_INFINITY;

  /** @param visible whether the messages of a turn are shown; only these count as neighbours */
  constructor(visible: (turn: string) => boolean = () => true) {
    this.visible = visible;
  }

  get slots(): readonly Slot[] {
    return this.order;
  }

  get(id: string): Slot | undefined {
    return this.byId.get(id);
  }

  /** The message that made a tool call. */
  ownerOf(toolCallId: string): Slot | undefined {
    return this.owners.get(toolCallId);
  }

  /** The call itself, with the message that made it. */
  call(toolCallId: string): { slot: Slot; call: ToolCall } | undefined {
    const slot = this.owners.get(toolCallId);
    const call = slot && callsOf(slot.message).find((c) => c.id === toolCallId);
    return slot && call ? { slot, call } : undefined;
  }

  /** Appends; the id must be new. */
  append(message: Message, entry: EntryPlace): Slot {
    this.end += 1;
    return this.insert(this.order.length, message, entry, this.end - 1);
  }

  /** Puts a message right behind another; `null` = before all others. The id must be new. */
  insertAfter(after: Slot | null, message: Message, entry: EntryPlace): Slot {
    const index = after ? this.order.lastIndexOf(after) + 1 : 0;
    const next = this.order[index];
    if (!next) return this.append(message, entry);
    const low = after ? after.place : next.place - 2;
    const place = (low + next.place) / 2;
    const slot = this.insert(index, message, entry, place);
    // Halving a gap ends after some fifty insertions at one spot; then everything is numbered anew.
    if (place <= low || place >= next.place) this.renumber();
    return slot;
  }

  /** Puts older messages before all others; their places count down from the first. */
  prepend(older: { message: Message; turn: string; at: number }[], asOf: number): void {
    const first = this.order[0]?.place ?? 0;
    const fresh = older.filter(({ message }) => !this.byId.has(message.id));
    const slots = fresh.map((item, i) => ({ ...item, place: first - fresh.length + i, asOf }));
    this.order = [...slots, ...this.order];
    for (const slot of slots) this.index(slot);
    this.reordered();
  }

  /** Takes a stored message as it was; call in order of place. */
  restore(slot: Slot): void {
    this.order.push(slot);
    this.index(slot);
    this.reordered();
    this.end = Math.max(this.end, Math.floor(slot.place) + 1);
  }

  /** Replaces the content of a slot; the id stays. */
  replace(slot: Slot, message: Message): void {
    const old = callsOf(slot.message);
    if (message.content !== slot.message.content) slot.said = this.seq;
    slot.message = message;
    this.indexCalls(slot, old);
    this.changed.add(slot);
    this.replaced.add(slot);
  }

  drop(id: string): void {
    const slot = this.byId.get(id);
    if (!slot) return;
    this.byId.delete(id);
    this.order.splice(this.order.lastIndexOf(slot), 1);
    for (const call of callsOf(slot.message)) this.disown(call.id, slot);
    this.changed.delete(slot);
    this.dropped.add(id);
    this.reordered();
  }

  /** The last of the tool results that follow a message; the message itself when there is none. */
  lastResult(owner: Slot): Slot {
    let last = owner;
    for (let i = this.order.lastIndexOf(owner) + 1; i < this.order.length; i += 1) {
      const slot = this.order[i] as Slot;
      if (!this.visible(slot.turn)) continue;
      if (slot.message.role !== "tool") break;
      last = slot;
    }
    return last;
  }

  /** Notes that an entry counted on this message; `null` = on there being none. See {@link reach}. */
  reached(slot: Slot | null): void {
    this.reach = Math.min(this.reach, slot ? slot.place : Number.NEGATIVE_INFINITY);
  }

  /** What changed since this was last called. */
  takeChanges(): MessageChanges {
    const changes = { changed: [...this.changed], dropped: [...this.dropped] };
    this.changed = new Set();
    this.dropped = new Set();
    return changes;
  }

  private insert(index: number, message: Message, { turn, at, seq }: EntryPlace, place: number): Slot {
    const slot: Slot = { message, place, turn, at, asOf: seq };
    if (index === this.order.length) this.order.push(slot);
    else this.order.splice(index, 0, slot);
    this.index(slot);
    this.dropped.delete(message.id);
    this.changed.add(slot);
    this.reordered();
    return slot;
  }

  private index(slot: Slot): void {
    this.byId.set(slot.message.id, slot);
    this.indexCalls(slot, NO_CALLS);
  }

  // A call that several messages have belongs to the first of them in order, where AG-UI clients find it.
  private indexCalls(slot: Slot, old: readonly ToolCall[]): void {
    const calls = callsOf(slot.message);
    if (calls === old) return;
    if (calls.length === old.length && calls.every((call, i) => call.id === old[i]?.id)) return;
    for (const { id } of old) if (!calls.some((call) => call.id === id)) this.disown(id, slot);
    for (const { id } of calls) {
      const owner = this.owners.get(id);
      if (!owner || slot.place < owner.place) this.owners.set(id, slot);
    }
  }

  private disown(toolCallId: string, slot: Slot): void {
    if (this.owners.get(toolCallId) !== slot) return;
    const next = this.order.find(({ message }) => callsOf(message).some((call) => call.id === toolCallId));
    if (next) this.owners.set(toolCallId, next);
    else this.owners.delete(toolCallId);
  }

  private reordered(): void {
    this.orderVersion += 1;
    // Whoever goes by these has to look at everything now.
    this.replaced.clear();
  }

  private renumber(): void {
    this.order.forEach((slot, i) => {
      slot.place = i;
      this.changed.add(slot);
    });
    this.end = this.order.length;
    // Places that were noted elsewhere mean nothing any more.
    this.reach = Number.NEGATIVE_INFINITY;
  }
}

function callsOf(message: Message): readonly ToolCall[] {
  return message.role === "assistant" ? (message.toolCalls ?? NO_CALLS) : NO_CALLS;
}
