import type {
  InputInfo,
  InterruptInfo,
  Json,
  Role,
  ThreadSettings,
  TokenUsage,
  ToolInfo,
} from "../protocol/index.ts";
import type { ActiveRunState } from "./active-runs.ts";
import type { Slot } from "./message-list.ts";
import { Timeline } from "./timeline.ts";
import type { TurnNode } from "./turns.ts";

/** A row of the stored fold: text for the store, which does not look into it. */
export type FoldRow = { id: string; place: number; json: string };
/** What changed in a timeline since its fold was last written, as rows. */
export type FoldRows = { rest: string; messages: FoldRow[]; turns: FoldRow[]; dropped: string[] };

type Rest = {
  head: string | null;
  title: string;
  archived: boolean;
  settings: ThreadSettings;
  members: Record<string, Role>;
  state: Json;
  runs: (Omit<ActiveRunState, "open" | "calls"> & {
    open: [string, ActiveRunState["started"]][];
    calls: [string, boolean][];
  })[];
  inputs: InputInfo[];
  interrupts: InterruptInfo[];
  tools: ToolInfo[];
  usage: TokenUsage[];
  /** The place the next message gets. */
  end: number;
};

/**
 * Takes what changed since the last call out of a timeline, as rows for the store ([L6]). The cost is that
 * of the changes and the state, not that of the thread.
 */
export function takeFold(timeline: Timeline): FoldRows {
  const { changed, dropped } = timeline.messages.takeChanges();
  const rest: Rest = {
    head: timeline.turns.head,
    title: timeline.title,
    archived: timeline.archived,
    settings: timeline.settings,
    members: timeline.members,
    state: timeline.state,
    runs: timeline.runs.all().map((run) => ({ ...run, open: [...run.open], calls: [...run.calls] })),
    inputs: [...timeline.inputs.values()],
    interrupts: [...timeline.interrupts.values()],
    tools: [...timeline.tools.values()],
    usage: timeline.usage,
    end: timeline.messages.end,
  };
  return {
    rest: JSON.stringify(rest),
    messages: changed.map(({ message, place, turn, at, asOf, said }) => ({
      id: message.id,
      place,
      json: JSON.stringify({ turn, at, asOf, said, message }),
    })),
    turns: timeline.turns.takeChanges().map(({ place, ...turn }) => ({
      id: turn.id,
      place,
      json: JSON.stringify(turn),
    })),
    dropped,
  };
}

/**
 * Brings a timeline back from its stored fold; the entries behind `fold.seq` are then applied to it.
 * @param fold rows in order of place
 * @throws SyntaxError when a row is not JSON: the thread must be refused, not shown empty
 */
export function fromFold(fold: {
  seq: number;
  rest: string;
  messages: FoldRow[];
  turns: FoldRow[];
}): Timeline {
  const timeline = new Timeline();
  const rest = JSON.parse(fold.rest) as Rest;
  timeline.seq = fold.seq;
  timeline.title = rest.title;
  timeline.archived = rest.archived;
  timeline.settings = rest.settings;
  timeline.members = rest.members;
  timeline.state = rest.state;
  timeline.usage = rest.usage;
  for (const { place, json } of fold.turns) {
    timeline.turns.restore({ ...(JSON.parse(json) as Omit<TurnNode, "place">), place });
  }
  timeline.turns.move(rest.head);
  for (const { place, json } of fold.messages) {
    timeline.messages.restore({ ...(JSON.parse(json) as Omit<Slot, "place">), place });
  }
  timeline.messages.end = rest.end;
  for (const run of rest.runs) {
    timeline.runs.restore({ ...run, open: new Map(run.open), calls: new Map(run.calls) });
  }
  for (const input of rest.inputs) timeline.inputs.set(input.inputId, input);
  for (const interrupt of rest.interrupts) timeline.interrupts.set(interrupt.id, interrupt);
  for (const tool of rest.tools) timeline.tools.set(tool.toolCallId, tool);
  return timeline;
}
