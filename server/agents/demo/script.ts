import { EventType, PROTOCOL_VERSION, type RunAgentInput } from "@ag-ui/core";
import { type Kind, readAsked } from "./asked.ts";
import { chatScene } from "./chat-scene.ts";
import { codeScene } from "./code-scene.ts";
import { dateScene, pickedDate, pickedScene } from "./date-scene.ts";
import { DocumentBoard } from "./document-board.ts";
import { documentScene } from "./document-scene.ts";
import { explainScene } from "./explain-scene.ts";
import { answeredScene, type Invitation, inviteScene, waitingInvitation } from "./invite-scene.ts";
import { type Beat, Narrator } from "./narrator.ts";
import { PlanBoard } from "./plan-board.ts";
import { planScene } from "./plan-scene.ts";
import { seededRandom } from "./random.ts";
import { Scene } from "./scene.ts";

const SCENES: Record<Exclude<Kind, "date" | "invite">, (scene: Scene) => Iterable<Beat>> = {
  chat: chatScene,
  document: documentScene,
  plan: planScene,
  explain: explainScene,
  code: codeScene,
};

/**
 * One whole run of Planner as beats, from RUN_STARTED to RUN_FINISHED. The same seed and input give the same beats.
 * @param now when what it asks begins to expire, ms since the epoch
 */
export function* script(input: RunAgentInput, seed: number, now: number): Generator<Beat> {
  const { threadId, runId } = input;
  const asked = readAsked(input.messages);
  const chosen = `${seed} ${runId} ${asked.main.text}`;
  // pauses have their own source, so that changing one never changes the words
  const narrator = new Narrator(runId, seededRandom(`pace ${chosen}`));
  const board = new PlanBoard(input.state, runId);
  const document = new DocumentBoard(input.state);
  const scene = new Scene(asked, board, document, narrator, seededRandom(chosen));
  const protocolVersion = PROTOCOL_VERSION;
  yield { wait: 0, event: { type: EventType.RUN_STARTED, threadId, runId, protocolVersion } };
  let interrupts: Invitation["interrupts"] = [];
  const waiting = waitingInvitation(input);
  const picked = pickedDate(input);
  if (waiting) yield* answeredScene(scene, waiting);
  if (picked) yield* pickedScene(scene, picked);
  else if (waiting?.goesOn !== true) {
    if (asked.kind === "date") yield* dateScene(scene, input.tools ?? [], now);
    else if (asked.kind === "invite") interrupts = (yield* inviteScene(scene, now)).interrupts;
    else yield* SCENES[asked.kind](scene);
  }
  const read = input.messages.reduce(
    (sum, { content }) => sum + (typeof content === "string" ? content.length : 0),
    0,
  );
  const usage = [narrator.usage(read)];
  const outcome = interrupts.length > 0 ? { outcome: { type: "interrupt" as const, interrupts } } : {};
  yield narrator.after(10, 40, { type: EventType.RUN_FINISHED, threadId, runId, usage, ...outcome });
}
