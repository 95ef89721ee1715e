import type { Author, Message } from "../../shared/protocol/index.ts";
import { type InputRecord, toRow } from "./input-record.ts";
import type { Turn } from "./turn.ts";

/** The inputs of a room that wait, first to run first ([Q1]). Whatever happens to one is an entry with its author. */
export class InputQueue {
  private readonly records: InputRecord[] = [];

  get size(): number {
    return this.records.length;
  }

  /** The one that runs next. */
  get first(): InputRecord | undefined {
    return this.records[0];
  }

  get(inputId: string): InputRecord | undefined {
    return this.records.find((record) => record.inputId === inputId);
  }

  /** Whether one that `test` holds for waits. */
  some(test: (record: InputRecord) => boolean): boolean {
    return this.records.some(test);
  }

  /** Whether a message of that id waits. */
  hasMessage(messageId: string): boolean {
    return this.some(({ messages }) => messages.some(({ id }) => id === messageId));
  }

  /** Takes inputs as the store has them, without a word about it. */
  restore(records: readonly InputRecord[]): void {
    this.records.push(...records);
  }

  /** @param place from 1; default: behind all others */
  add(turn: Turn, record: InputRecord, place = this.size + 1): void {
    this.records.splice(place - 1, 0, record);
    const { by, inputId, messages, agent, policy } = record;
    turn.log({ kind: "input", by, inputId, status: "queued", messages, place, agent, policy });
    turn.input(toRow(record));
  }

  /** Takes the first one out, because it runs. */
  shift(): InputRecord | undefined {
    return this.records.shift();
  }

  /** Takes one out, because nobody wants it any more. @returns it; `undefined` when it does not wait */
  withdraw(turn: Turn, inputId: string, by: Author): InputRecord | undefined {
    const index = this.records.findIndex((record) => record.inputId === inputId);
    const [record] = index < 0 ? [] : this.records.splice(index, 1);
    if (!record) return undefined;
    record.status = "withdrawn";
    turn.log({ kind: "input", by, inputId, status: "withdrawn" });
    turn.input(toRow(record));
    return record;
  }

  /** Gives one other messages. */
  edit(turn: Turn, record: InputRecord, by: Author, messages: Message[]): void {
    record.messages = messages;
    turn.log({ kind: "input", by, inputId: record.inputId, status: "queued", messages });
    turn.input(toRow(record));
  }

  /** Puts one elsewhere. @param place from 1; one that is too high is the last */
  move(turn: Turn, record: InputRecord, by: Author, place: number): void {
    this.records.splice(this.records.indexOf(record), 1);
    const at = Math.min(place, this.size + 1);
    this.records.splice(at - 1, 0, record);
    turn.log({ kind: "input", by, inputId: record.inputId, status: "queued", place: at });
    // The order of rows is that of the log's fold, which is stored with them.
    turn.input(toRow(record));
  }

  clear(): void {
    this.records.length = 0;
  }
}
