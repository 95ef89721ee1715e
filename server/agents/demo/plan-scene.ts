import { draftDocument, drafted } from "./document-draft.ts";
import { ASKS_FOR_DOCUMENT } from "./document-request.ts";
import { documentScene } from "./document-scene.ts";
import type { Beat } from "./narrator.ts";
import type { PlanStep } from "./plan-board.ts";
import { planList, planState } from "./plan-list.ts";
import type { Scene } from "./scene.ts";
import { asksToPlan, goesOn, planTitle, stepTitle } from "./titles.ts";
import { type Topic, teamOf, topicOf } from "./topics.ts";
import { slotsIn, whenOf } from "./when.ts";
import { capital, count, inMarkdown, progressOf, series } from "./wording.ts";

const FRESH = /\b(?:start over|from scratch|(?:new|another|different|fresh) (?:plan|checklist|roadmap))\b/i;
const PLAN = /\b(?:plan|check-?list|roadmap|agenda|schedule)\b/i;
/** A plan that is longer gets no more steps: nobody would read them. */
const LONGEST = 14;

/**
 * A plan is drafted, or the one in the state is carried on with, unless it is finished and a plan is asked for.
 * What asks for nothing changes nothing.
 */
export function* planScene(scene: Scene): Generator<Beat> {
  const { board, text } = scene;
  const some = board.steps.length > 0;
  if (FRESH.test(text) || (board.open.length === 0 && PLAN.test(text))) return yield* draft(scene);
  if (!some && !goesOn(text) && asksToPlan(text)) return yield* draft(scene);
  if (ASKS_FOR_DOCUMENT.test(text)) return yield* documentScene(scene);
  const more = oneMore(scene);
  if (some && (more !== "" || (board.open.length > 0 && goesOn(text)))) return yield* carryOn(scene, more);
  const id = scene.narrator.id("m");
  yield* scene.narrator.message(id, scene.narrator.words(id, nothingToDo(scene)));
}

function nothingToDo(scene: Scene): string {
  const { board, text } = scene;
  if (board.steps.length === 0)
    return scene.opening(["There is no plan to go on with yet. Write *plan* and what you want to get done."]);
  if (board.open.length === 0)
    return `${scene.opening(["There is nothing left to do."])} ${planState(board)} Tell me what to add, or *start over* with a new plan.`;
  if (stepTitle(text) !== "")
    return `${scene.opening(["I add nothing: that is in the plan, or the plan is long enough."])} ${planState(board)}`;
  return `${planState(board)} I changed nothing. Write *add* before what belongs on the plan, or *go on*.`;
}

/** Looks up when people could meet; what it finds is as scripted as the rest. */
function checkCalendar(scene: Scene, team: string, when: string, free: readonly string[]): Iterable<Beat> {
  const args = { team: team.replace(/^the /, ""), when };
  return scene.lookUp({
    name: "calendar.lookup",
    args,
    result: { team: args.team, free },
    before: [
      `Let me see when ${team} could make it.`,
      `First a look at the calendar of ${team}.`,
      `One moment, I ask the calendar about ${team}.`,
    ],
    title: "Checking the calendar",
    items: [capital(team), "Public holidays", "Other plans that day"],
  });
}

function* draft(scene: Scene): Generator<Beat> {
  const { board, document, narrator, text } = scene;
  const drafts = document.isEmpty && !document.isForeign;
  const topic = topicOf(text);
  const team = teamOf(text, topic);
  const when = whenOf(text);
  const free = slotsIn(when, scene.random);
  const date =
    when.kind === "day" ? `Check ${when.text} with ${team}` : topic.steps[0].replace("{team}", team);

  yield* narrator.step(
    "Read the request",
    narrator.think(
      `${scene.request()} ${scene.say([
        "I begin with the rough steps and then look for a date.",
        "First the steps. The date decides most of the rest, so it comes right behind.",
        "I start with a few steps, each small enough to tick off within days.",
      ])} ${capital(team)} must be free at the right time, so I check that next.`,
    ),
  );
  yield* narrator.step(
    "Draft the plan",
    (function* () {
      board.clear();
      yield narrator.after(100, 200, board.snapshot(planTitle(text, topic)));
      for (const step of [date, ...topic.steps.slice(1)]) yield narrator.after(110, 180, board.add(step));
    })(),
  );
  yield* narrator.step(
    "Check the date",
    (function* () {
      yield narrator.after(100, 200, board.set([0, "active"]));
      yield* checkCalendar(scene, team, when.text, free);
      yield narrator.after(100, 200, board.set([0, "done"], [1, "active"]));
    })(),
  );
  if (drafts) yield* narrator.step("Draft the document", draftDocument(scene));
  const id = narrator.id("m");
  const steps = count(board.steps.length);
  const found = `\`calendar.lookup\`, a made-up calendar, has ${team} free **${free[0]}**, or else ${free[1]} or ${free[2]}`;
  const named = when.kind === "span" ? "You named no date" : `You named ${when.text}`;
  yield* narrator.step(
    "Write the answer",
    narrator.message(
      id,
      (function* () {
        yield* narrator.words(
          id,
          `## ${board.name}\n\n${scene.opening([
            `Here is a first draft with ${steps} steps. ${named}: ${found}.`,
            `I have put ${steps} steps into the shared plan. ${named}: ${found}.`,
            `This is a plan in ${steps} steps. ${named}: ${found}.`,
          ])}\n\n`,
        );
        yield* narrator.words(id, risks(topic));
        yield narrator.after(80, 160, board.set([1, "done"]));
        if (drafts) yield* narrator.words(id, `${drafted(scene)}\n\n`);
        else if (!document.isEmpty) yield* narrator.words(id, `${scene.say(LEFT)}\n\n`);
        yield* narrator.words(id, closing(scene));
      })(),
    ),
  );
}

