import type { ClientSnapshot, ThreadStatus } from "../react/index.ts";
import { words } from "./words.ts";

/** What the pill says. */
export type PillState = {
  kind: "live" | "loading" | "connecting" | "reconnecting" | "offline";
  /** Seconds until the next attempt. */
  seconds?: number;
  people: number;
  unsent: number;
};

/**
 * Reads the state of the pill.
 * @param people how many are here
 * @param now ms
 */
export function pillState(
  { status, retryAt, unsent }: Pick<ClientSnapshot, "status" | "retryAt" | "unsent">,
  thread: ThreadStatus,
  people: number,
  now: number,
): PillState {
  const rest = { people, unsent };
  if (status === "live") return { kind: thread === "live" ? "live" : "loading", ...rest };
  if (status === "connecting") return { kind: "connecting", ...rest };
  if (status === "reconnecting") {
    const seconds = retryAt === undefined ? 0 : Math.ceil((retryAt - now) / 1_000);
    return { kind: "reconnecting", ...(seconds > 0 && { seconds }), ...rest };
  }
  return { kind: "offline", ...rest };
}

/** The words of the pill, seconds and unsent messages included. */
export function pillText(state: PillState): string {
  const { seconds } = state;
  return seconds === undefined
    ? pillTextWithoutTime(state)
    : withUnsent(words.connection.reconnectingIn(seconds), state);
}

/** The same without what changes every second. */
export function pillTextWithoutTime(state: PillState): string {
  const { kind, people } = state;
  if (kind === "live") return words.connection.live(people);
  return withUnsent(words.connection[kind], state);
}

function withUnsent(text: string, { unsent }: PillState): string {
  return unsent > 0 ? `${text}, ${words.connection.unsent(unsent)}` : text;
}
