import { changeOf } from "./document-change.ts";
import { draftDocument, drafted } from "./document-draft.ts";
import { readDocumentRequest } from "./document-request.ts";
import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";

/**
 * A document is drafted, or one place of the one in the state is changed. Everything else in it stays as people made
 * it; only who asks to start over gets another one.
 */
export function* documentScene(scene: Scene): Generator<Beat> {
  const { board, document, narrator, text } = scene;
  const id = narrator.id("m");
  const say = (words: string) => narrator.message(id, narrator.words(id, words));
  if (document.isForeign) return yield* say(scene.opening([FOREIGN]));
  const request = readDocumentRequest(text);
  if (document.isEmpty && (request.change === "shorten" || request.change === "rewrite"))
    return yield* say(
      scene.opening(["There is no document yet. Write *draft* and what it is, and I begin one."]),
    );
  yield* narrator.step("Read the request", narrator.think(`${scene.request()} ${scene.say(THOUGHTS)}`));
  if (document.isEmpty || request.change === "fresh") {
    const draft = function* (): Generator<Beat> {
      if (document.isBare) yield narrator.after(80, 160, board.snapshot());
      yield* draftDocument(scene);
    };
    yield* narrator.step("Draft the document", draft());
    yield* narrator.step("Write the answer", say(`${drafted(scene)} ${scene.say(ASKS)}${scene.alsoHeard()}`));
    return yield* scene.sayState();
  }
  const change = changeOf(scene, request);
  if (typeof change === "string") return yield* say(`${scene.opening([change])}${scene.alsoHeard()}`);
  yield* narrator.step("Change the document", change.beats);
  yield* narrator.step(
    "Write the answer",
    say(`${scene.opening([change.said])} ${scene.say(KEPT)}${scene.alsoHeard()}`),
  );
  yield* scene.sayState();
}

const FOREIGN =
  "What stands under *document* in the state is nothing I can write on: no text, or a very long one. I left it alone.";
const THOUGHTS = [
  "It stands beside the conversation, where people may be writing: I touch what was asked for and nothing else.",
  "Others may be in the middle of a sentence there, so I keep to the one place that is meant.",
];
const KEPT = ["The rest stands as you left it.", "Nothing else in it was touched."];
const ASKS = [
  "Type into it, or ask me to *rewrite the opening* or to *add a section about* something.",
  "What is in it is a start: type into it, or have me *rewrite the opening*.",
];
