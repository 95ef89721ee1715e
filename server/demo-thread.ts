import type { Caller, RoomRequest, RoomsPort } from "./room/port.ts";

/** The thread that the demo page opens. */
export const DEMO_THREAD = "launch";

const TITLE = "Launch of the mobile app";
const PLAN = [
  { id: "date", title: "Find a date that suits marketing", status: "done" },
  { id: "scope", title: "List what is in and what stays out", status: "done" },
  { id: "page", title: "Write the one-page announcement", status: "active" },
  { id: "try", title: "Try it with a handful of customers", status: "pending" },
  { id: "support", title: "Brief support on the likely questions", status: "pending" },
];
const DOCUMENT = `# Announcement

From the day we name here, everybody can use what a handful of customers have tried so far. It does one thing better than before, and this page says which.

## What is new

Notes that two people write at once, on the train too.

## Who it is for

Teams that have asked for it.
`;
const NOTES = [
  ["ana", "Ana", "The plan and a first page are beside this. Tick what is done, and write where you like."],
  ["ben", "Ben", "I take “Who it is for”. Ask Planner to rewrite the opening meanwhile, nothing gets lost."],
] as const;

/**
 * Makes the thread of the demo page, as if two people had begun; one that is there already is left as it is.
 * @throws Rejection store_failed
 */
export async function seedDemoThread(rooms: RoomsPort): Promise<void> {
  const key = { tenant: "default", thread: DEMO_THREAD };
  const [[id, name]] = NOTES;
  const ana = callerOf(id, name);
  const { seq } = await rooms.join({ key, caller: ana, cursor: null, create: true, history: 0 });
  if (seq === 0) {
    const ask = (caller: Caller, frame: object) =>
      rooms.request({ key, caller, frame: { ref: 0, thread: DEMO_THREAD, ...frame } as RoomRequest });
    await ask(ana, { type: "update", key: "demo title", title: TITLE });
    const patch = [{ op: "add", path: "", value: { title: TITLE, plan: PLAN, document: DOCUMENT } }];
    await ask(ana, { type: "patch", key: "demo state", base: 1, patch });
    for (const [id, name, content] of NOTES) {
      const messages = [{ id: `demo-${id}`, role: "user", content }];
      await ask(callerOf(id, name), { type: "submit", inputId: `demo note ${id}`, start: false, messages });
    }
  }
  await rooms.leave({ key, connection: ana.connection });
}

function callerOf(id: string, name: string): Caller {
  const user = { id: `guest:demo-${id}`, name };
  return { tenant: "default", user, client: `demo-${id}`, connection: `demo-${id}`, role: "editor" };
}
