import fc from "fast-check";
import type { AGUIEvent, Entry, Message } from "../../shared/protocol/index.ts";
import { PERSON, TestLog, TestResponse } from "./entries.ts";
import { expandStock } from "./stock-client.ts";
import { streams } from "./streams.ts";

/** What people do in a thread beside the agents. */
const DEEDS = ["note", "input", "queue", "withdraw", "toolResult", "state", "title", "answer"] as const;
type Deed = { deed: (typeof DEEDS)[number]; which: number };

/** A stretch of a thread in which no head moves: two agents at once, and people. */
type Stretch = { one: AGUIEvent[]; other: AGUIEvent[]; deeds: Deed[]; order: number[]; head: number };

/**
 * Logs of whole threads: agents that work at the same time, people who write, answer and edit meanwhile, and
 * heads that move between turns when all is quiet. The last entries are those of an empty run, so that a
 * stock client has heard of everything.
 * @param size about how many steps each agent takes between two moves of the head
 */
export function histories(size: number): fc.Arbitrary<Entry[]> {
  const stretch = (n: number) =>
    fc.record({
      one: streams(size, `p${n}.`),
      other: fc.oneof(fc.constant<AGUIEvent[]>([]), streams(size, `q${n}.`)),
      deeds: fc.array(fc.record({ deed: fc.constantFrom(...DEEDS), which: fc.nat(9) }), { maxLength: 6 }),
      order: fc.array(fc.nat(4), { minLength: 1, maxLength: 20 }),
      head: fc.nat(20),
    });
  return fc.tuple(stretch(0), fc.option(stretch(1)), fc.option(stretch(2))).map((stretches) => {
    const thread = new TestThread();
    for (const next of stretches) if (next) thread.live(next);
    return JSON.parse(JSON.stringify(thread.end())) as Entry[];
  });
}

class TestThread {
  private readonly log = new TestLog();
  private made = 0;

  live({ one, other, deeds, order, head }: Stretch): void {
    const agents = [one, other].map((raw, i) => {
      const response = new TestResponse(this.log, [], i ? "writer" : "planner");
      return expandStock(raw).events.map((event) => () => response.event(event));
    });
    const people = deeds.map((deed) => () => this.act(deed));
    const queues = [...agents, people];
    for (let turn = 0; queues.some((queue) => queue.length > 0); turn += 1) {
      // Agents get to say more than people do.
      const lane = Math.floor((order[turn % order.length] as number) / 2);
      const queue = queues[lane]?.length ? queues[lane] : queues.find((some) => some.length > 0);
      queue?.shift()?.();
    }
    const turns = [null, ...[...this.log.timeline.turns.all()].map(({ id }) => id)];
    if (head < 10)
      this.log.write({ kind: "head", by: PERSON, turn: turns[head % turns.length]!, why: "switch" });
  }

  end(): Entry[] {
    const response = new TestResponse(this.log);
    const ids = { threadId: "t", runId: "last" };
    for (const type of ["RUN_STARTED", "RUN_FINISHED"])
      response.event({ type, ...ids } as unknown as AGUIEvent);
    return this.log.entries;
  }

  private act({ deed, which }: Deed): void {
    const { timeline } = this.log;
    this.made += 1;
    const id = `${deed}${this.made}`;
    const message: Message = { id: `${id}.m`, role: "user", content: `said ${which}` };
    const by = PERSON;
    switch (deed) {
      case "note":
        return this.log.write({ kind: "message", turn: id, by, message });
      case "input":
        this.log.write({
          kind: "input",
          by,
          inputId: id,
          status: "running",
          messages: [message],
          runId: `${id}.r`,
        });
        this.log.write({ kind: "message", turn: id, by, message });
        return this.log.write({ kind: "input", inputId: id, status: "done" });
      case "queue":
        return this.log.write({
          kind: "input",
          by,
          inputId: id,
          status: "queued",
          messages: [message],
          place: which,
        });
      case "withdraw": {
        const [inputId] = timeline.inputs.keys();
        if (inputId) this.log.write({ kind: "input", by, inputId, status: "withdrawn" });
        return;
      }
      case "toolResult": {
        const calls = timeline.list.flatMap((m) => (m.role === "assistant" ? (m.toolCalls ?? []) : []));
        const toolCallId = calls[which % Math.max(1, calls.length)]?.id;
        if (!toolCallId) return;
        const error = which % 3 ? {} : { error: "no" };
        const result: Message = { id: `${id}.m`, role: "tool", toolCallId, content: "done", ...error };
        return this.log.write({ kind: "message", turn: id, by, message: result });
      }
      case "state":
        return this.log.write({
          kind: "state",
          run: null,
          by,
          patch: [{ op: "replace", path: "", value: { a: which } }],
          via: "patch",
        });
      case "title":
        return this.log.write({
          kind: "thread",
          by,
          title: id,
          members: { ann: which % 2 ? "owner" : null },
        });
      case "answer": {
        const [interrupt] = timeline.interrupts.values();
        if (!interrupt) return;
        const { id: interruptId, runId } = interrupt;
        return this.log.write({ kind: "answer", by, interruptId, runId, status: "resolved", payload: which });
      }
    }
  }
}
