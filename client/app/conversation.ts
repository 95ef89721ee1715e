import type { Author, MessageView, Turn, TurnEnd } from "../react/index.ts";
import { unansweredIn } from "./unanswered.ts";
import { onOtherDays } from "./when.ts";

/** Messages that stand under one name. */
export type Group = {
  /** The same one as long as its first message is. */
  readonly key: string;
  readonly ids: readonly string[];
  readonly by: Author;
  readonly at: number;
  /** It is the first of a day. */
  readonly newDay: boolean;
  /** The run it is part of; absent for what people wrote. */
  readonly run?: { readonly id: string; readonly agent: string; readonly last: boolean };
};

/** A run that ended without a message. */
export type SilentEnd = {
  readonly run: { readonly id: string; readonly agent: string };
  readonly by: Author;
  readonly end: TurnEnd;
  /** The message it stands behind. */
  readonly after: string | undefined;
};

/** A conversation as it is shown. */
export type Conversation = {
  readonly groups: readonly Group[];
  readonly silent: readonly SilentEnd[];
  /** The newest message that was said to be answered and that no run has heard. */
  readonly unanswered: string | undefined;
  /** Tool call id → id of the message with its result, which is shown with the call. */
  readonly results: ReadonlyMap<string, string>;
  /** Message id → when the next one of its run began, ms. */
  readonly nextAt: ReadonlyMap<string, number>;
};

/** What one writes within this time stands under one name, ms. */
const TOGETHER_MS = 5 * 60_000;

/**
 * Puts messages under names: those of one run together, and those that a person wrote at one go. No name goes
 * on behind a run that ended without a message.
 */
export function groupMessages(views: readonly MessageView[], turns: readonly Turn[] = []): Conversation {
  const calls = new Set(
    views.flatMap(({ message }) =>
      message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [],
    ),
  );
  const results = new Map<string, string>();
  const nextAt = new Map<string, number>();
  const shown: MessageView[] = [];
  for (const view of views) {
    const { message } = view;
    if (message.role === "tool" && calls.has(message.toolCallId)) results.set(message.toolCallId, message.id);
    else shown.push(view);
  }
  const silent = silentEnds(views, shown, turns);
  const ends = new Set(silent.map(({ after }) => after));
  const groups: (Group & { ids: string[] })[] = [];
  const lastOfRun = new Map<string, string>();
  const groupOfRun = new Map<string, number>();

  for (const { message, about } of shown) {
    const { by, at, runId, agent } = about;
    const group = groups.at(-1);
    if (runId !== undefined) {
      const before = lastOfRun.get(runId);
      if (before !== undefined) nextAt.set(before, at);
      lastOfRun.set(runId, message.id);
    }
    const goesOn = runId === undefined ? group && sameGo(group, by, at) : group?.run?.id === runId;
    if (group && goesOn && !ends.has(group.ids.at(-1))) {
      group.ids.push(message.id);
      continue;
    }
    if (runId !== undefined) groupOfRun.set(runId, groups.length);
    groups.push({
      key: message.id,
      ids: [message.id],
      by,
      at,
      newDay: !group || onOtherDays(group.at, at),
      ...(runId !== undefined && { run: { id: runId, agent: agent ?? "", last: false } }),
    });
  }
  return {
    groups: groups.map((group, i) =>
      group.run && groupOfRun.get(group.run.id) === i
        ? { ...group, run: { ...group.run, last: true } }
        : group,
    ),
    silent,
    unanswered: unansweredIn(shown, silent),
    results,
    nextAt,
  };
}

/** The runs that ended without a message, each behind what was said before it began. */
function silentEnds(
  views: readonly MessageView[],
  shown: readonly MessageView[],
  turns: readonly Turn[],
): SilentEnd[] {
  const spoke = new Set(views.map(({ about }) => about.turn));
  const lastOf = new Map(shown.map(({ about }, i) => [about.turn, i]));
  const silent: SilentEnd[] = [];
  let after = -1;
  for (const { id, agent, by, end } of turns) {
    after = Math.max(after, lastOf.get(id) ?? -1);
    if (agent === undefined || !end || spoke.has(id)) continue;
    silent.push({ run: { id, agent }, by, end, after: shown[after]?.message.id });
  }
  return silent;
}

function sameGo(group: Group, by: Author, at: number): boolean {
  if (group.run || group.by.kind !== by.kind) return false;
  const same = group.by.kind !== "system" && by.kind !== "system" && group.by.id === by.id;
  return same && at - group.at < TOGETHER_MS && !onOtherDays(group.at, at);
}
