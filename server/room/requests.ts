import { createHash } from "node:crypto";
import type {
  Author,
  EarlierAck,
  JsonPatch,
  PatchAck,
  RevertAck,
  UpFrameOf,
} from "../../shared/protocol/index.ts";
import { takeEarlier } from "../../shared/timeline/index.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import type { Store } from "../store/store.ts";
import { answerInterrupt } from "./answers.ts";
import { type HeadMove, headMove, isSound, moveHead, seqAt } from "./branches.ts";
import { type Caller, Rejection, type RoomRequest } from "./port.ts";
import { editInput, queuedInput } from "./queued-inputs.ts";
import { conflict, notYet } from "./request-faults.ts";
import type { Room } from "./room.ts";
import type { StateChangeRow } from "./state-changes.ts";
import { changeOf } from "./stored-state.ts";
import { refuseBusy, submit } from "./submit.ts";
import { answerCall, claimCall, releaseCall, setTools } from "./tool-requests.ts";
import type { Turn } from "./turn.ts";

type Fields = Record<string, unknown>;

/** What requests are answered with. */
export type RequestHost = {
  agents: AgentRegistry;
  limits: RequestLimits;
  store: Store;
  /** Tells whoever runs the server what went wrong, without content. */
  warn(what: string, details: object): void;
};

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
  if (frame.type === "read") return read(room, caller, frame);
  if (caller.role === "viewer")
    return Promise.reject(new Rejection("forbidden", "You can read this thread, and not change it."));
  switch (frame.type) {
    case "tools":
      return setTools(room, caller, frame);
    case "claim":
      return claimCall(room, caller, frame);
    case "release":
      return releaseCall(room, caller, frame) as Promise<Fields>;
  }
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
      const { timeline, responses, key } = room;
      const asking =
        frame.type === "answer"
          ? timeline.interrupts.get(frame.interruptId)
          : frame.type === "result" && timeline.tools.get(frame.toolCallId);
      if (asking) await responses.asked.find(host.store, key, timeline, asking.runId);
      const move = isSound(room, frame) ? headMove(room, frame) : null;
      if (move) stored = (await host.store.changesAfter(key, seqAt(timeline, move.to))).map(changeOf);
      if (frame.type === "revert") stored = (await host.store.changes(room.key, frame.runId)).map(changeOf);
    },
  );
}

function change(
  room: Room,
  turn: Turn,
  caller: Caller,
  frame: Extract<RoomRequest, { key: string } | { type: "submit" }>,
  host: RequestHost,
  stored: readonly StateChangeRow[],
): Fields {
  const by: Author & { kind: "user" } = { kind: "user", ...caller.user };
  switch (frame.type) {
    case "submit":
      return submit(room, turn, by, caller.client, frame, host, stored);
    case "edit":
      editInput(room, turn, by, frame, host.limits.message);
      return { seq: turn.lastSeq };
    case "move":
      room.responses.queue.move(turn, queuedInput(room, turn, frame.inputId), by, frame.place);
      return { seq: turn.lastSeq };
    case "withdraw":
      queuedInput(room, turn, frame.inputId);
      room.responses.queue.withdraw(turn, frame.inputId, by);
      return { seq: turn.lastSeq };
    case "answer":
      return answerInterrupt(room, turn, by, frame, host.warn);
    case "head": {
      const move = headMove(room, frame) as HeadMove;
      refuseBusy(room);
      moveHead(room, turn, by, move, stored);
      return { seq: turn.lastSeq };
    }
    case "result":
      return answerCall(room, turn, caller, frame, host.limits.message);
    case "cancel":
      if (!room.responses.cancel(turn, frame.runId, by) && !room.responses.giveUp(turn, frame.runId, by))
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
      if (frame.members) throw notYet("members");
      const { title, archived, settings } = frame;
      if (title === undefined && archived === undefined && settings?.trigger === undefined)
        throw new Rejection(
          "bad_frame",
          "An update names at least one of title, archived and settings.trigger.",
        );
      turn.log({
        kind: "thread",
        by,
        ...(title !== undefined && { title }),
        ...(archived !== undefined && { archived }),
        ...(settings && { settings }),
      });
      turn.setInfo({ ...(title !== undefined && { title }), ...(archived !== undefined && { archived }) });
      return { seq: turn.lastSeq };
    }
  }
}

function earlier(room: Room, frame: UpFrameOf<"earlier">): Promise<Fields> {
  return room.enqueue(() => () => {
    const page = takeEarlier(room.timeline, frame.before, frame.limit);
    if (!page) throw new Rejection("not_found", "The message to page back from is not in this thread.");
    return { ...page, seq: room.place.seq } satisfies EarlierAck;
  });
}

/** [W4] Needs no key: what was read once stays read. Who may only read may do this. */
function read(room: Room, { user }: Caller, { seq }: UpFrameOf<"read">): Promise<Fields> {
  return room.enqueue((turn) => {
    room.reads.move(turn, user.id, seq);
    return () => ({});
  });
}

/** The same request sent again has the same fingerprint: `ref` is new on each try and does not count. */
function fingerprint({ ref: _ref, ...frame }: RoomRequest): string {
  return createHash("sha256").update(JSON.stringify(frame)).digest("base64url").slice(0, 22);
}
