import type { Author, InterruptInfo, UpFrameOf } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";
import type { Fault } from "./fault.ts";
import { checkAgainst } from "./response-schema.ts";

/** The answers of people to all that an agent asked, as its next run gets them. */
export type Resume = {
  /** The run that asked. */
  runId: string;
  agent: string;
  /** Who answered last: the run goes on in their name. */
  by: Author;
  entries: ResumeEntry[];
};
/** One of AG-UI's `resume`. */
export type ResumeEntry = {
  interruptId: string;
  status: "resolved" | "cancelled";
  payload?: unknown;
  metadata?: unknown;
};

/** Interrupts that wait for an answer, on the branch that is shown. */
export function openInterrupts({ interrupts, turns }: Timeline): InterruptInfo[] {
  return [...interrupts.values()].filter(({ answered, runId }) => !answered && turns.visible(runId));
}

/** What an agent's next run gets in `resume`: the answers it has not had. `null` when there are none */
export function answersFor({ interrupts, turns }: Timeline, agent: string): Resume | null {
  const of = [...interrupts.values()].filter((each) => each.agent === agent && turns.visible(each.runId));
  const entries: ResumeEntry[] = [];
  let last = { by: { kind: "system" } as Author, seq: 0 };
  for (const { id, answered } of of) {
    if (!answered) return null;
    const { status, payload, metadata } = answered;
    if (answered.seq > last.seq) last = answered;
    entries.push({
      interruptId: id,
      status,
      ...(payload !== undefined && { payload }),
      ...(metadata !== undefined && { metadata }),
    });
  }
  const [first] = of;
  return first ? { runId: first.runId, agent, by: last.by, entries } : null;
}

/**
 * The run that has to go on by itself, because all it asked is answered ([R10]); `null` when there is none. Answers
 * that an agent could not be given wait for whoever asks it next.
 */
export function dueResume(timeline: Timeline): Resume | null {
  const agents = new Set<string>();
  for (const { agent, answered, runId } of timeline.interrupts.values())
    if (answered && !answered.waits && timeline.turns.visible(runId)) agents.add(agent);
  for (const agent of agents) {
    const resume = answersFor(timeline, agent);
    if (resume) return resume;
  }
  return null;
}

/**
 * Whether an answer counts ([R10]).
 * @param now by the server's clock, ms
 * @returns why not, or `null`; `warning` when the agent's schema is of no use
 */
export function faultOfAnswer(
  interrupt: InterruptInfo | undefined,
  { status, payload }: Pick<UpFrameOf<"answer">, "status" | "payload">,
  now: number,
): Fault | { warning: string } | null {
  if (!interrupt)
    return {
      code: "not_found",
      message: "There is no such question: it was answered and is over, or it never was.",
    };
  const { answered, expiresAt, responseSchema } = interrupt;
  if (answered) {
    const { by, status, payload } = answered;
    const who = "name" in by && by.name ? by.name : "Somebody";
    return {
      code: "already_answered",
      message: `${who} has answered this already.`,
      details: { by, status, ...(payload !== undefined && { payload }) },
    };
  }
  if (status === "cancelled") return null;
  // One that cannot be read never expires.
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now)
    return { code: "expired", message: "The time for an answer is over. It can be cancelled." };
  const verdict = checkAgainst(responseSchema, payload);
  if (verdict.kind === "unusable") return { warning: verdict.why };
  if (verdict.kind === "fits") return null;
  const where = verdict.where === "" ? "The answer" : `"${verdict.where.slice(1).replaceAll("/", ".")}"`;
  return {
    code: "bad_message",
    message: `${where} does not fit what was asked for: it ${verdict.why}.`,
    details: { where: verdict.where },
  };
}
