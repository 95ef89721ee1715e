import { randomUUID } from "node:crypto";
import { MessageSchema } from "@ag-ui/core/schemas";
import { byteSize } from "../../shared/byte-size.ts";
import type {
  Author,
  ClaimAck,
  Message,
  Tool,
  ToolInfo,
  ToolsAck,
  UpFrameOf,
} from "../../shared/protocol/index.ts";
import { claim, type Executor, FIRST_MS, faultOfHolder } from "../run/claims.ts";
import type { RunRecord } from "./input-record.ts";
import { type Caller, Rejection } from "./port.ts";
import type { Room } from "./room.ts";
import type { Turn } from "./turn.ts";

const executor = ({ client, user }: Caller): Executor => ({ client, by: { kind: "user", ...user } });

/** [K1] Sets what a client executes, for the runs that begin from now on. */
export function setTools(room: Room, caller: Caller, { tools }: UpFrameOf<"tools">): Promise<ToolsAck> {
  return room.enqueue(() => {
    const ack = room.tools.register(caller, tools);
    return () => ack;
  });
}

/**
 * [K2] Takes a call for a client, or renews its lease.
 * @throws Rejection claimed, gone, forbidden
 */
export function claimCall(room: Room, caller: Caller, { toolCallId }: UpFrameOf<"claim">): Promise<ClaimAck> {
  return room.enqueue((turn) => {
    const call = turn.timeline.tools.get(toolCallId);
    const mine = executor(caller);
    const claimed = claim(call, mine, (who, tool) => room.tools.provides(who, tool), turn.at);
    if ("code" in claimed) throw new Rejection(claimed.code, claimed.message, claimed.details);
    const { runId } = call as ToolInfo;
    turn.log({ kind: "tool", ...mine, toolCallId, runId, status: "claimed", ...claimed });
    return () => claimed;
  });
}

/**
 * [K2] Gives a call back, so that another client can take it.
 * @throws Rejection gone, stale_claim
 */
export function releaseCall(room: Room, caller: Caller, frame: UpFrameOf<"release">): Promise<object> {
  return room.enqueue((turn) => {
    const { by } = executor(caller);
    const { runId } = heldCall(turn, caller, frame);
    turn.log({ kind: "tool", by, toolCallId: frame.toolCallId, runId, status: "released", n: frame.n });
    return () => ({});
  });
}

/**
 * [K3] Takes in what came of a call. With the last one of its run the run goes on.
 * @param maxBytes of the message it becomes, as JSON
 * @throws Rejection gone, stale_claim, too_big, bad_message
 */
export function answerCall(
  room: Room,
  turn: Turn,
  caller: Caller,
  frame: UpFrameOf<"result">,
  maxBytes: number,
): { seq: number } {
  const { toolCallId, n } = frame;
  const { runId } = heldCall(turn, caller, frame);
  const { by, client } = executor(caller);
  const message = resultMessage(frame);
  if (Buffer.byteLength(JSON.stringify(message)) > maxBytes)
    throw new Rejection("too_big", `A result may have ${byteSize(maxBytes)}.`, { limit: maxBytes });
  turn.log({ kind: "tool", by, toolCallId, runId, status: "answered", client, n });
  turn.log({ kind: "message", by, turn: runId, message });
  room.responses.startNext(turn);
  return { seq: turn.lastSeq };
}

/**
 * [K2] Offers the calls that a run has left for clients, for a moment to the client that started it alone.
 * @param asked what began the run, and what its agent was told that clients can do
 */
export function offerCalls(
  turn: Turn,
  run: string,
  { record, tools }: { record: RunRecord; tools: readonly Tool[] },
): void {
  const names = new Set(tools.map(({ name }) => name));
  const { by } = record;
  const { client } = record.input ?? {};
  const first =
    client === undefined ? { by: { kind: "system" as const } } : { by, client, until: turn.at + FIRST_MS };
  for (const { toolCallId, runId, status, name } of [...turn.timeline.tools.values()])
    if (status === "pending" && runId === run && names.has(name))
      turn.log({ kind: "tool", ...first, toolCallId, runId, status: "offered" });
}

/** [R6] [K4] Gives up the calls of a run, without results. @returns whether there were any */
export function giveUpCalls(turn: Turn, runId: string, by: Author): boolean {
  const calls = [...turn.timeline.tools.values()].filter((call) => call.runId === runId);
  const waits = calls.some(({ status }) => status === "offered" || status === "claimed");
  if (waits)
    for (const { toolCallId } of calls) turn.log({ kind: "tool", by, toolCallId, runId, status: "released" });
  return waits;
}

function heldCall(
  { timeline }: Turn,
  caller: Caller,
  { toolCallId, n }: { toolCallId: string; n: number },
): ToolInfo {
  const call = timeline.tools.get(toolCallId);
  const fault = faultOfHolder(call, executor(caller), n);
  if (fault) throw new Rejection(fault.code, fault.message, fault.details);
  return call as ToolInfo;
}

/** Text stays text, content parts stay parts, anything else becomes JSON. */
function resultMessage({ toolCallId, content, error }: UpFrameOf<"result">): Message {
  const message = (content: unknown) =>
    MessageSchema.safeParse({
      id: randomUUID(),
      role: "tool",
      toolCallId,
      content,
      ...(error !== undefined && { error }),
    });
  const asIs = message(content);
  if (asIs.success) return asIs.data as Message;
  const asText = message(content === undefined ? "" : JSON.stringify(content));
  if (asText.success) return asText.data as Message;
  throw new Rejection("bad_message", "The result is not something a message can hold.");
}
