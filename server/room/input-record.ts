import type { Author, Context, InputStatus, Message, Policy, Tool } from "../../shared/protocol/index.ts";
import type { InputRow } from "../store/store.ts";

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
