import type { Beat } from "./narrator.ts";
import type { PlanStep } from "./plan-board.ts";
import type { Scene } from "./scene.ts";
import { planTitle, stepTitle } from "./titles.ts";
import { type Topic, teamOf, topicOf, whenOf } from "./topics.ts";
import { capital, count, inMarkdown, progressOf, series } from "./wording.ts";

const FRESH = /\b(?:start over|from scratch|(?:new|another|different|fresh) (?:plan|checklist|roadmap))\b/i;
const PLAN = /\b(?:plan|check-?list|roadmap|agenda|schedule)\b/i;
/** A plan that is longer gets no more steps: nobody would read them. */
const LONGEST = 14;

/** A plan is drafted, or the one in the state is carried on with, unless it is finished and a plan is asked for. */
export function* planScene(scene: Scene): Generator<Beat> {
  const { board, text } = scene;
  const fresh = FRESH.test(text) || (board.open.length === 0 && PLAN.test(text));
  if (board.steps.length === 0 || fresh) yield* draft(scene);
  else yield* carryOn(scene);
}

/** Three free slots, in the order of the week; the first is the one the answer takes. */
function slots({ random }: Scene): [string, string, string] {
  const days = ["Mon", "Tue", "Wed", "Thu", "Fri"];
  days.splice(Math.floor(random.between(0, 5)), 1);
  days.splice(Math.floor(random.between(0, 4)), 1);
  return days.map((day) => `${day} ${random.pick(["09:30", "10:00", "11:00", "14:00", "15:30"])}`) as [
    string,
    string,
    string,
  ];
}

function checkCalendar(scene: Scene, team: string, free: readonly string[]): Iterable<Beat> {
  const args = { team: team.replace(/^the /, ""), when: whenOf(scene.text) };
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
  const { board, narrator, text } = scene;
  const topic = topicOf(text);
  const team = teamOf(text, topic);
  const free = slots(scene);
  const tickable = /\b(?:check-?list|to-?dos?)\b/i.test(text);

  yield* narrator.step(
    "Read the request",
    narrator.think(
      `${scene.request()} ${scene.say([
        "There is no plan here yet, so I begin with the rough steps and settle the date first.",
        "A fresh plan, then. The date decides most of the rest, so it comes first.",
        "I start with a few steps, each small enough to tick off within days.",
      ])} ${capital(team)} must be free at the right time, so I check that before I write anything down.`,
    ),
  );
  yield* narrator.step(
    "Draft the plan",
    (function* () {
      board.clear();
      yield narrator.after(150, 300, board.snapshot(planTitle(text, topic)));
      for (const step of topic.steps) {
        yield narrator.after(180, 320, board.add(step.replace("{team}", team)));
      }
    })(),
  );
  yield* narrator.step(
    "Check the date",
    (function* () {
      yield narrator.after(100, 200, board.set([0, "active"]));
      yield* checkCalendar(scene, team, free);
      yield narrator.after(100, 200, board.set([0, "done"], [1, "active"]));
    })(),
  );
  const id = narrator.id("m");
  const steps = count(board.steps.length);
  const found = `\`calendar.lookup\` shows ${team} free on **${free[0]}**, or else on ${free[1]} or ${free[2]}`;
  yield* narrator.step(
    "Write the answer",
    narrator.message(
      id,
      (function* () {
        yield* narrator.words(
          id,
          `## ${board.name}\n\n${scene.opening([
            `Here is a first draft with ${steps} steps. The date is settled: ${found}.`,
            `The plan stands, with ${steps} steps. A date is there too: ${found}.`,
            `I have put ${steps} steps into the shared plan. Good news on the date: ${found}.`,
          ])}\n\n`,
        );
        yield* narrator.words(id, tickable ? checklist(scene) : risks(topic));
        yield narrator.after(80, 160, board.set([1, "done"]));
        yield* narrator.words(id, closing(scene));
      })(),
    ),
  );
}

function checklist({ board }: Scene): string {
  const lines = board.steps.map(({ place, title }) => `- [${place < 2 ? "x" : " "}] ${inMarkdown(title)}`);
  return `${lines.join("\n")}\n\n`;
}

function risks({ risks }: Topic): string {
  const rows = risks.map((row) => `| ${row.join(" | ")} |`).join("\n");
  return `What could go wrong:\n\n| Risk | What we do about it |\n|---|---|\n${rows}\n\n`;
}

/** What is done by now, what comes next, and an invitation to change it. */
function closing(scene: Scene): string {
  const { open, steps } = scene.board;
  const next = open[0] ? `; next comes **${inMarkdown(open[0].title)}**` : "";
  return `${capital(progressOf(steps.length - open.length, steps.length))}${next}. ${scene.say([
    "Change anything in the plan; I go on from what you leave there.",
    "Move, rename or tick off what you like, I work with what I find.",
    "Tell me what is missing and I add it.",
  ])}${scene.alsoHeard()}`;
}

/** The title of one more step: what was asked for, else a likely next one; empty without room or need. */
function oneMore({ text, board }: Scene, topic: Topic): string {
  const have = new Set(board.steps.map((step) => step.title.toLowerCase()));
  if (board.steps.length >= LONGEST) return "";
  return (
    [stepTitle(text), ...topic.later].find((title) => title !== "" && !have.has(title.toLowerCase())) ?? ""
  );
}

function* carryOn(scene: Scene): Generator<Beat> {
  const { board, narrator, text } = scene;
  const topic = topicOf(`${board.name} ${text}`);
  const team = teamOf(text, topic);
  const free = slots(scene);
  const more = oneMore(scene, topic);
  const all = board.steps.length;

  yield* narrator.step(
    "Read the request",
    narrator.think(
      `${scene.request()} There is a plan already, and ${progressOf(all - board.open.length, all)}. ${scene.say(
        [
          "I keep it as people left it and go on where it stands.",
          "No need to start over: I take up what is open.",
          "What people changed in it stays; I only move it forward.",
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
      yield* checkCalendar(scene, team, free);
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
        yield* narrator.words(id, changes(scene, work, more, `${team} could meet on ${series(free)}`));
        if (second) yield narrator.after(80, 160, board.set([second.place, "done"]));
        yield* narrator.words(id, closing(scene));
      })(),
    ),
  );
}

function moved(scene: Scene, work: readonly PlanStep[]): string {
  if (work.length === 0)
    return scene.opening(["There was nothing open, so I only looked it over once more."]);
  const steps = series(work.map((step) => `**${inMarkdown(step.title)}**`));
  return scene.opening([
    `I picked the plan up where it stood and worked on ${steps}.`,
    `The plan has moved on. My part this time was ${steps}.`,
    `Here is what happened since you last looked: I took care of ${steps}.`,
  ]);
}

/** What this run did, as a list, and what is still open, as a table. */
function changes({ board }: Scene, work: readonly PlanStep[], more: string, found: string): string {
  const worked = (title: string) => work.some((step) => step.title === title);
  const lines = work.map((step) => `- **Done:** ${inMarkdown(step.title)}`);
  if (more !== "" && !worked(more)) lines.push(`- **New:** ${inMarkdown(more)}`);
  lines.push(`- \`calendar.lookup\`: ${found}, so nothing has to wait`);
  const left = board.open.filter((step) => !work.some(({ place }) => place === step.place)).slice(0, 3);
  if (left.length === 0) return `${lines.join("\n")}\n\n`;
  const rows = left.map((step, n) => `| ${n + 1} | ${inMarkdown(step.title)} |`).join("\n");
  return `${lines.join("\n")}\n\nStill open:\n\n| | Step |\n|---|---|\n${rows}\n\n`;
}
