import { randomUUID } from "node:crypto";
import type { Author, Message, SubmitAck, UpFrameOf } from "../../shared/protocol/index.ts";
import { mentionedAgent, startsRun, triggerOf } from "../../shared/trigger.ts";
import { offeredCalls } from "../run/claims.ts";
import { openInterrupts } from "../run/interrupts.ts";
import { headMove, isBefore, moveHead } from "./branches.ts";
import type { InputRecord } from "./input-record.ts";
import { Rejection } from "./port.ts";
import { conflict } from "./request-faults.ts";
import type { RequestHost } from "./requests.ts";
import type { Room } from "./room.ts";
import type { StateChangeRow } from "./state-changes.ts";
import { titleFrom } from "./thread-info.ts";
import type { Turn } from "./turn.ts";
import { stampMessages } from "./user-message.ts";

/**
 * [S1] Takes what a person submits: an input that runs now or waits, or a message that starts nothing, because it is a
 * note or by the thread's trigger ([S6]).
 * @throws Rejection
 */
export function submit(
  room: Room,
  turn: Turn,
  by: Author & { kind: "user" },
  client: string,
  frame: UpFrameOf<"submit">,
  { agents, limits }: RequestHost,
  stored: readonly StateChangeRow[],
): SubmitAck {
  const { inputId, policy = "enqueue" } = frame;
  const move = headMove(room, frame);
  const { timeline } = turn;
  const { draft } = frame;
  const messages = stampMessages(
    [...(draft ? [draftMessage(draft)] : []), ...(frame.messages ?? [])],
    { id: by.id, name: by.name ?? by.id },
    frame.start === false,
    limits.message,
  );
  if (isTaken(room, timeline, inputId)) throw conflict(frame);
  refuseKnown(timeline, room, messages);

  const mentioned = mentionedAgent(messages);
  const starts = move?.why === "regenerate" || startsRun(triggerOf(timeline), mentioned !== undefined);
  if (!(frame.start ?? starts)) {
    if (messages.length === 0)
      throw new Rejection("bad_message", "What starts nothing needs at least one message.");
    if (draft) cutDraft(room, by, inputId, draft.text);
    name(turn, messages);
    for (const message of messages) turn.log({ kind: "message", by, turn: inputId, message });
    return { inputId, status: "done", seq: turn.lastSeq };
  }

  const wanted = frame.agent ?? mentioned;
  const agent = agents.get(wanted);
  if (!agent) {
    const which = wanted === undefined ? "any agent" : `an agent "${wanted}"`;
    throw new Rejection("no_agent", `This server does not have ${which}. Choose another one.`, {
      agents: agents.list().map(({ id }) => id),
    });
  }
  if (move && policy !== "interrupt" && policy !== "rollback") refuseBusy(room);
  // What was asked on a branch that is left is not asked on the other one.
  const open = openInterrupts(timeline).flatMap(({ id, runId }) =>
    move && !isBefore(timeline, runId, move.to) ? [] : [id],
  );
  if (open.length > 0 && !frame.interrupts)
    throw new Rejection(
      "interrupted",
      "An agent waits for an answer here. Answer it, or say that it is cancelled by what you say instead.",
      { interrupts: open },
    );
  if (policy === "parallel" && !room.responses.hasSlot)
    throw new Rejection("busy", "This thread has as many runs under way as it may have.");
  if (policy === "reject" && (room.responses.busy || offeredCalls(timeline).length > 0))
    throw new Rejection("busy", "An agent is at work in this thread. Wait for it to end, or stop it.");
  if (room.responses.queue.size >= limits.queue)
    throw new Rejection("busy", `${limits.queue} messages are waiting already. Wait until some have run.`);
  const runId = frame.runId ?? randomUUID();
  if (isTaken(room, timeline, runId) || runId === inputId)
    throw new Rejection("conflict", "The run id is taken by another run. Choose a new one.");
  if (draft) cutDraft(room, by, inputId, draft.text);
  name(turn, messages);
  const steered = frame.steer ? room.responses.steer(agent.id, messages) : undefined;
  if (steered !== undefined) {
    // [Q3] The run has it: what was said is in the conversation, and nothing waits.
    for (const message of messages) turn.log({ kind: "message", by, turn: inputId, message });
    turn.log({ kind: "input", by, inputId, status: "done", messages, runId: steered, agent: agent.id });
    return { inputId, status: "done", runId: steered, seq: turn.lastSeq };
  }
  const { tools, context, forwardedProps } = frame;
  if (move) {
    room.responses.stopAll(turn, by);
    moveHead(room, turn, by, move, stored);
  }
  room.responses.add(turn, {
    inputId,
    status: "queued",
    by,
    messages,
    runId,
    agent: agent.id,
    policy,
    client,
    ...(tools && { tools }),
    ...(context && { context }),
    ...(forwardedProps !== undefined && { forwardedProps }),
    ...(frame.interrupts && { interrupts: frame.interrupts }),
  });
  const input = timeline.inputs.get(inputId);
  return {
    inputId,
    status: input?.status ?? "failed",
    runId,
    ...(input?.place !== undefined && { place: input.place }),
    seq: turn.lastSeq,
  };
}

