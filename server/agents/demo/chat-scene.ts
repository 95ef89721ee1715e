import { STATUS } from "./asked.ts";
import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";
import { capital, inMarkdown, progressOf } from "./wording.ts";

/** Small talk gets a sentence or three and leaves the plan alone. */
export function* chatScene(scene: Scene): Generator<Beat> {
  const { narrator } = scene;
  const id = narrator.id("m");
  yield* narrator.message(id, narrator.words(id, reply(scene)));
}

function reply(scene: Scene): string {
  const { text } = scene;
  const starts = (words: RegExp) => words.test(text);
  if (starts(/^(?:who are you|what can you do|help)\b/i)) {
    return `${scene.opening(["I am **Planner**, the demo agent."])} I work from a script, without a model or a key. Ask me to *plan a launch*, to *compare SQLite and Postgres*, or to *write a shell script*.`;
  }
  if (starts(/^(?:thanks?|thank you|thx|cheers)\b/i)) {
    return `${scene.opening(["You are welcome.", "Gladly.", "Any time."])} ${standing(scene)}`;
  }
  if (starts(/^(?:bye|goodbye|see you)\b/i)) {
    return `${scene.opening(["See you soon.", "Until next time."])} The plan stays here as you leave it.`;
  }
  if (starts(/^(?:ok|okay|great|cool|nice|perfect|lovely|well done)\b/i)) {
    return `${scene.opening(["Good.", "Glad it fits."])} ${standing(scene)}`;
  }
  if (STATUS.test(text)) return scene.opening([standing(scene)]);
  const name = scene.asked.main.name;
  const to = name ? ` ${inMarkdown(name)}` : "";
  return `${scene.say([`Hello${to}, good to see you.`, `Hi${to}.`, `Good to have you here${to}.`])} I am **Planner**. ${standing(scene)}`;
}

/** Where the plan stands, or what one could ask for. */
function standing({ board, random }: Scene): string {
  const { steps, open } = board;
  if (steps.length === 0) {
    return random.pick([
      "Tell me what you want to get done and I draft a plan.",
      "What shall we plan? A launch, a trip, a workshop?",
      "Give me a goal and I turn it into steps.",
    ]);
  }
  const next = open[0] ? `; next comes **${inMarkdown(open[0].title)}**` : "";
  return `${capital(progressOf(steps.length - open.length, steps.length))}${next}.`;
}
