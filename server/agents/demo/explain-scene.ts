import { type Comparison, comparisonOf } from "./comparisons.ts";
import { lookUpAndAnswer } from "./look-up-and-answer.ts";
import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";
import { capital, clip, inMarkdown } from "./wording.ts";

/** A question is answered with a table: two things side by side, or one thing taken apart. */
export function* explainScene(scene: Scene): Generator<Beat> {
  const { narrator, text, random } = scene;
  const comparison = comparisonOf(text);
  const question = text.replace(/^.*?\bexplain(?: to)?(?: me| us)? /i, "").replace(/[?!.\s]+$/, "");
  const subject = capital(clip(question, 56)) || "Your question";
  const query = comparison ? comparison.sides.join(" ") : clip(question, 56);
  const pages = Math.floor(random.between(4, 10));

  yield* narrator.step(
    "Read the question",
    narrator.think(
      `${scene.request()} ${
        comparison
          ? `There are two sides, ${comparison.sides.join(" and ")}, and a table shows that better than prose.`
          : "It is one subject, so I take it apart: what it is for, what it costs, when to leave it."
      } ${scene.say([
        "I look through the notes first and keep the answer short.",
        "First the sources, then a table, then a clear recommendation.",
        "A few rows are enough; the point is the decision at the end.",
      ])}`,
    ),
  );
  yield* lookUpAndAnswer(
    scene,
    {
      name: "notes.search",
      args: { query, limit: 3 },
      result: { query, pages, used: 3 },
      before: [
        "Let me look through the notes first.",
        "I check what is written on that.",
        "A quick look at the sources.",
      ],
      title: "Checking sources",
      items: ["Notes of this team", "Earlier decisions", "Open questions"],
    },
    () => (comparison ? compared(scene, comparison) : takenApart(scene, subject)),
  );
}

/** What the look-up is worth. */
const PLAYED = "- `notes.search` is played: there are no notes behind this demo\n";

function compared(scene: Scene, { sides, short, rows, pick }: Comparison): string {
  const [first, second] = [inMarkdown(sides[0]), inMarkdown(sides[1])];
  const table = rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
  return (
    `## ${first} and ${second}\n\n${scene.opening([
      `The short version: ${short}`,
      `In one sentence: ${short}`,
      `Before the details: ${short}`,
    ])}\n\n| | ${first} | ${second} |\n|---|---|---|\n${table}\n\n` +
    `**My advice:** ${pick}\n\n${PLAYED}- When it is decided, ask me to *make a plan*.${scene.alsoHeard()}`
  );
}

function takenApart(scene: Scene, subject: string): string {
  return (
    `## ${inMarkdown(subject)}\n\n${scene.opening([
      "I work from a script and know nothing of the subject itself, so here is how I would take the question apart.",
      "Without a model behind me I cannot know the facts, but I can sort the question for you.",
    ])}\n\n| Part | What to find out |\n|---|---|\n| What it is for | one sentence that a newcomer understands |\n| What it costs | time now, and time every week |\n| When to leave it | the sign that it no longer helps |\n\n` +
    `**Start with the last row:** it is the one people skip, and the one that decides.\n\n${PLAYED}- Name two things to compare and I set them side by side.${scene.alsoHeard()}`
  );
}
