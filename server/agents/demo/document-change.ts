import { textThere, topicThere, writeSection } from "./document-draft.ts";
import { isCalled, type Paragraph, sentencesOf } from "./document-places.ts";
import type { DocumentRequest, Part } from "./document-request.ts";
import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";
import { capital, clip, inMarkdown } from "./wording.ts";

/** What is done to a document that stands there, and what to say of it afterwards. Markdown. */
export type DocumentChange = { beats: Iterable<Beat>; said: string };

/**
 * Finds out what a request changes in the document that stands there. Everything but the one place it names stays
 * character for character.
 * @returns the change, or why there is none, as a sentence. Markdown
 */
export function changeOf(scene: Scene, request: DocumentRequest): DocumentChange | string {
  const { part, change, about } = request;
  const { headings } = scene.document.places;
  if (part.at === "named" && !headings.some(({ title }) => isCalled(title, part.name)))
    return `I found no section called ${quoted(part.name)}. Write *add a section about* and what it is about.`;
  if (change === "shorten") return shorten(scene, part);
  if (change === "rewrite") return rewrite(scene, part);
  if (change === "section" && about !== "") return section(scene, about);
  if (change === "extend" && part.at === "opening") return extendOpening(scene);
  if (change === "extend" && part.at === "named")
    return "I have nothing of my own to add in there. Write it yourself, or have me *add a section about* something.";
  return goOn(scene, change === "draft");
}

const quoted = (text: string) => `**${inMarkdown(clip(text, 60))}**`;

/** The paragraphs that a part of the document is, the one to change first. */
function paragraphsOf({ document }: Scene, part: Part): Paragraph[] {
  const { paragraphs } = document.places;
  if (part.at === "named") return paragraphs.filter(({ heading }) => isCalled(heading, part.name));
  if (part.at === "opening") return paragraphs.slice(0, 1);
  return part.at === "ending" ? paragraphs.slice(-1) : paragraphs;
}

/** A paragraph, as it is spoken of. */
function nameOf({ document }: Scene, { start, heading }: Paragraph): string {
  if (start === document.places.paragraphs[0]?.start) return "the opening";
  return heading === "" ? "a paragraph" : `the paragraph under ${quoted(heading)}`;
}

function shorten(scene: Scene, part: Part): DocumentChange | string {
  const { document, narrator } = scene;
  const paragraph = paragraphsOf(scene, part).find(({ text }) => sentencesOf(text).length > 1);
  if (!paragraph)
    return "I shorten by leaving the first sentence of a paragraph, and there is no more than one sentence there. I changed nothing.";
  const [first = ""] = sentencesOf(paragraph.text);
  const said = `I cut ${nameOf(scene, paragraph)} down to its first sentence.`;
  return { said, beats: [narrator.after(250, 450, document.put(paragraph, first).event)] };
}

function rewrite(scene: Scene, part: Part): DocumentChange | string {
  const [opening] = scene.document.places.paragraphs;
  if (!opening) return "There is no paragraph there yet that I could rewrite. I changed nothing.";
  const [paragraph] = paragraphsOf(scene, part);
  if (part.at !== "whole" && paragraph?.start !== opening.start)
    return "I am a script, and have other words for the opening only. I changed nothing.";
  const { openings } = textThere(scene);
  const words = openings.find((one) => one !== opening.text.trim()) as string;
  return { said: "I rewrote the opening.", beats: retype(scene, opening, words) };
}

/** One paragraph becomes another, a sentence in the place of a sentence, so that the page does not jump. */
function* retype({ document, narrator }: Scene, old: Paragraph, text: string): Generator<Beat> {
  const left = sentencesOf(old.text);
  const sentences = sentencesOf(text);
  let there = old;
  for (let n = 1; n <= sentences.length; n++) {
    const rest = n < sentences.length ? left.slice(n) : [];
    const { event, paragraph } = document.put(there, [...sentences.slice(0, n), ...rest].join(" "));
    there = paragraph;
    yield narrator.after(250, 400, event);
  }
}

function extendOpening(scene: Scene): DocumentChange | string {
  const { document, narrator } = scene;
  const [opening] = document.places.paragraphs;
  if (!opening) return "There is no opening yet that I could write on. I changed nothing.";
  const more = textThere(scene)
    .openings.toReversed()
    .flatMap(sentencesOf)
    .find((sentence) => !opening.text.includes(sentence));
  if (more === undefined) return "I have said in the opening all that I can say there. I changed nothing.";
  const beats = [narrator.after(250, 450, document.put(opening, `${opening.text} ${more}`).event)];
  return { said: "I added a sentence to the opening.", beats };
}

function section(scene: Scene, about: string): DocumentChange | string {
  const title = capital(clip(about, 60));
  if (scene.document.places.headings.some((heading) => isCalled(heading.title, title)))
    return `There is a section about ${quoted(title)} already. I left it as it is.`;
  const known = stock(scene).find(([heading, , words]) => isCalled(heading, title) || words?.test(about));
  const text = known?.[1] ?? "This section is yours: I know its heading and no more.";
  return {
    said: `I added a section, ${quoted(title)}, at the end.`,
    beats: writeSection(scene, inMarkdown(title), text),
  };
}

type Stock = readonly [heading: string, text: string, words?: RegExp];

/** The sections there is something to say in: the document's own, then what the topic and the plan know. */
function stock(scene: Scene): Stock[] {
  const { board } = scene;
  const { risks } = topicThere(scene);
  const list: Stock[] = [
    ...textThere(scene).sections,
    [
      "What could go wrong",
      risks
        .map(([risk, answer]) => `- ${risk}: ${answer.charAt(0).toLowerCase()}${answer.slice(1)}.`)
        .join("\n"),
      /\b(?:risks?|dangers?|problems?|goes wrong)\b/i,
    ],
  ];
  if (board.open.length > 0) {
    const steps = board.open.slice(0, 6).map((step) => `- ${inMarkdown(step.title)}`);
    list.push(["What comes next", steps.join("\n"), /\b(?:next steps?|open steps?|plan|to-?dos?)\b/i]);
  }
  return list;
}

/** Adds what Planner has and the document has not: all of the sections of its kind, or the next one. */
function goOn(scene: Scene, all: boolean): DocumentChange | string {
  const { headings } = scene.document.places;
  const known: Stock[] = all ? [...textThere(scene).sections] : stock(scene);
  const missing = known.filter(([heading]) => !headings.some(({ title }) => isCalled(title, heading)));
  const add = all ? missing : missing.slice(0, 1);
  if (add.length === 0)
    return "There is a document already, and I have no section left that it lacks. Ask me to *rewrite the opening*, to *make it shorter*, to *add a section about* something, or to *start the document over*.";
  const names = add.map(([heading]) => quoted(heading)).join(", ");
  return {
    said: `I kept what stands there and added ${names} at the end.`,
    beats: (function* () {
      for (const [heading, text] of add) yield* writeSection(scene, heading, text);
    })(),
  };
}
