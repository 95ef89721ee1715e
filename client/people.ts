import type { Clock } from "../shared/clock.ts";
import type { DownFrameOf, Person } from "../shared/protocol/index.ts";
import { createTimer } from "./timer.ts";

/** How long `typing` stands without being renewed, ms. */
export const TYPING_MS = 6_000;
/** Shortest time between two presence frames, ms. */
const PRESENCE_EVERY_MS = 100;

/** Applies a `people` frame to the list of who is here; one item for each client. */
export function applyPeople(people: readonly Person[], frame: DownFrameOf<"people">): readonly Person[] {
  const byClient = new Map((frame.all ?? people).map((person) => [person.client, person]));
  for (const client of frame.leave ?? []) byClient.delete(client);
  for (const person of [...(frame.join ?? []), ...(frame.update ?? [])]) byClient.set(person.client, person);
  return [...byClient.values()];
}

/** What this client tells the others about itself in one thread; lost with the connection, so sent again. */
export interface OwnPresence {
  /** What is told, `typing` included. */
  readonly told: Record<string, unknown>;
  /** Replaces everything but `typing`. */
  set(data: Record<string, unknown>): void;
  /** `true` stands for {@link TYPING_MS} unless it is said again. */
  setTyping(typing: boolean): void;
  /** The thread was joined: nobody there knows anything yet. */
  joined(): void;
  /** Stops its timers. */
  end(): void;
}

/**
 * Makes an {@link OwnPresence}.
 * @param send sends a presence frame; false when the thread is not joined
 */
export function createPresence(clock: Clock, send: (data: Record<string, unknown>) => boolean): OwnPresence {
  const ending = createTimer(clock);
  const pause = createTimer(clock);
  let data: Record<string, unknown> = {};
  let typing = false;
  let sent = "{}";

  const told = () => (typing ? { ...data, typing } : data);
  const publish = () => {
    if (pause.running) return;
    const all = told();
    const text = JSON.stringify(all);
    if (text === sent || !send(all)) return;
    sent = text;
    pause.set(PRESENCE_EVERY_MS, publish);
  };
  const setTyping = (now: boolean) => {
    ending.clear();
    if (now) ending.set(TYPING_MS, () => setTyping(false));
    typing = now;
    publish();
  };
  return {
    get told() {
      return told();
    },
    set(next) {
      data = next;
      publish();
    },
    setTyping,
    joined() {
      sent = "{}";
      publish();
    },
    end() {
      typing = false;
      ending.clear();
      pause.clear();
    },
  };
}
