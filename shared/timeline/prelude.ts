import type { AGUIEvent, Message, Snapshot } from "../protocol/index.ts";
import { FittedRun, type HeldMessages } from "./fitted-run.ts";

/**
 * The AG-UI events that bring an unmodified AG-UI client to the point of a snapshot ([P1]).
 *
 * RUN_STARTED goes without `input` and opening events without `metadata` ([P2]): their messages would be
 * appended before the snapshot, and older metadata would overwrite the newer in it.
 *
 * @param snapshot the thread, all of its messages
 * @param runId the run to follow; default: the oldest active one
 * @returns nothing for an empty thread
 */
export function prelude(snapshot: Snapshot, runId?: string): AGUIEvent[] {
  const messages = snapshot.messages as Message[];
  const state = event({ type: "STATE_SNAPSHOT", snapshot: snapshot.state });
  const run = snapshot.runs.find((r) => r.runId === runId) ?? snapshot.runs[0];
  if (run) {
    const open = new FittedRun(heldIn(messages), messages).reopen(run.open);
    return [run.started, state, messagesSnapshot(messages), ...open];
  }
  if (messages.length === 0 && snapshot.seq === 0) return [];

  const last = snapshot.turns.findLast((turn) => turn.agent !== undefined && turn.end);
  const open = snapshot.interrupts.filter((i) => i.runId === last?.id && !i.answered);
  // A failed run is not replayed: it would fire the client's error callback at every rejoin. An interrupted
  // one is replayed only as long as there is something to answer.
  const outcome = last?.end?.outcome;
  const replayed =
    outcome === "success" || outcome === "cancelled" || (outcome === "interrupt" && open.length > 0);
  const id = last && replayed ? last.id : `cothread:${snapshot.epoch}:${snapshot.seq}`;
  return [
    event({ type: "RUN_STARTED", threadId: snapshot.thread, runId: id }),
    state,
    messagesSnapshot(messages),
    event({
      type: "RUN_FINISHED",
      threadId: snapshot.thread,
      runId: id,
      ...(outcome === "cancelled" && { outcome: { type: "cancelled" } }),
      ...(outcome === "interrupt" &&
        open.length > 0 && {
          outcome: {
            type: "interrupt",
            interrupts: open.map(({ runId: _r, agent: _g, answered: _a, ...i }) => i),
          },
        }),
      ...(outcome === "success" && pending(snapshot, id)),
    }),
  ];
}

/**
 * A MESSAGES_SNAPSHOT that speaks for every message, activities included ([P3]); without the note a stock
 * client keeps activity messages that were removed.
 */
export function messagesSnapshot(messages: readonly Message[]): AGUIEvent {
  return event({
    type: "MESSAGES_SNAPSHOT",
    messages: [...messages],
    metadata: { "@ag-ui/client": { authoritativeActivityTypes: null } },
  });
}

function heldIn(messages: readonly Message[]): HeldMessages {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const owners = new Map<string, Message>();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const { id } of message.toolCalls ?? []) if (!owners.has(id)) owners.set(id, message);
  }
  return { get: (id) => byId.get(id), ownerOf: (id) => owners.get(id) };
}

function pending(snapshot: Snapshot, runId: string) {
  const ids = snapshot.tools.filter((tool) => tool.runId === runId).map((tool) => tool.toolCallId);
  return ids.length > 0 && { outcome: { type: "success", pendingToolCallIds: ids } };
}

const event = (fields: { type: string; [name: string]: unknown }) => fields as unknown as AGUIEvent;
