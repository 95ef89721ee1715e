import type { Clock } from "../../shared/clock.ts";
import type { Caller, Rejection } from "../room/port.ts";
import type { ThreadKey } from "../store/store.ts";
import { laneFrame } from "./doc-messages.ts";
import { DocPeer } from "./doc-peer.ts";
import type { MembershipHost } from "./membership.ts";

/** Between two looks whether client and server have the same document, ms. */
const CHECK_MS = 30_000;

/** What a lane tells beside the messages of the document. */
type LaneReports = { clock: Clock; saved(n: number): void; tell(rejection: Rejection): void };

/** The document lane of a channel ([Y1]): the document's peer on a socket that carries other things too. */
export function openLane(
  key: ThreadKey,
  channel: number,
  caller: Caller,
  connection: Pick<MembershipHost, "rooms" | "outbox" | "watch" | "close">,
  { clock, saved, tell }: LaneReports,
): DocPeer {
  const { rooms, outbox } = connection;
  return new DocPeer(key, caller, {
    rooms,
    clock,
    via: "doc",
    checkMs: CHECK_MS,
    get slow() {
      return outbox.slow;
    },
    send: (message, seq) => outbox.pushBinary(laneFrame(channel, seq, message)),
    sendShared: (message, seq) => outbox.pushShared(message.onLane(channel, seq)),
    saved,
    tell,
    close: (code, reason) => connection.close(code, reason),
    lags: () => connection.watch(),
  });
}