/** @throws Rejection busy when something runs or waits: it would go on on another branch than it was meant for */
export function refuseBusy(room: Room): void {
  if (room.responses.pending || offeredCalls(room.timeline).length > 0)
    throw new Rejection("busy", "An agent is at work in this thread. Wait for it to end, or stop it.");
}

function draftMessage({ messageId, text, mentions }: NonNullable<UpFrameOf<"submit">["draft"]>) {
  if (text.trim() === "") throw new Rejection("bad_message", "The draft is empty. Write something first.");
  const metadata = mentions && { cothread: { mentions } };
  return { id: messageId, role: "user", content: text, ...(metadata && { metadata }) };
}

/**
 * Takes what was sent out of the shared draft ([S5]): what was typed behind it since stays.
 * @throws Rejection draft_sent when the draft is another one than whoever pressed saw
 */
function cutDraft(room: Room, by: Author & { kind: "user" }, inputId: string, text: string): void {
  const { document } = room.state.shared;
  if (!document.cutDraft(text)) {
    const { draftSent } = document;
    const who = draftSent ? `${draftSent.by.name ?? "Somebody"} has sent it` : "It has changed";
    throw new Rejection("draft_sent", `${who} since you looked. Nothing was sent.`, draftSent ?? {});
  }
  // When this is not committed, the document goes with it.
  document.draftSent = { by, inputId };
}

/** Whether something of the thread has the id: runs and inputs share their ids, because both are turns. */
function isTaken(room: Room, timeline: Turn["timeline"], id: string): boolean {
  if (timeline.turns.get(id) || timeline.inputs.get(id)) return true;
  const { queue } = room.responses;
  return (
    [...timeline.inputs.values()].some(({ runId }) => runId === id) || queue.some(({ runId }) => runId === id)
  );
}

/** The first message names a thread that has no title. */
function name(turn: Turn, messages: Message[]): void {
  const title = turn.timeline.title === "" ? titleFrom(messages) : undefined;
  if (title === undefined) return;
  turn.log({ kind: "thread", by: { kind: "system" }, title });
  turn.setInfo({ title });
}

/**
 * Refuses messages under ids that stand for others.
 * @param own an input whose messages these are to be: their ids are free for it
 * @throws Rejection conflict
 */
export function refuseKnown(
  timeline: Turn["timeline"],
  room: Room,
  messages: Message[],
  own?: Pick<InputRecord, "messages">,
): void {
  const mine = new Set(own?.messages.map(({ id }) => id));
  const seen = new Set<string>();
  for (const { id } of messages) {
    const isQueued = room.responses.queue.hasMessage(id) && !mine.has(id);
    if (timeline.messages.get(id) || isQueued || seen.has(id))
      throw new Rejection(
        "conflict",
        `The message id "${id}" is taken by another message. Choose a new one.`,
      );
    seen.add(id);
  }
}
