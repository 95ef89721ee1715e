import type { Beat } from "./narrator.ts";
import type { LookUp, Scene } from "./scene.ts";

/** Looks something up, then tells `answer` as one message. The shared plan stays as it is. */
export function* lookUpAndAnswer(scene: Scene, work: LookUp, answer: () => string): Generator<Beat> {
  const { narrator } = scene;
  yield* narrator.step("Look it up", scene.lookUp(work));
  const id = narrator.id("m");
  yield* narrator.step("Write the answer", narrator.message(id, narrator.words(id, answer())));
}
