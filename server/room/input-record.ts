import type { Author, Context, InputStatus, Message, Policy, Tool } from "../../shared/protocol/index.ts";
import type { InputRow } from "../store/store.ts";
import type { Turn } from "./turn.ts";

/** A submitted input with what is not in the log: only the agent is to see that. */
export type InputRecord = {
  inputId: string;
  status: InputStatus;
  /** The person who submitted it; it keeps this identity however long it waits. */
  by: Author & { kind: "user" };
  messages: Message[];
  runId: string;
  agent: string;
  policy: Policy;
  tools?: Tool[];
  context?: Context[];
  forwardedProps?: unknown;
  /** The client that submitted it: it is the first that may execute what the run calls. */
  client?: string;
  /** Answers all open interrupts with "cancelled" when it runs. */
  interrupts?: "cancel";
};

/** A run to begin: of an input, or one that goes on by itself when people have done their part. */
export type RunRecord = Pick<InputRecord, "runId" | "agent" | "tools" | "context" | "forwardedProps"> & {
  by: Author;
  input?: InputRecord;
};

/** The row an input is stored as. @returns all of the record as JSON, with id and status beside it */
export function toRow(record: InputRecord): InputRow {
  return { inputId: record.inputId, status: record.status, json: JSON.stringify(record) };
}

/** The input that {@link toRow} made a row of. @throws SyntaxError when the row's JSON was damaged */
export function fromRow(row: InputRow): InputRecord {
  return JSON.parse(row.json) as InputRecord;
}

/** Says what became of the input that a run was for, once the run is over. */
export function settleInput(turn: Turn, { runId, input }: RunRecord): void {
  if (input?.status !== "running") return;
  const end = turn.timeline.turns.get(runId)?.end;
  const status = end?.outcome === "error" ? "failed" : "done";
  input.status = status;
  const reason = status === "failed" && end?.code !== undefined ? { reason: end.code } : {};
  turn.log({ kind: "input", by: { kind: "system" }, inputId: input.inputId, status, runId, ...reason });
  turn.input(toRow(input));
}
