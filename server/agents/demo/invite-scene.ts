import type { Interrupt, RunAgentInput } from "@ag-ui/core";
import type { Beat } from "./narrator.ts";
import type { Scene } from "./scene.ts";
import { clip, inMarkdown } from "./wording.ts";

/** What a run asks before it goes on. */
export type Invitation = { interrupts: Interrupt[] };

/** A letter that waited to be allowed, and what people said to it. */
export type Waiting = {
  toolCallId: string;
  args: Letter;
  /** What it is to be now; `null` when it is not to be sent. */
  letter: Letter | null;
  /** Nothing else was said: the run is about the letter. */
  goesOn: boolean;
};

type Letter = { to: string; subject: string; text: string };

const TOOL = "mail.send";
/** How long an answer may take, ms. */
const PATIENCE_MS = 30 * 60_000;
const PEOPLE = 214;

/** What a person decides about a letter: whether it goes out, and with which words. */
const DECISION = {
  type: "object",
  properties: {
    approved: { type: "boolean" },
    subject: { type: "string", title: "Subject", minLength: 1, maxLength: 120 },
    text: { type: "string", title: "Text", minLength: 1, maxLength: 2_000 },
  },
  required: ["approved"],
};

/**
 * Writes a letter and asks whether it may go out; nothing is ever sent.
 * @param now ms since the epoch
 * @returns what it asks
 */
export function* inviteScene(scene: Scene, now: number): Generator<Beat, Invitation> {
  const { narrator, board } = scene;
  const what = board.name === "" ? "what we have been working on" : board.name;
  const id = narrator.id("m");
  const opening = scene.opening([
    "The letter is written. It goes to everybody who asked to hear from us, so have a look first.",
    "I have the letter ready. Before it goes out, somebody should read it.",
  ]);
  yield* narrator.message(id, narrator.words(id, opening));
  const toolCallId = narrator.id("t");
  const args: Letter = {
    to: `${PEOPLE} people on the list`,
    subject: `You are invited: ${clip(what, 60)}`,
    text: `Hello,\n\nsoon you can see ${clip(what, 60)} for yourself, before everybody else. Answer this letter and we keep a place for you.\n\nSee you there`,
  };
  yield* narrator.ask(toolCallId, { name: TOOL, args, parentMessageId: id });
  const interrupt = {
    id: `${toolCallId}-approval`,
    reason: "tool_call",
    message: `Send the invitation to ${PEOPLE} people?`,
    toolCallId,
    responseSchema: DECISION,
    expiresAt: new Date(now + PATIENCE_MS).toISOString(),
  };
  return { interrupts: [interrupt] };
}

/** The letter that the answers of a run are about; `null` when they are about none. */
export function waitingInvitation({ messages, resume = [] }: RunAgentInput): Waiting | null {
  for (const message of messages.toReversed()) {
    const call =
      message.role === "assistant"
        ? message.toolCalls?.find(({ function: { name } }) => name === TOOL)
        : undefined;
    const answer = call && resume.find(({ interruptId }) => interruptId === `${call.id}-approval`);
    if (!call || !answer) continue;
    const args = JSON.parse(call.function.arguments) as Letter;
    const { approved, subject, text } = (answer.payload ?? {}) as Partial<Letter> & { approved?: boolean };
    const letter = approved ? { ...args, ...(subject && { subject }), ...(text && { text }) } : null;
    return { toolCallId: call.id, args, letter, goesOn: messages.at(-1)?.role !== "user" };
  }
  return null;
}

/** Does with a letter what people decided. */
export function* answeredScene(scene: Scene, { toolCallId, args, letter, goesOn }: Waiting): Generator<Beat> {
  const { narrator } = scene;
  if (!letter) yield narrator.result(toolCallId, { sent: 0, reason: "nobody allowed it" });
  else yield narrator.result(toolCallId, { sent: PEOPLE, subject: letter.subject });
  if (!goesOn) return;
  const id = narrator.id("m");
  yield* narrator.message(id, narrator.words(id, sentence(scene, args, letter)));
}

function sentence({ random }: Scene, args: Letter, letter: Letter | null): string {
  if (!letter)
    return random.pick([
      "Then it stays here. Say *send the invitation* when it may go out after all.",
      "Good, nothing goes out. Tell me what to change, or say *send the invitation* again later.",
    ]);
  const changed = letter.subject !== args.subject || letter.text !== args.text;
  const how = changed ? ", with your changes" : "";
  return `Sent to ${PEOPLE} people${how}: “${inMarkdown(letter.subject)}”. (This is a demo, so nobody got anything.)`;
}