function risks({ risks }: Topic): string {
  const rows = risks.map((row) => `| ${row.join(" | ")} |`).join("\n");
  return `What could go wrong:\n\n| Risk | What we do about it |\n|---|---|\n${rows}\n\n`;
}

/** Every step with its state, and how it goes on. */
function closing(scene: Scene): string {
  const { board } = scene;
  const next = board.open.length === 0 ? "Tell me what to add." : scene.say(INVITATIONS);
  return `${planState(board)}\n\n${planList(board)}\n\n${next}${scene.alsoHeard()}`;
}

const LEFT = [
  "The document stays as you left it; *start the document over* brings a fresh one.",
  "I left the document as it is. Tell me to *start the document over* when it no longer fits.",
];

const INVITATIONS = [
  "Write *go on* and I tick off the next two, or *add* and what is missing.",
  "Tell me to *go on*, or what to *add*.",
];

/** The title of one more step, as it was asked for; empty without room or need. */
function oneMore({ text, board }: Scene): string {
  const title = stepTitle(text);
  const have = new Set(board.steps.map((step) => step.title.toLowerCase()));
  return board.steps.length >= LONGEST || have.has(title.toLowerCase()) ? "" : title;
}

function* carryOn(scene: Scene, more: string): Generator<Beat> {
  const { board, narrator, text } = scene;
  const topic = topicOf(`${board.name} ${text}`);
  const team = teamOf(text, topic);
  const when = whenOf(text);
  const free = slotsIn(when, scene.random);
  const all = board.steps.length;

  yield* narrator.step(
    "Read the request",
    narrator.think(
      `${scene.request()} There is a plan already, and ${progressOf(all - board.open.length, all)}. ${scene.say(
        [
          "I keep it as people left it.",
          "No need to start over: I take up what is open.",
          "What people changed in it stays; I only tick off.",
        ],
      )} ${more ? `I also add “${more}”.` : "Nothing has to be added."}`,
    ),
  );
  // what was open before comes first, the step this run adds only when nothing else is
  const work: PlanStep[] = board.open.slice(0, 2);
  yield* narrator.step(
    "Carry on with the plan",
    (function* () {
      yield narrator.after(150, 300, board.snapshot(board.name === "" ? topic.title : undefined));
      if (more === "") return;
      yield narrator.after(250, 450, board.add(more));
      if (work.length === 0) work.push(...board.open);
    })(),
  );
  const [first, second] = work;
  yield* narrator.step(
    "Work on open steps",
    (function* () {
      if (first) yield narrator.after(100, 200, board.set([first.place, "active"]));
      yield* checkCalendar(scene, team, when.text, free);
      if (first) yield narrator.after(100, 200, board.set([first.place, "done"]));
      if (second) yield narrator.after(200, 300, board.set([second.place, "active"]));
    })(),
  );
  const id = narrator.id("m");
  yield* narrator.step(
    "Write the answer",
    narrator.message(
      id,
      (function* () {
        yield* narrator.words(id, `### ${board.name}: what changed\n\n${moved(scene, work)}\n\n`);
        yield* narrator.words(id, changes(work, more, `${team} could meet ${series(free)}`));
        if (second) yield narrator.after(80, 160, board.set([second.place, "done"]));
        yield* narrator.words(id, closing(scene));
      })(),
    ),
  );
}

function moved(scene: Scene, work: readonly PlanStep[]): string {
  const steps = series(work.map((step) => `**${inMarkdown(step.title)}**`));
  return scene.opening([
    `I only play the work, so I count ${steps} as done.`,
    `From now on ${steps} ${work.length === 1 ? "counts" : "count"} as done; the work behind it is only played.`,
  ]);
}

/** What this run did, as a list. */
function changes(work: readonly PlanStep[], more: string, found: string): string {
  const lines = work.map((step) => `- **Done:** ${inMarkdown(step.title)}`);
  if (more !== "" && !work.some((step) => step.title === more)) lines.push(`- **New:** ${inMarkdown(more)}`);
  lines.push(`- \`calendar.lookup\`, a made-up calendar: ${found}`);
  return `${lines.join("\n")}\n\n`;
}
