import type { Clock } from "../../shared/clock.ts";
import type { Timeline } from "../../shared/timeline/index.ts";
import type { Turn } from "./turn.ts";

/** Ends claims that nobody renewed ([K2]), by the server's clock. */
export class Leases {
  private readonly clock: Clock;
  private readonly next: (work: (turn: Turn) => void) => void;
  private of: Timeline["tools"] | null = null;
  private version = -1;
  private cancel = () => {};

  /** @param next does something in the room's next turn */
  constructor(clock: Clock, next: (work: (turn: Turn) => void) => void) {
    this.clock = clock;
    this.next = next;
  }

  /** To be called when claims may have changed. */
  watch({ tools, versions }: Timeline): void {
    if (this.of === tools && this.version === versions.tools) return;
    this.of = tools;
    this.version = versions.tools;
    this.cancel();
    const ends = [...tools.values()].flatMap(({ status, until = 0 }) =>
      status === "claimed" ? [until] : [],
    );
    if (ends.length === 0) return;
    const wait = Math.max(0, Math.min(...ends) - this.clock.now());
    this.cancel = this.clock.after(wait, () => this.next((turn) => this.end(turn)));
  }

  private end(turn: Turn): void {
    for (const { toolCallId, runId, status, n = 0, until = 0 } of [...turn.timeline.tools.values()])
      if (status === "claimed" && until <= turn.at)
        turn.log({ kind: "tool", by: { kind: "system" }, toolCallId, runId, status: "released", n });
    // A clock that went back would wake it too early: then it looks again.
    this.version = -1;
  }
}
