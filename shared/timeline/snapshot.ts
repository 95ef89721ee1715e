import type { AGUIEvent, Json, Message, Snapshot, Turn } from "../protocol/index.ts";
import type { Slot } from "./message-list.ts";
import { Timeline } from "./timeline.ts";

/** Where a snapshot stands in the log, and whose it is. */
export type SnapshotPlace = { thread: string; epoch: string; seq: number; mark: string };

/** No turns at all, as a range of places. */
const NOWHERE: readonly [number, number] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** A run of messages with their attribution, as `snapshot` and the ack of `earlier` carry it. */
export type MessagePage = Pick<Snapshot, "messages" | "meta" | "turns" | "before">;

/**
 * Builds the snapshot of a timeline ([J4]).
 * @param history how many of the newest visible messages; reaches further back when a message that is being
 *   written, or whose call is, would otherwise be cut off
 */
export function takeSnapshot(
  timeline: Timeline,
  place: SnapshotPlace,
  history = Number.POSITIVE_INFINITY,
): Snapshot {
  const slots = timeline.slots;
  const open = openMessages(timeline);
  let first = Math.max(0, slots.length - history);
  if (first > 0 && open.size > 0) {
    const oldest = slots.findIndex((slot) => open.has(slot.message.id));
    if (oldest >= 0) first = Math.min(first, oldest);
  }
  const roots = forks(timeline, null);
  return {
    type: "snapshot",
    ...place,
    head: timeline.turns.head,
    title: timeline.title,
    archived: timeline.archived,
    ...page(timeline, slots, first, slots.length),
    ...(first === 0 && roots && { roots }),
    state: timeline.state,
    runs: timeline.runs.all().map(({ runId, agent, by, turn, started, open: constructs }) => ({
      runId,
      agent,
      by,
      turn,
      started,
      open: [...constructs.values()],
    })),
    inputs: [...timeline.inputs.values()],
    interrupts: [...timeline.interrupts.values()],
    tools: [...timeline.tools.values()],
    settings: timeline.settings,
    members: timeline.members,
  };
}

/**
 * From which place on a client that has just been sent `snapshot` holds the thread's messages; -Infinity when
 * it holds them all. When an entry takes `timeline.messages.reach` below that place the entry is not for this
 * client: it gets a new snapshot.
 * @param timeline the timeline the snapshot was taken of, before any further entry
 */
export function windowStart(timeline: Timeline, snapshot: Snapshot): number {
  if (snapshot.before === 0) return Number.NEGATIVE_INFINITY;
  const first = snapshot.messages[0];
  return (first && timeline.messages.get(first.id)?.place) ?? timeline.messages.end;
}

/**
 * The `limit` visible messages before one of them, for `earlier`.
 * @returns `null` when that message is not visible
 */
export function takeEarlier(timeline: Timeline, before: string, limit: number): MessagePage | null {
  const slots = timeline.slots;
  const end = slots.findIndex((slot) => slot.message.id === before);
  return end < 0 ? null : page(timeline, slots, Math.max(0, end - limit), end);
}

/**
 * Makes a timeline out of a snapshot: the start of a client that joins.
 * Held against the server's own: equal messages, state, runs and open constructs from there on.
 */
export function fromSnapshot(snapshot: Snapshot): Timeline {
  const timeline = new Timeline();
  timeline.seq = snapshot.seq;
  timeline.before = snapshot.before;
  timeline.title = snapshot.title;
  timeline.archived = snapshot.archived;
  timeline.settings = snapshot.settings;
  timeline.members = snapshot.members;
  timeline.state = snapshot.state as Json;
  timeline.turns.roots = snapshot.roots ?? [];
  let parent: string | null = null;
  snapshot.turns.forEach((turn, place) => {
    // The turns of a snapshot are those of one path, in order.
    timeline.turns.restore({ ...turn, parent, place });
    parent = turn.id;
  });
  timeline.turns.move(snapshot.head);
  restoreMessages(timeline, snapshot);
  for (const { runId, agent, by, turn, started, open } of snapshot.runs) {
    timeline.runs.restore({ runId, agent, by, turn, started, open: new Map(), calls: new Map() });
    for (const event of open) timeline.runs.follow(runId, event as AGUIEvent);
  }
  for (const input of snapshot.inputs) timeline.inputs.set(input.inputId, input);
  for (const interrupt of snapshot.interrupts) timeline.interrupts.set(interrupt.id, interrupt);
  for (const tool of snapshot.tools) timeline.tools.set(tool.toolCallId, tool);
  return timeline;
}

