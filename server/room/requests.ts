import { createHash, randomUUID } from "node:crypto";
import type {
  Author,
  EarlierAck,
  JsonPatch,
  Message,
  PatchAck,
  RevertAck,
  SubmitAck,
  UpFrameOf,
} from "../../shared/protocol/index.ts";
import { takeEarlier } from "../../shared/timeline/index.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import type { Store } from "../store/store.ts";
import { type Caller, Rejection, type RoomRequest } from "./port.ts";
import type { Room } from "./room.ts";
import type { StateChangeRow } from "./state-changes.ts";
import { changeOf } from "./stored-state.ts";
import { titleFrom } from "./thread-info.ts";
import type { Turn } from "./turn.ts";
import { stampMessages } from "./user-message.ts";

type Fields = Record<string, unknown>;

/** What requests are answered with. */
export type RequestHost = { agents: AgentRegistry; limits: RequestLimits; store: Store };

/** What the requests of people are held to. */
export type RequestLimits = { message: number; queue: number };

/**
 * Answers one request in the room's turn ([S1], [Q1], [R6], [D1]). Everything is checked before anything
 * changes, so that a refused request leaves no trace.
 * @returns the fields of the ack, once the turn is committed
 * @throws Rejection
 */
export function answerRequest(
  room: Room,
  caller: Caller,
  frame: RoomRequest,
  host: RequestHost,
): Promise<Fields> {
  if (frame.type === "earlier") return earlier(room, frame);
  if (caller.role === "viewer")
    return Promise.reject(new Rejection("forbidden", "You can read this thread, and not change it."));
  const ackKey = `${frame.type}:${frame.type === "submit" ? frame.inputId : frame.key}`;
  const hash = fingerprint(frame);
  const user = caller.user.id;
  let stored: StateChangeRow[] = [];
  return room.enqueue(
    (turn) => {
      const known = room.acks.get(user, ackKey);
      if (known) {
        if (known.hash !== hash) throw conflict(frame);
        return () => ({ ...(JSON.parse(known.json) as Fields), duplicate: true });
      }
      const ack = change(room, turn, caller, frame, host, stored);
      room.giveAck(turn, { user, key: ackKey, hash, at: turn.at, json: JSON.stringify(ack) });
      return () => ack;
    },
    async () => {
      await room.acks.find(user, ackKey);
      if (frame.type === "revert") stored = (await host.store.changes(room.key, frame.runId)).map(changeOf);
    },
  );
}

function change(
  room: Room,
  turn: Turn,
  caller: Caller,
  frame: Exclude<RoomRequest, { type: "earlier" }>,
  host: RequestHost,
  stored: readonly StateChangeRow[],
): Fields {
  const by: Author & { kind: "user" } = { kind: "user", ...caller.user };
  switch (frame.type) {
    case "submit":
      return submit(room, turn, by, frame, host);
    case "withdraw": {
      if (!room.responses.withdraw(turn, frame.inputId, by)) {
        const known = turn.timeline.turns.get(frame.inputId) ?? turn.timeline.inputs.get(frame.inputId);
        throw known
          ? new Rejection("gone", "This message already runs or has run; it can no longer be withdrawn.")
          : new Rejection("not_found", "There is no waiting message with that id.");
      }
      return { seq: turn.lastSeq };
    }
    case "cancel":
      if (!room.responses.cancel(turn, frame.runId, by))
        throw new Rejection("not_running", "That run is not under way: it has ended, or it never was.");
      return { seq: turn.lastSeq };
    case "patch": {
      const patch = room.state.shared.patch(turn, by, frame.patch as JsonPatch, frame.base, caller.client);
      return { seq: turn.lastSeq, patch } satisfies PatchAck;
    }
    case "revert": {
      const skipped = room.state.shared.revert(turn, by, frame.runId, stored);
      return { seq: turn.lastSeq, skipped } satisfies RevertAck;
    }
    case "update": {
      if (frame.settings || frame.members) throw notYet(frame.settings ? "settings" : "members");
      const { title, archived } = frame;
      if (title === undefined && archived === undefined)
        throw new Rejection("bad_frame", "An update names at least one of title and archived.");
      turn.log({
        kind: "thread",
        by,
        ...(title !== undefined && { title }),
        ...(archived !== undefined && { archived }),
      });
      turn.setInfo({ ...(title !== undefined && { title }), ...(archived !== undefined && { archived }) });
      return { seq: turn.lastSeq };
    }
  }
}

