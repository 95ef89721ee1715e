import type { Message } from "./agui.ts";
import type { InputStatus } from "./entries.ts";
import type { Meta, Turn } from "./frames-down.ts";

/** [S1] Answer to `submit`. `seq`: after this entry what was submitted is in the log. */
export type SubmitAck = {
  inputId: string;
  status: InputStatus;
  runId?: string;
  place?: number;
  seq: number;
  duplicate?: true;
};
/** Answer to `earlier`: entries ≤ `seq` are already in these messages. */
export type EarlierAck = { messages: Message[]; meta: Meta[]; turns: Turn[]; before: number; seq: number };
/** Answer to the changing frames that have no shape of their own. */
export type ChangeAck = { seq: number; duplicate?: true };

/** What each request is answered with. `join` is answered by `joined`. */
export type Acks = {
  leave: Record<string, never>;
  earlier: EarlierAck;
  submit: SubmitAck;
  withdraw: ChangeAck;
  cancel: ChangeAck;
  update: ChangeAck;
  watch: Record<string, never>;
  unwatch: Record<string, never>;
  ping: Record<string, never>;
};
