import { ASKS_FOR_DOCUMENT } from "./document-request.ts";
import { type DocumentText, documentNamed, documentOf } from "./document-texts.ts";
import { documentTitle } from "./document-title.ts";
import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";
import { ANYTHING, type Topic, topicOf } from "./topics.ts";
import { capital } from "./wording.ts";

/** "rewrite the intro" is about no migration, though a rewrite is one. */
const EDITING = /\b(?:rewrite|move)\b/gi;

const named = ({ text }: Scene) => (ASKS_FOR_DOCUMENT.test(text) ? documentNamed(text) : undefined);

/** The topic a request is about, apart from what is to be done to the document. */
function topicAsked({ text }: Scene): Topic {
  return topicOf(ASKS_FOR_DOCUMENT.test(text) ? text.replace(EDITING, "") : text);
}

const firstKnown = (...topics: Topic[]) => topics.find((topic) => topic !== ANYTHING) ?? ANYTHING;

/** The document to draft: one that is asked for by name, else what fits the request, the plan, or the one there was. */
function textToDraft(scene: Scene): DocumentText {
  const { board, document } = scene;
  const asked = named(scene);
  if (asked) return asked;
  const topic = firstKnown(topicAsked(scene), topicOf(board.name));
  return topic === ANYTHING ? (documentNamed(document.title) ?? documentOf(topic)) : documentOf(topic);
}

/** The topic of the document that stands there: what a section is to be about makes no trip of a launch. */
export function topicThere(scene: Scene): Topic {
  const { board, document } = scene;
  return firstKnown(topicOf(document.title), topicOf(board.name), topicAsked(scene));
}

/** The document that stands there, as far as Planner knows its kind. */
export function textThere(scene: Scene): DocumentText {
  return named(scene) ?? documentNamed(scene.document.title) ?? documentOf(topicThere(scene));
}

/** A text in the pieces it is written in: up to the end of a sentence, or to a comma or colon. */
const pieces = (text: string) => text.match(/.+?(?:[.!?,:](?=\s|$)\s*|$)/g) ?? [];

/** A section as Planner writes it: the heading, then its text piece by piece. */
export function* writeSection({ document, narrator }: Scene, heading: string, text: string): Generator<Beat> {
  yield narrator.after(80, 130, document.addBlock(`## ${heading}`));
  let before = "\n\n";
  for (const line of text.split("\n")) {
    for (const piece of pieces(line)) {
      yield narrator.after(60, 110, document.add(before + piece.trimEnd()));
      before = " ";
    }
    before = "\n";
  }
}

/**
 * Writes a fresh document, a few words at a time, so that people see it grow and can write beside it. A step of the
 * plan that asks for this page is done with it.
 */
export function* draftDocument(scene: Scene): Generator<Beat> {
  const { board, document, narrator, text } = scene;
  const fits = textToDraft(scene);
  const step = board.open.find(({ title }) => fits.step?.test(title));
  if (step) yield narrator.after(80, 160, board.set([step.place, "active"]));
  yield narrator.after(100, 180, document.begin(`# ${documentTitle(text, board.name, fits)}`));
  let before = "\n\n";
  for (const piece of pieces(fits.openings[0])) {
    yield narrator.after(60, 110, document.add(before + piece.trimEnd()));
    before = " ";
  }
  for (const [heading, body] of fits.sections) yield* writeSection(scene, heading, body);
  if (step) yield narrator.after(80, 160, board.set([step.place, "done"]));
}

/** What was drafted, and where it stands. Markdown. */
export function drafted(scene: Scene): string {
  const { name } = textToDraft(scene);
  return scene.say([
    `I drafted ${name}; it is under **Document**, beside the conversation.`,
    `${capital(name)} is drafted, under **Document** beside the conversation.`,
  ]);
}
