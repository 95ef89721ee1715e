import { lookUpAndAnswer } from "./look-up-and-answer.ts";
import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";
import { snippetOf } from "./snippets.ts";
import { capital } from "./wording.ts";

/** A request for code is answered with a short program and what to know about it. */
export function* codeScene(scene: Scene): Generator<Beat> {
  const { what, language, file, code, notes } = snippetOf(scene.text);
  const lines = code.split("\n").length;

  yield* scene.narrator.step(
    "Read the request",
    scene.narrator.think(
      `${scene.request()} The closest thing I have at hand is ${what}. ${scene.say([
        "Short enough to read in one go, with the one trap it has explained.",
        "I keep it to one file without dependencies and say what to watch out for.",
        "Plain code first, then two remarks on why it is written that way.",
      ])}`,
    ),
  );
  yield* lookUpAndAnswer(
    scene,
    {
      name: "lint.check",
      args: { file, language },
      result: { file, lines, problems: 0 },
      before: [
        "I check it for slips before I show it.",
        "One look by the linter first.",
        "Let me read it through once.",
      ],
      title: `Checking ${file}`,
      items: ["Names", "Edge cases", "Layout"],
    },
    () =>
      `## ${capital(what)}\n\n${scene.opening([
        `Here is \`${file}\`, ${lines} lines and no dependencies:`,
        `This is the shortest version I would still be happy to read in a year, \`${file}\`:`,
        `I would begin with this, in \`${file}\`:`,
      ])}\n\n\`\`\`${language}\n${code}\n\`\`\`\n\n- ${notes[0]}\n- ${notes[1]}\n\nI am a **scripted demo**, and \`lint.check\` is played: try it before you rely on it.${scene.alsoHeard()}`,
  );
}