function submit(
  room: Room,
  turn: Turn,
  by: Author & { kind: "user" },
  frame: UpFrameOf<"submit">,
  { agents, limits }: { agents: AgentRegistry; limits: RequestLimits },
): SubmitAck {
  for (const field of ["steer", "parent"] as const) {
    if (frame[field] !== undefined) throw notYet(field);
  }
  const { inputId, policy = "enqueue" } = frame;
  if (policy !== "enqueue" && policy !== "reject") throw notYet(`the policy "${policy}"`);
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

  if (frame.start === false) {
    if (messages.length === 0) throw new Rejection("bad_message", "A note needs at least one message.");
    if (draft) cutDraft(room, by, inputId, draft.text);
    name(turn, messages);
    for (const message of messages) turn.log({ kind: "message", by, turn: inputId, message });
    return { inputId, status: "done", seq: turn.lastSeq };
  }

  const agent = agents.get(frame.agent);
  if (!agent) {
    const which = frame.agent === undefined ? "any agent" : `an agent "${frame.agent}"`;
    throw new Rejection("no_agent", `This server does not have ${which}. Choose another one.`, {
      agents: agents.list().map(({ id }) => id),
    });
  }
  if (policy === "reject" && room.responses.busy)
    throw new Rejection("busy", "An agent is at work in this thread. Wait for it to end, or stop it.");
  if (room.responses.queue.length >= limits.queue)
    throw new Rejection("busy", `${limits.queue} messages are waiting already. Wait until some have run.`);
  const runId = frame.runId ?? randomUUID();
  if (isTaken(room, timeline, runId) || runId === inputId)
    throw new Rejection("conflict", "The run id is taken by another run. Choose a new one.");
  if (draft) cutDraft(room, by, inputId, draft.text);
  name(turn, messages);
  const { tools, context, forwardedProps } = frame;
  room.responses.add(turn, {
    inputId,
    status: "queued",
    by,
    messages,
    runId,
    agent: agent.id,
    policy,
    ...(tools && { tools }),
    ...(context && { context }),
    ...(forwardedProps !== undefined && { forwardedProps }),
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

function draftMessage({ messageId, text }: NonNullable<UpFrameOf<"submit">["draft"]>) {
  if (text.trim() === "") throw new Rejection("bad_message", "The draft is empty. Write something first.");
  return { id: messageId, role: "user", content: text };
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
  return [...timeline.inputs.values(), ...room.responses.queue].some(({ runId }) => runId === id);
}

/** The first message names a thread that has no title. */
function name(turn: Turn, messages: Message[]): void {
  const title = turn.timeline.title === "" ? titleFrom(messages) : undefined;
  if (title === undefined) return;
  turn.log({ kind: "thread", by: { kind: "system" }, title });
  turn.setInfo({ title });
}

function refuseKnown(timeline: Turn["timeline"], room: Room, messages: Message[]): void {
  const queued = new Set(room.responses.queue.flatMap((record) => record.messages.map(({ id }) => id)));
  const seen = new Set<string>();
  for (const { id } of messages) {
    if (timeline.messages.get(id) || queued.has(id) || seen.has(id))
      throw new Rejection(
        "conflict",
        `The message id "${id}" is taken by another message. Choose a new one.`,
      );
    seen.add(id);
  }
}

function earlier(room: Room, frame: UpFrameOf<"earlier">): Promise<Fields> {
  return room.enqueue(() => () => {
    const page = takeEarlier(room.timeline, frame.before, frame.limit);
    if (!page) throw new Rejection("not_found", "The message to page back from is not in this thread.");
    return { ...page, seq: room.place.seq } satisfies EarlierAck;
  });
}

/** The same request sent again has the same fingerprint: `ref` is new on each try and does not count. */
function fingerprint({ ref: _ref, ...frame }: RoomRequest): string {
  return createHash("sha256").update(JSON.stringify(frame)).digest("base64url").slice(0, 22);
}

function conflict(frame: RoomRequest): Rejection {
  const id = frame.type === "submit" ? "inputId" : "key";
  return new Rejection("conflict", `This ${id} was used before for something else. Choose a new one.`);
}

function notYet(what: string): Rejection {
  return new Rejection("not_supported", `This server does not support ${what} yet.`);
}
