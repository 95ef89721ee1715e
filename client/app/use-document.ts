import { useCallback, useEffect, useReducer } from "react";
import type { Json, Thread } from "../react/index.ts";
import { refusedChange } from "./refused-change.ts";
import { at, changeState, useSharedState } from "./shared-state.ts";
import { mergeTexts } from "./text-merge.ts";

/** How long one must not have typed until what one typed is saved, ms. */
export const SAVE_MS = 600;

/** What somebody has typed and the server does not have yet, and the text it was typed into. */
type Typed = { text: string; base: string };

/** What this window has of its own of a document. It outlives the field, so that nothing typed is lost with that. */
type Own = {
  typed: Typed | null;
  trouble: string | null;
  saving: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  watchers: Set<() => void>;
};

const owns = new WeakMap<Thread, Own>();

function ownOf(thread: Thread): Own {
  const known = owns.get(thread);
  if (known) return known;
  const own: Own = { typed: null, trouble: null, saving: false, timer: undefined, watchers: new Set() };
  owns.set(thread, own);
  return own;
}

function tell({ watchers }: Own): void {
  for (const watcher of watchers) watcher();
}

/** The document of a state; `undefined` when there is none. */
export function documentOf(state: Json): string | undefined {
  const document = at(state, ["document"]);
  return typeof document === "string" ? document : undefined;
}

/**
 * The document while it is edited: what is typed is saved when one pauses, together with what others have
 * written meanwhile. As long as nothing is typed it is what the thread says.
 */
export function useDocument(thread: Thread) {
  const document = useSharedState(thread, documentOf);
  const [, render] = useReducer((n: number) => n + 1, 0);
  const own = ownOf(thread);
  useEffect(() => {
    own.watchers.add(render);
    return () => void own.watchers.delete(render);
  }, [own]);

  const save = useCallback(async () => {
    clearTimeout(own.timer);
    const { typed } = own;
    if (!typed || own.saving) return;
    const now = documentOf(thread.state) ?? "";
    const value = mergeTexts(typed.base, typed.text, now);
    own.saving = true;
    own.trouble = null;
    tell(own);
    try {
      if (value !== now) await changeState(thread, [{ op: "replace", path: "/document", value }]);
      // What was typed while it was saved counts from what was saved.
      const later = own.typed?.text ?? typed.text;
      own.typed = later === typed.text ? null : { text: later, base: typed.text };
      if (own.typed) own.timer = setTimeout(save, SAVE_MS);
    } catch (error) {
      own.trouble = refusedChange(error);
    }
    own.saving = false;
    tell(own);
  }, [thread, own]);

  // What is typed is not lost when the field goes.
  useEffect(() => () => void save(), [save]);

  return {
    isThere: document !== undefined,
    text: own.typed?.text ?? document ?? "",
    unsaved: own.typed !== null,
    trouble: own.trouble,
    save,
    type(text: string) {
      own.typed = { text, base: own.typed?.base ?? document ?? "" };
      clearTimeout(own.timer);
      own.timer = setTimeout(save, SAVE_MS);
      tell(own);
    },
  };
}
