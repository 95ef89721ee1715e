import { type DocumentText, documentOf } from "./documents.ts";
import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";
import { planTitle } from "./titles.ts";
import { topicOf } from "./topics.ts";
import { capital, clip, inMarkdown } from "./wording.ts";

/** The sentences of a text, each with the space behind it. */
const sentences = (text: string) => text.match(/[^.!?]+[.!?]+\s*|[^.!?]+$/g) ?? [];

/** The text of the topic that is spoken of, here or in the plan's title. */
export function textFor({ text, board }: Scene): DocumentText {
  return documentOf(topicOf(`${text} ${board.name}`));
}

/** Writes a fresh document, a sentence at a time, so that people see it grow and can write beside it. */
export function* writeDocument(scene: Scene): Generator<Beat> {
  const { board, document, narrator } = scene;
  const { openings, sections, name } = textFor(scene);
  const title = board.name || planTitle(scene.text, topicOf(scene.text));
  if (document.isBare && board.steps.length === 0) yield narrator.after(80, 160, board.snapshot(title));
  yield narrator.after(120, 220, document.begin(`# ${title}: ${name.replace(/^the /, "")}\n\n`));
  const [opening] = openings;
  for (const sentence of sentences(opening)) yield narrator.after(80, 140, document.add(sentence));
  for (const [heading, text] of sections) {
    yield narrator.after(80, 140, document.add(`\n\n## ${heading}\n\n`));
    for (const sentence of sentences(text)) yield narrator.after(80, 140, document.add(sentence));
  }
  yield narrator.after(60, 120, document.add("\n"));
}

const FRESH =
  /\b(?:start over|from scratch|anew|(?:new|another|different|fresh) (?:one|document|page|text|announcement|brief))\b/i;
const SHORTER = /\b(?:shorter|shorten|cut|trim|tighten|condense)\b/i;
const REWRITE =
  /\b(?:rewrite|rephrase|reword|redo|improve|polish|better|opening|intro(?:duction)?|paragraph)\b/i;
const SECTION = /\bsections? (?:about|on|for|called)\s+(.+)/i;

/**
 * A document is drafted, or something is done to the one in the state: its opening is rewritten or shortened, or a
 * section is added. Everything else in it stays as people made it.
 */
export function* documentScene(scene: Scene): Generator<Beat> {
  const { document, narrator, text } = scene;
  const id = narrator.id("m");
  const say = (words: string) => narrator.message(id, narrator.words(id, words));
  if (document.isForeign)
    return yield* say(
      scene.opening([
        "What stands under *document* in the state is nothing I can write on. I left it alone.",
      ]),
    );
  yield* narrator.step("Read the request", narrator.think(`${scene.request()} ${scene.say(THOUGHTS)}`));
  if (document.isEmpty || FRESH.test(text)) {
    yield* narrator.step("Draft the document", writeDocument(scene));
    yield* narrator.step("Write the answer", say(drafted(scene)));
    return yield* scene.sayState();
  }
  const { opening } = document;
  const change = changeOf(scene, opening);
  yield* narrator.step("Change the document", change.beats);
  yield* narrator.step("Write the answer", say(`${change.said} ${scene.say(KEPT)}${scene.alsoHeard()}`));
  yield* scene.sayState();
}

const THOUGHTS = [
  "It stands beside the conversation, where people may be writing: I touch what was asked for and nothing else.",
  "Others may be in the middle of a sentence there, so I change one place and leave the rest.",
];
const KEPT = ["The rest stands as you left it.", "Nothing else in it was touched."];

/** What was drafted, and where it stands. Markdown. */
export function drafted(scene: Scene): string {
  const name = capital(textFor(scene).name);
  return scene.say([
    `${name} is drafted beside the conversation, under **Document**. Write in it, also while I do.`,
    `${name} stands beside the conversation, under **Document**. Type into it whenever you like.`,
  ]);
}

function changeOf(scene: Scene, opening: string | undefined): { beats: Iterable<Beat>; said: string } {
  const { document, narrator, text } = scene;
  const about = SECTION.exec(text)?.[1];
  if (about === undefined && opening !== undefined && SHORTER.test(text)) {
    const [first = opening] = sentences(opening);
    return {
      beats: [narrator.after(250, 450, document.replace(opening, first.trim()))],
      said: scene.opening(["I have cut the opening down to its first sentence."]),
    };
  }
  if (about === undefined && opening !== undefined && REWRITE.test(text)) {
    const { openings } = textFor(scene);
    const other = openings.find((one) => one.trim() !== opening.trim()) ?? openings[1];
    return { beats: retype(scene, opening, other), said: scene.opening(["I have rewritten the opening."]) };
  }
  const heading = capital(clip((about ?? "What comes next").replace(/[.?!,;]+\s*$|\s+please$/gi, ""), 60));
  const body = [
    `\n\n## ${inMarkdown(heading)}\n\n`,
    "This section is yours: ",
    "I know its heading and no more.\n",
  ];
  return {
    beats: body.map((piece) => narrator.after(180, 320, document.add(piece))),
    said: scene.opening([`I have added a section, **${inMarkdown(heading)}**, at the end.`]),
  };
}

/** One paragraph in the place of another, sentence by sentence. */
function* retype({ document, narrator }: Scene, old: string, text: string): Generator<Beat> {
  let before = old;
  let so = "";
  for (const sentence of sentences(text)) {
    so += sentence;
    yield narrator.after(250, 400, document.replace(before, so.trimEnd()));
    before = so.trimEnd();
  }
}
