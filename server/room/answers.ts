import type { AnswerAck, Author, InterruptInfo, UpFrameOf } from "../../shared/protocol/index.ts";
import { faultOfAnswer, openInterrupts } from "../run/interrupts.ts";
import type { InputRecord } from "./input-record.ts";
import { Rejection } from "./port.ts";
import type { Room } from "./room.ts";
import type { Turn } from "./turn.ts";

/**
 * [R10] Takes a person's answer to an interrupt; with the last one the run that goes on begins.
 * @param warn told when the agent's schema is of no use: then any answer is right
 * @throws Rejection
 */
export function answerInterrupt(
  room: Room,
  turn: Turn,
  by: Author,
  frame: UpFrameOf<"answer">,
  warn: (what: string, details: object) => void,
): AnswerAck {
  const { interruptId, status, payload, metadata } = frame;
  const { interrupts } = turn.timeline;
  const interrupt = interrupts.get(interruptId);
  const fault = faultOfAnswer(interrupt, frame, turn.at);
  if (fault && "code" in fault) throw new Rejection(fault.code, fault.message, fault.details);
  const { runId, agent } = interrupt as InterruptInfo;
  if (fault)
    warn("the schema of an interrupt is of no use", {
      thread: room.key.thread,
      run: runId,
      agent,
      error: fault.warning,
    });
  turn.log({
    kind: "answer",
    by,
    interruptId,
    runId,
    status,
    ...(payload !== undefined && status === "resolved" && { payload }),
    ...(metadata && { metadata }),
  });
  const resumeRunId = room.responses.resume(turn);
  const remaining = openInterrupts(turn.timeline).length;
  return { seq: turn.lastSeq, remaining, ...(resumeRunId !== undefined && { resumeRunId }) };
}

/** [R10] Something else is said: whatever is open is answered with "cancelled". */
export function setAside(turn: Turn, { agent, by }: Pick<InputRecord, "agent" | "by">): void {
  for (const { id, runId, agent: asker } of openInterrupts(turn.timeline))
    turn.log({
      kind: "answer",
      by,
      interruptId: id,
      runId,
      status: "cancelled",
      ...(asker !== agent && { waits: true }),
    });
}
