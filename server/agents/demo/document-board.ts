import { EventType, type StateDeltaEvent } from "@ag-ui/core";
import { type Paragraph, type Places, placesIn } from "./document-places.ts";

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
  private isThere: boolean;
  private text: string;

  constructor(state: unknown) {
    const there = (state as { document?: unknown } | null | undefined)?.document;
    const isText = typeof there === "string";
    this.isBare = state === undefined || state === null;
    const isObject = typeof state === "object" && !Array.isArray(state);
    this.isForeign =
      (!this.isBare && !isObject) || (there !== undefined && !isText) || (isText && there.length > LONGEST);
    this.isThere = isText;
    this.text = isText && !this.isForeign ? there : "";
  }

  /** Whether nothing is written there. */
  get isEmpty(): boolean {
    return this.text.trim() === "";
  }

  /** Its headings and paragraphs. */
  get places(): Places {
    return placesIn(this.text);
  }

  /** Its first heading; empty without one. */
  get title(): string {
    return this.places.headings[0]?.title ?? "";
  }

  /** What it is, for a snapshot of the whole state. */
  get asState(): { document?: string } {
    return this.isForeign || !this.isThere ? {} : { document: this.text };
  }

  /** Begins anew with a text. */
  begin(text: string): StateDeltaEvent {
    return this.become(text);
  }

  /** Writes on at the end. */
  add(text: string): StateDeltaEvent {
    return this.become(this.text + text);
  }

  /** Writes on at the end, behind an empty line. */
  addBlock(text: string): StateDeltaEvent {
    const gap = this.isEmpty || /\n\r?\n$/.test(this.text) ? "" : this.text.endsWith("\n") ? "\n" : "\n\n";
    return this.add(gap + text);
  }

  /**
   * Puts a text in the place of a paragraph.
   * @returns the event, and the paragraph that stands there now
   */
  put(old: Paragraph, text: string): { event: StateDeltaEvent; paragraph: Paragraph } {
    const event = this.become(this.text.slice(0, old.start) + text + this.text.slice(old.end));
    return { event, paragraph: { ...old, end: old.start + text.length, text } };
  }

  private become(text: string): StateDeltaEvent {
    const op = this.isThere ? ("replace" as const) : ("add" as const);
    this.isThere = true;
    this.text = text;
    return { type: EventType.STATE_DELTA, delta: [{ op, path: "/document", value: text }] };
  }
}
