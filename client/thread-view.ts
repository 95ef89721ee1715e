import type { Author, Json, Message } from "../shared/protocol/index.ts";
import type { Timeline } from "../shared/timeline/timeline.ts";
import { createMemo, sameFields, sameItems } from "./memo.ts";
import type { PendingInputs } from "./pending-inputs.ts";
import type { PendingPatches } from "./pending-patches.ts";
import type { MessageView, ThreadRun, ThreadSnapshot } from "./thread-snapshot.ts";

const NOTHING: readonly never[] = [];
const EMPTY = {};
const SYSTEM: Author = { kind: "system" };

/** The immutable values of a thread, each made anew only when it changed. */
export interface ThreadView {
  /** The conversation, with what is pending at its end. */
  messages(): readonly Message[];
  /** Their ids; the same array as long as no message comes, goes or moves. */
  ids(): readonly string[];
  /** Everything else that is read from the timeline. */
  parts(): Pick<
    ThreadSnapshot,
    | ("turns" | "before" | "state" | "runs" | "inputs" | "interrupts" | "toolCalls")
    | ("members" | "settings" | "title" | "archived" | "head")
  >;
  /** A message of the conversation with what is known about it; `undefined` when it is not there. */
  view(id: string): MessageView | undefined;
}

/** Makes a {@link ThreadView}. */
export function createThreadView(
  pending: PendingInputs,
  patches: PendingPatches,
  current: () => Timeline | null,
): ThreadView {
  const kept = {
    messages: createMemo(),
    ids: createMemo(),
    turns: createMemo(),
    state: createMemo(),
    runs: createMemo(),
    inputs: createMemo(),
    interrupts: createMemo(),
    tools: createMemo(),
    streaming: createMemo(),
    views: createMemo(),
  };

  const messages = () => {
    const timeline = current();
    const list = timeline?.list ?? NOTHING;
    const of = [list, pending.version, timeline?.versions.inputs];
    return kept.messages<readonly Message[]>(of, (old) => {
      const tail = pending.visible(timeline);
      return sameItems(old, tail.length > 0 ? [...list, ...tail] : list);
    });
  };

  const streaming = (timeline: Timeline) =>
    kept.streaming<ReadonlySet<unknown>>([timeline, timeline.runs.version], () => {
      const open = timeline.runs.all().flatMap((run) => [...run.open.values()]);
      return new Set(
        open.map(({ messageId, toolCallId }) =>
          toolCallId === undefined ? messageId : timeline.messages.ownerOf(toolCallId as string)?.message.id,
        ),
      );
    });

  const committed = (id: string, timeline: Timeline): MessageView | undefined => {
    const slot = timeline.messages.get(id);
    if (!slot || !timeline.turns.visible(slot.turn)) return undefined;
    const turn = timeline.turns.get(slot.turn);
    const about = {
      by: turn?.by ?? SYSTEM,
      at: slot.at,
      turn: slot.turn,
      streaming: streaming(timeline).has(id),
    };
    if (turn?.agent === undefined) return { message: slot.message, about };
    const run = { agent: turn.agent, runId: turn.id, ...(turn.end && { end: turn.end }) };
    return { message: slot.message, about: { ...about, ...run } };
  };

  const submitted = (id: string, timeline: Timeline | null): MessageView | undefined => {
    const input = pending.of(id);
    const message = pending.visible(timeline).find((each) => each.id === id);
    if (!input || !message) return undefined;
    return { message, about: { by: input.by, at: input.at, streaming: false, pending: input.view } };
  };

  return {
    messages,
    ids() {
      const timeline = current();
      // Not of the messages: a streamed token makes new ones, with the same ids.
      const of = [timeline?.slots, pending.version, timeline?.versions.inputs];
      return kept.ids<readonly string[]>(of, (old) => {
        const ids = messages().map(({ id }) => id);
        return sameItems(old, ids);
      });
    },
    parts() {
      const timeline = current();
      const { versions, runs, turns } = timeline ?? {};
      return {
        turns: kept.turns([timeline, turns?.version], () => turns?.current() ?? NOTHING),
        before: timeline?.before ?? 0,
        state: kept.state<Json>([timeline?.state, patches.version], () =>
          patches.over(timeline ? timeline.state : EMPTY),
        ),
        runs: kept.runs([timeline, runs?.version], () => runs?.all().map(runOf) ?? []),
        inputs: kept.inputs([timeline, versions?.inputs], () => list(timeline?.inputs)),
        interrupts: kept.interrupts([timeline, versions?.interrupts, turns?.pathVersion], () =>
          list(timeline?.interrupts).filter(({ runId }) => !turns?.get(runId) || turns.visible(runId)),
        ),
        toolCalls: kept.tools([timeline, versions?.tools], () =>
          list(timeline?.tools).filter(({ status }) => status !== "answered"),
        ),
        members: timeline?.members ?? EMPTY,
        settings: timeline?.settings ?? EMPTY,
        title: timeline?.title ?? "",
        archived: timeline?.archived ?? false,
        head: timeline?.turns.head ?? null,
      };
    },
    view(id) {
      const timeline = current();
      const views = kept.views<Map<string, MessageView>>([timeline], () => new Map());
      const old = views.get(id);
      const fresh = (timeline && committed(id, timeline)) ?? submitted(id, timeline);
      if (fresh && old?.message === fresh.message && sameFields(old.about, fresh.about)) return old;
      if (fresh) views.set(id, fresh);
      else views.delete(id);
      return fresh;
    },
  };
}

const list = <T>(map: ReadonlyMap<string, T> | undefined): T[] => [...(map?.values() ?? [])];

function runOf({
  open,
  calls: _calls,
  turn: _turn,
  ...run
}: ReturnType<Timeline["runs"]["all"]>[number]): ThreadRun {
  return { ...run, open: [...open.values()] };
}
