import { JOKE, STATUS, THANKS } from "./asked.ts";
import type { Beat } from "./narrator.ts";
import { planList, planState } from "./plan-list.ts";
import type { Scene } from "./scene.ts";
import { inMarkdown } from "./wording.ts";

/** Small talk gets a sentence or three and leaves the plan alone. */
export function* chatScene(scene: Scene): Generator<Beat> {
  const { narrator } = scene;
  const id = narrator.id("m");
  yield* narrator.message(id, narrator.words(id, reply(scene)));
}

const JOKES = [
  "A plan walks into a bar. The bartender asks: “The usual?” – “No, the unexpected.”",
  "I had a joke about deadlines, but I tell it next week.",
  "How many planners change a light bulb? None: it is on the list.",
];

function reply(scene: Scene): string {
  const { text, board } = scene;
  const starts = (words: RegExp) => words.test(text);
  if (starts(/^(?:who are you|what can you do|help)\b/i)) {
    return `${scene.opening(["I am **Planner**, the demo agent."])} I work from a script, without a model or a key. Ask me to *plan a launch*, *draft the announcement*, *rewrite the opening*, *compare SQLite and Postgres* or *write a shell script*.`;
  }
  if (JOKE.test(text)) return scene.opening(JOKES);
  if (starts(THANKS))
    return `${scene.opening(["You are welcome.", "Gladly.", "Any time."])} ${standing(scene)}`;
  if (starts(/^(?:bye|goodbye|see you)\b/i)) {
    return `${scene.opening(["See you soon.", "Until next time."])} What was said here stays.`;
  }
  if (starts(/^(?:ok|okay|great|cool|nice|perfect|lovely|well done)\b/i)) {
    return `${scene.opening(["Good.", "Glad it fits."])} ${standing(scene)}`;
  }
  if (STATUS.test(text)) {
    const list = board.steps.length > 0 ? `\n\n${planList(board)}` : "";
    return `${scene.opening([standing(scene)])}${list}`;
  }
  if (!starts(/^(?:hi|hiya|hello|hey|howdy|good (?:morning|afternoon|evening))\b/i) && text !== "") {
    return `${scene.opening([
      "I have read that. As a script I only know what to do with a few words.",
      "Noted, and left at that: I am a script and know a few words only.",
    ])} Try *plan*, *compare* or *add*. ${board.steps.length > 0 ? standing(scene) : ""}`.trimEnd();
  }
  const name = scene.asked.main.name;
  const to = name ? ` ${inMarkdown(name)}` : "";
  return `${scene.say([`Hello${to}, good to see you.`, `Hi${to}.`, `Good to have you here${to}.`])} I am **Planner**. ${standing(scene)}`;
}

/** Where the plan stands, or what one could ask for. */
function standing({ board, random }: Scene): string {
  const { steps, open } = board;
  if (steps.length === 0) {
    return random.pick([
      "Tell me what to plan and I draft it.",
      "What shall I plan? A launch, a trip, a workshop?",
      "Give me something to plan and I turn it into steps.",
    ]);
  }
  const next = open[0] ? `; next comes **${inMarkdown(open[0].title)}**.` : ".";
  return planState(board).replace(/\.$/, () => next);
}
