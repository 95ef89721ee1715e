import type { Author, MessageView } from "../react/index.ts";
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

/** A conversation as it is shown. */
export type Conversation = {
  readonly groups: readonly Group[];
  /** Tool call id → id of the message with its result, which is shown with the call. */
  readonly results: ReadonlyMap<string, string>;
  /** Message id → when the next one of its run began, ms. */
  readonly nextAt: ReadonlyMap<string, number>;
};

/** What one writes within this time stands under one name, ms. */
const TOGETHER_MS = 5 * 60_000;

/**
 * Puts messages under names: those of one run together, and those that a person wrote at one go.
 * @param ends messages behind which something else stands, so that no name goes on there
 */
export function groupMessages(
  views: readonly MessageView[],
  ends: ReadonlySet<string | undefined> = new Set(),
): Conversation {
  const calls = new Set(
    views.flatMap(({ message }) =>
      message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [],
    ),
  );
  const results = new Map<string, string>();
  const nextAt = new Map<string, number>();
  const groups: (Group & { ids: string[] })[] = [];
  const lastOfRun = new Map<string, string>();
  const groupOfRun = new Map<string, number>();

  for (const { message, about } of views) {
    if (message.role === "tool" && calls.has(message.toolCallId)) {
      results.set(message.toolCallId, message.id);
      continue;
    }
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
    results,
    nextAt,
  };
}

function sameGo(group: Group, by: Author, at: number): boolean {
  if (group.run || group.by.kind !== by.kind) return false;
  const same = group.by.kind !== "system" && by.kind !== "system" && group.by.id === by.id;
  return same && at - group.at < TOGETHER_MS && !onOtherDays(group.at, at);
}
