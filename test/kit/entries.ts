import type { AGUIEvent, Author, Entry, Message, NewEntry, RunStart } from "../../shared/protocol/index.ts";
import { reconcileSnapshot, Timeline } from "../../shared/timeline/index.ts";

/** Who writes what no agent writes. */
export const PERSON: Author = { kind: "user", id: "guest:ann", name: "Ann" };

/** A log that entries are written to, one second apart, with the timeline they fold to. */
export class TestLog {
  readonly entries: Entry[] = [];
  readonly timeline = new Timeline();

  write(entry: NewEntry): void {
    const seq = this.entries.length + 1;
    const placed = { seq, at: 1_700_000_000_000 + seq * 1_000, ...entry } as Entry;
    this.entries.push(placed);
    this.timeline.apply(placed);
  }
}

/** Logs one response of an agent: makes of its verified events what ingest makes of them. */
export class TestResponse {
  private readonly log: TestLog;
  private readonly start: RunStart;
  /** Ids of messages the agent was given. */
  private readonly given: Set<string>;
  private readonly runs = new Set<string>();
  private run = "";
  private running = false;

  constructor(log: TestLog, given: Iterable<string> = [], agent = "planner") {
    this.log = log;
    this.given = new Set(given);
    this.start = { agent, by: PERSON };
  }

  event(event: AGUIEvent): void {
    switch (event.type as string) {
      case "RUN_STARTED":
        return this.begin(event);
      case "MESSAGES_SNAPSHOT":
        return this.snapshot(event);
      case "RUN_ERROR":
        return this.fail(event);
      case "RUN_FINISHED":
        this.running = false;
    }
    this.log.write({ kind: "event", run: this.run, event });
  }

  private begin(event: AGUIEvent): void {
    const { input, ...rest } = event;
    const { messages = [], resume } = (input ?? {}) as { messages?: Message[]; resume?: unknown[] };
    this.run = event.runId as string;
    this.runs.add(this.run);
    this.running = true;
    const start = { ...this.start, ...(resume && { resumes: "" }) };
    this.log.write({ kind: "event", run: this.run, event: rest as AGUIEvent, start });
    for (const message of messages) {
      this.given.add(message.id);
      if (!this.log.timeline.messages.get(message.id))
        this.log.write({ kind: "message", turn: this.run, message });
    }
  }

  private snapshot(event: AGUIEvent): void {
    const { timeline } = this.log;
    const own = (id: string) => this.given.has(id) || this.runs.has(timeline.messages.get(id)?.turn ?? "");
    const { messages: _m, ...rest } = event;
    this.log.write({
      kind: "messages",
      run: this.run,
      ...reconcileSnapshot(timeline, event, own),
      event: rest,
    });
  }

  private fail(event: AGUIEvent): void {
    const alone = this.run === "";
    if (alone) this.run = "alone";
    const late = !this.running && !alone && { late: true as const };
    this.log.write({ kind: "event", run: this.run, event, ...(alone && { start: this.start }), ...late });
    this.running = false;
  }
}

/** What a thread has before an agent's response: messages a person sent, and the state. */
export type Before = { messages?: readonly Message[]; state?: unknown };

/** The log entries that the verified events of one response become. */
export function entriesOf(events: readonly AGUIEvent[], { messages = [], state }: Before = {}): Entry[] {
  const log = new TestLog();
  for (const message of messages) log.write({ kind: "message", turn: "before", by: PERSON, message });
  if (state !== undefined) {
    const patch = [{ op: "replace" as const, path: "", value: state }];
    log.write({ kind: "state", run: null, by: PERSON, patch, via: "door" });
  }
  const response = new TestResponse(
    log,
    messages.map(({ id }) => id),
  );
  for (const event of events) response.event(event);
  return log.entries;
}