/**
 * Puts an `earlier` page before what a timeline holds. The page must be the one before its first message: one
 * that was asked for before a snapshot took the messages' place is of no use any more.
 * @param seq the page holds the effect of all entries up to this one; they are not applied to it again
 */
export function addEarlier(timeline: Timeline, earlier: MessagePage, seq: number): void {
  timeline.turns.prepend(earlier.turns);
  timeline.messages.prepend(
    earlier.messages.map((message, i) => {
      const [turn, at] = earlier.meta[i] ?? [0, 0];
      return { message, turn: earlier.turns[turn]?.id ?? "", at };
    }),
    seq,
  );
  timeline.before = earlier.before;
}

function restoreMessages(timeline: Timeline, { messages, meta, turns, seq: asOf }: Snapshot): void {
  messages.forEach((message: Message, place) => {
    const [turn, at] = meta[place] ?? [0, 0];
    timeline.messages.restore({ message, place, turn: turns[turn]?.id ?? "", at, asOf });
  });
}

function page(timeline: Timeline, slots: readonly Slot[], first: number, end: number): MessagePage {
  const cut = slots.slice(first, end);
  // Turns without messages count too: the head may move to them. So all of the path between the first and the
  // last that the page needs, from the root on where nothing is before it, up to the turn of the message behind.
  const needed = cut.map((slot) => slot.turn);
  if (end < slots.length) needed.push((slots[end] as Slot).turn);
  else {
    for (const run of timeline.runs.all()) if (timeline.turns.visible(run.turn)) needed.push(run.turn);
    if (timeline.turns.head !== null) needed.push(timeline.turns.head);
  }
  const places = needed.map((id) => timeline.turns.get(id)?.place ?? 0);
  const [from, to] = places.reduce(([low, high], at) => [Math.min(low, at), Math.max(high, at)], NOWHERE);
  const turns: Turn[] = [];
  const index = new Map<string, number>();
  for (const { parent: _p, place, ...turn } of timeline.turns.all()) {
    if ((first > 0 && place < from) || place > to || !timeline.turns.visible(turn.id)) continue;
    index.set(turn.id, turns.length);
    const { next: _n, ...rest } = turn;
    const next = forks(timeline, turn.id);
    turns.push(next ? { ...rest, next } : rest);
  }
  return {
    messages: cut.map((slot) => slot.message),
    meta: cut.map((slot) => [index.get(slot.turn) ?? 0, slot.at]),
    turns,
    before: first,
  };
}

/** The turns that begin at the end of one, unless that is only the one that is shown. */
function forks({ turns }: Timeline, id: string | null): string[] | undefined {
  const next = turns.next(id);
  const isPlain = next.length === 0 || (next.length === 1 && turns.visible(next[0] as string));
  return isPlain ? undefined : next;
}

/** Ids of messages that an active run is writing, or whose tool call it is writing. */
function openMessages(timeline: Timeline): Set<string> {
  const ids = new Set<string>();
  for (const run of timeline.runs.all()) {
    for (const event of run.open.values()) {
      if (event.toolCallId !== undefined) {
        const owner = timeline.messages.ownerOf(event.toolCallId as string);
        if (owner) ids.add(owner.message.id);
      } else if (event.messageId !== undefined) ids.add(event.messageId as string);
    }
  }
  return ids;
}
