import type * as Y from "yjs";
import type { Entry, Thread } from "../../react/index.ts";
import { type CaretSource, indexIn, placeBehind } from "./remote-carets.ts";

/** How an agent looks in this window. */
export type AgentLook = (agent: string) => { name: string; colour: string };

type Writing = { run: string; agent: string; inserted: string };

/**
 * The carets of agents in a text: each stands behind what its agent wrote last, while its run is under way.
 * @param path the pointer to the text in the state
 */
export function followAgents(thread: Thread, text: Y.Text, path: string, look: AgentLook): CaretSource {
  const places = new Map<string, { agent: string; place: Y.RelativePosition }>();
  const isUnderWay = (run: string) => thread.runs.some(({ runId }) => runId === run);
  return {
    list: () =>
      [...places].flatMap(([run, { agent, place }]) => {
        const index = isUnderWay(run) ? indexIn(text, place) : "elsewhere";
        if (index === "elsewhere") return [];
        return [{ key: run, ...look(agent), place: index === null ? null : { anchor: index, head: index } }];
      }),
    subscribe(listener) {
      /** What the log says was written; the text itself comes right behind it. */
      let said: Writing[] = [];
      const heard = (items: readonly Entry[]) => {
        for (const entry of items) {
          const run = entry.kind === "text" && entry.path === path ? entry.run : null;
          const agent = thread.runs.find(({ runId }) => runId === run)?.agent;
          if (entry.kind !== "text" || run === null || agent === undefined) continue;
          said.push({ run, agent, inserted: entry.edits.at(-1)?.[2] ?? "" });
        }
      };
      const written = ({ delta }: Y.YTextEvent, { local }: Y.Transaction) => {
        if (local || said.length === 0) return;
        const news = said;
        said = [];
        const ends = endsOf(delta);
        // As the text is here, with what was typed here and the log does not have yet.
        for (const { run, agent, inserted } of news) {
          const end = ends.findLast(({ text }) => text.endsWith(inserted)) ?? ends.at(-1);
          if (end) places.set(run, { agent, place: placeBehind(text, end.at) });
        }
        listener();
      };
      const changed = () => {
        const over = [...places.keys()].filter((run) => !isUnderWay(run));
        for (const run of over) places.delete(run);
        if (over.length > 0) listener();
      };
      const ends = [thread.on("entries", heard), thread.subscribe(changed)];
      text.observe(written);
      return () => {
        text.unobserve(written);
        for (const end of ends) end();
      };
    },
  };
}

/** Where each change of a text ends, and what it wrote. */
function endsOf(delta: Y.YTextEvent["delta"]): { at: number; text: string }[] {
  const ends: { at: number; text: string }[] = [];
  let at = 0;
  for (const { retain, insert, delete: deleted } of delta) {
    if (retain !== undefined) at += retain;
    else if (typeof insert === "string") {
      at += insert.length;
      ends.push({ at, text: insert });
    } else if (deleted !== undefined) ends.push({ at, text: "" });
  }
  return ends;
}
