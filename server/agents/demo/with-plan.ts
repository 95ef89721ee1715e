import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";

/**
 * Runs `work`, then tells `answer` (two parts of one message), while the shared plan follows: where there is
 * no plan, `steps` become one under `title`; where there is one, it gets one more step named `title`.
 */
export function* withPlan(
  { board, narrator }: Scene,
  title: string,
  steps: readonly [string, string, string],
  { work, answer }: { work: () => Iterable<Beat>; answer: () => [string, string] },
): Generator<Beat> {
  const places: number[] = [];
  yield* narrator.step(
    "Set up the plan",
    (function* () {
      const first = board.steps.length === 0;
      yield narrator.after(150, 300, board.snapshot(first || board.name === "" ? title : undefined));
      for (const step of first ? steps : [title]) {
        yield narrator.after(200, 350, board.add(step));
        places.push(board.steps.at(-1)!.place);
      }
    })(),
  );
  const [a, b = a, c = b] = places as [number, number?, number?];
  yield* narrator.step(
    "Look it up",
    (function* () {
      yield narrator.after(100, 200, board.set([a, "active"]));
      yield* work();
      if (b !== a) yield narrator.after(100, 200, board.set([a, "done"], [b, "active"]));
    })(),
  );
  const id = narrator.id("m");
  const [begin, end] = answer();
  yield* narrator.step(
    "Write the answer",
    narrator.message(
      id,
      (function* () {
        yield* narrator.words(id, begin);
        if (c !== b) yield narrator.after(80, 160, board.set([b, "done"], [c, "active"]));
        yield* narrator.words(id, end);
        yield narrator.after(40, 100, board.set([c, "done"]));
      })(),
    ),
  );
}
