/** The fold of a thread's log, and the forms it takes: snapshot, stored fold, prelude and tail. */
export type { ActiveRunState } from "./active-runs.ts";
export { constructKey } from "./active-runs.ts";
export type { Slot } from "./message-list.ts";
export { reconcileSnapshot } from "./messages-snapshot.ts";
export { messagesSnapshot, prelude } from "./prelude.ts";
export { reachBelow } from "./reach.ts";
export {
  addEarlier,
  fromSnapshot,
  type MessagePage,
  takeEarlier,
  takeSnapshot,
  windowStart,
} from "./snapshot.ts";
export { StockTail } from "./stock-tail.ts";
export { type FoldRow, type FoldRows, fromFold, takeFold } from "./stored-fold.ts";
export { Timeline } from "./timeline.ts";
export type { TurnNode } from "./turns.ts";
