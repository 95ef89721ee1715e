import { randomUUID } from "node:crypto";
import type { Message } from "../../shared/protocol/index.ts";
import type { AgentThread } from "../agents/agent.ts";
import type { InputQueue } from "./input-queue.ts";
import type { RunRecord } from "./input-record.ts";
import type { Turn } from "./turn.ts";

type SteerListener = (messages: readonly Message[]) => boolean;

/** What a {@link LiveThread} needs of the room. */
export type LiveThreadHost = {
  queue: InputQueue;
  people(): { id: string; name: string }[];
  hasAgent(agent: string): boolean;
  /** Does something in the room's next turn. */
  next(work: (turn: Turn) => void): void;
};

/** The thread as an agent of this process has it while its run is under way. */
export class LiveThread implements AgentThread {
  readonly id: string;
  private readonly host: LiveThreadHost;
  private readonly record: RunRecord;
  private listener: SteerListener | null = null;
  private handedTo: string | null = null;
  private isOver = false;

  constructor(id: string, record: RunRecord, host: LiveThreadHost) {
    this.id = id;
    this.record = record;
    this.host = host;
  }

  people(): { id: string; name: string }[] {
    return this.isOver ? [] : this.host.people();
  }

  on(_event: "steer", listener: SteerListener): () => void {
    this.listener = listener;
    return () => {
      if (this.listener === listener) this.listener = null;
    };
  }

  handoff(agent: string): void {
    if (!this.host.hasAgent(agent))
      throw new RangeError(`There is no agent "${agent}" on this server to hand over to.`);
    if (this.isOver) return;
    const { by } = this.record;
    if (by.kind !== "user") return;
    const inputId = randomUUID();
    const { tools, context, forwardedProps } = this.record;
    this.host.next((turn) => {
      this.takeBack(turn);
      if (this.isOver) return;
      this.handedTo = inputId;
      const asked = { tools, context, forwardedProps } as Pick<
        RunRecord,
        "tools" | "context" | "forwardedProps"
      >;
      const input = { inputId, status: "queued" as const, by, messages: [], runId: randomUUID(), agent };
      this.host.queue.add(turn, { ...asked, ...input, policy: "enqueue" }, 1);
    });
  }

  /** [Q3] Offers messages to the agent. @returns whether its run has taken them */
  steer(messages: readonly Message[]): boolean {
    if (this.isOver || !this.listener) return false;
    try {
      // A promise is no answer: whoever submitted waits for one.
      return this.listener(structuredClone(messages)) === true;
    } catch {
      return false;
    }
  }

  /** The run was stopped: nobody goes on with it. */
  takeBack(turn: Turn): void {
    if (this.handedTo !== null) this.host.queue.withdraw(turn, this.handedTo, { kind: "system" });
    this.handedTo = null;
  }

  /** The run is over. */
  end(): void {
    this.isOver = true;
    this.listener = null;
  }
}
