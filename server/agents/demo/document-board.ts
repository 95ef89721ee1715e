import { EventType, type StateDeltaEvent } from "@ag-ui/core";

/** A longer document is left alone: Planner would have to send all of it with every line. UTF-16 units. */
const LONGEST = 50_000;

/**
 * The part of the shared state that Planner writes text into: `document`, Markdown. Every change is told as agents
 * tell it, as the whole text so far; what people have written in it is kept.
 */
export class DocumentBoard {
  /** Something else than a text stands there, or a text that is too long to be written on. */
  readonly isForeign: boolean;
  /** There is no state yet that a text could be put into. */
  readonly isBare: boolean;
  private text: string;

  constructor(state: unknown) {
    const there = (state as { document?: unknown } | null | undefined)?.document;
    const isText = typeof there === "string";
    this.isBare = state === undefined || state === null;
    const isObject = typeof state === "object" && !Array.isArray(state);
    this.isForeign =
      (!this.isBare && !isObject) || (there !== undefined && !isText) || (isText && there.length > LONGEST);
    this.text = isText && !this.isForeign ? there : "";
  }

  /** Whether nothing is written there. */
  get isEmpty(): boolean {
    return this.text.trim() === "";
  }

  /** Its paragraphs, headings included. */
  get blocks(): string[] {
    return this.text.split(/\n{2,}/).filter((block) => block.trim() !== "");
  }

  /** The first paragraph that is no heading; `undefined` when there is none. */
  get opening(): string | undefined {
    return this.blocks.find((block) => !block.startsWith("#"));
  }

  /** What it is, for a snapshot of the whole state. */
  get asState(): { document?: string } {
    return this.isForeign || this.text === "" ? {} : { document: this.text };
  }

  /** Begins anew with a text. */
  begin(text: string): StateDeltaEvent {
    return this.become(text);
  }

  /** Writes on at the end. */
  add(text: string): StateDeltaEvent {
    return this.become(this.text + text);
  }

  /** Puts one text in the place of another one that stands there once or more; the first counts. */
  replace(old: string, text: string): StateDeltaEvent {
    const at = this.text.indexOf(old);
    return this.become(this.text.slice(0, at) + text + this.text.slice(at + old.length));
  }

  private become(text: string): StateDeltaEvent {
    this.text = text;
    return { type: EventType.STATE_DELTA, delta: [{ op: "add", path: "/document", value: text }] };
  }
}
