import type { Asked } from "./asked.ts";
import type { DocumentBoard } from "./document-board.ts";
import type { Beat, Call, Narrator } from "./narrator.ts";
import type { PlanBoard } from "./plan-board.ts";
import type { Random } from "./random.ts";
import { addressed, clip, inMarkdown, series } from "./wording.ts";

/** What is looked up before an answer: the tool call, what to say before it, the progress shown meanwhile. */
export type LookUp = Omit<Call, "parentMessageId"> & {
  before: readonly string[];
  title: string;
  items: readonly [string, string, string];
};

/** What every kind of run works with: the request, the shared plan and document, the voice, the choices of this run. */
export class Scene {
  readonly asked: Asked;
  readonly board: PlanBoard;
  readonly document: DocumentBoard;
  readonly narrator: Narrator;
  readonly random: Random;

  constructor(asked: Asked, board: PlanBoard, document: DocumentBoard, narrator: Narrator, random: Random) {
    this.asked = asked;
    this.board = board;
    this.document = document;
    this.narrator = narrator;
    this.random = random;
  }

  /** What the main request says. */
  get text(): string {
    return this.asked.main.text;
  }

  /** How a thought begins: who asks, and for what. Plain text. */
  request(): string {
    return `${this.asked.main.name ?? "Someone"} asks: “${clip(this.text, 80)}”.`;
  }

  /** One of the sentences, spoken to the one who asked. Markdown. */
  opening(sentences: readonly string[]): string {
    return addressed(this.asked.main.name, this.random.pick(sentences));
  }

  /** One of the sentences. */
  say(sentences: readonly string[]): string {
    return this.random.pick(sentences);
  }

  /** Says the whole state as Planner has it, as many frameworks do when a run ends. */
  *sayState(): Generator<Beat> {
    yield this.narrator.after(10, 40, this.board.snapshot(undefined, this.document.asState));
  }

  /** A last sentence that names what others wrote; empty when nobody did. Markdown. */
  alsoHeard(): string {
    const { main, others } = this.asked;
    const foreign = others.filter((one) => one.name === undefined || one.name !== main.name).slice(-3);
    if (foreign.length === 0) return "";
    const told = foreign.map((one) => {
      const text = `“${inMarkdown(clip(one.text, 60))}”`;
      return one.name ? `${inMarkdown(one.name)} (${text})` : text;
    });
    return ` I have also read what came in beside it: ${series(told)}.`;
  }

  /** Looks something up: now and then a sentence that says so, the tool call, and progress while it runs. */
  *lookUp({ before, title, items, ...call }: LookUp): Generator<Beat> {
    const { narrator } = this;
    const parentMessageId = narrator.id("m");
    if (this.random.next() < 0.6) {
      yield* narrator.message(parentMessageId, narrator.words(parentMessageId, this.say(before)));
    }
    const progress = narrator.progress(title, items);
    yield progress.begin();
    yield* narrator.call({ ...call, parentMessageId }, [progress.tick()]);
    yield progress.tick();
    yield progress.tick();
  }
}
