import type { ThreadHost } from "./thread-host.ts";
import type { ThreadSync } from "./thread-sync.ts";
import { createTimer } from "./timer.ts";

/** How often a mark is moved at most, ms. */
const PAUSE_MS = 1_000;

/** Makes what marks all that a thread shows as read ([W4]); it tells the server only when one has come, or is done. */
export function createReadMark(
  thread: string,
  { clock, requests }: Pick<ThreadHost, "clock" | "requests">,
  sync: ThreadSync,
): () => void {
  const pause = createTimer(clock);
  let seen: unknown;
  let version = 0;
  let seq = 0;
  let due = false;
  const tell = () => {
    if (!due) return;
    due = false;
    pause.set(PAUSE_MS, tell);
    requests.ask(JSON.stringify({ type: "read", thread, seq }), ({ ok }) => {
      if (!ok) seen = undefined;
    });
  };
  return () => {
    const { slots, runs } = sync.timeline ?? {};
    // One is the same as long as no message comes or goes, the other as long as none is begun or done.
    if (!sync.joined || !runs || (slots === seen && runs.version === version)) return;
    seen = slots;
    version = runs.version;
    seq = sync.cursor?.seq ?? 0;
    due = true;
    if (!pause.running) tell();
  };
}
