import { Annotation, type Extension, type Range, RangeSet } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from "@codemirror/view";
import type { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { peopleColours } from "../thread-context.ts";

/** Where somebody else is in a text, in UTF-16 units; `null` for a place in something that has not come yet. */
export type Caret = {
  key: string;
  name: string;
  colour: string;
  place: { anchor: number; head: number } | null;
};

/** Carets of others, and when they move. */
export type CaretSource = {
  list(): readonly Caret[];
  subscribe(listener: () => void): () => void;
};

type Cursor = { anchor: unknown; head: unknown };

type Told = { cursor?: Cursor | null; user?: { id?: unknown; name?: unknown; kind?: unknown } };

/**
 * The carets people and agents have in a text, in the colours this window gives them.
 * @param agentColour the colour of an agent
 */
export function caretsIn(
  text: Y.Text,
  awareness: Awareness,
  agentColour: (agent: string) => string,
): CaretSource {
  const place = (cursor: Cursor) => {
    const anchor = indexIn(text, Y.createRelativePositionFromJSON(cursor.anchor));
    const head = indexIn(text, Y.createRelativePositionFromJSON(cursor.head));
    if (anchor === "elsewhere" || head === "elsewhere") return undefined;
    return anchor === null || head === null ? null : { anchor, head };
  };
  return {
    list() {
      const carets: Caret[] = [];
      const own = (awareness.getLocalState()?.user as { id?: unknown } | undefined)?.id;
      for (const [client, state] of awareness.getStates()) {
        const { cursor, user } = state as Told;
        if (client === awareness.clientID || !cursor?.anchor || !cursor.head) continue;
        // The server says who they are; one that it has not heard of is nobody yet.
        if (typeof user?.id !== "string" || typeof user.name !== "string") continue;
        // One knows where one is oneself; after a reload that would be where one was.
        const isAgent = user.kind === "agent";
        if (user.id === own && !isAgent) continue;
        const found = place(cursor);
        if (found === undefined) continue;
        carets.push({
          key: String(client),
          name: user.name,
          colour: isAgent ? agentColour(user.id) : peopleColours.of(user.id),
          place: found,
        });
      }
      return carets;
    },
    subscribe(listener) {
      const heard = ({ added, updated, removed }: Record<"added" | "updated" | "removed", number[]>) => {
        if ([...added, ...updated, ...removed].some((id) => id !== awareness.clientID)) listener();
      };
      awareness.on("change", heard);
      return () => awareness.off("change", heard);
    },
  };
}

/** Where a place is in a text by now: `null` when it lies in something that has not come yet. */
export function indexIn(text: Y.Text, place: Y.RelativePosition): number | null | "elsewhere" {
  if (!text.doc) return "elsewhere";
  const found = Y.createAbsolutePositionFromRelativePosition(place, text.doc);
  if (!found) return null;
  return found.type === text ? found.index : "elsewhere";
}

/** A place in a text that stays behind what stands before it, whatever is written at it. */
export function placeBehind(text: Y.Text, index: number): Y.RelativePosition {
  return Y.createRelativePositionFromTypeIndex(text, index, -1);
}

/** Tells others where one is in a text, for as long as one is. */
export function ownCaret(text: Y.Text, awareness: Awareness): Extension {
  return ViewPlugin.fromClass(
    class {
      told: unknown = null;

      update({ view, state, focusChanged, selectionSet, docChanged }: ViewUpdate) {
        if (!view.hasFocus || !(focusChanged || selectionSet || docChanged)) return;
        const { anchor, head } = state.selection.main;
        const cursor = { anchor: placeBehind(text, anchor), head: placeBehind(text, head) };
        const before = this.told as typeof cursor | null;
        const same =
          before !== null &&
          awareness.getLocalState()?.cursor === before &&
          Y.compareRelativePositions(before.anchor, cursor.anchor) &&
          Y.compareRelativePositions(before.head, cursor.head);
        if (same) return;
        this.told = cursor;
        awareness.setLocalStateField("cursor", cursor);
      }

      destroy() {
        if (this.told !== null && awareness.getLocalState()?.cursor === this.told)
          awareness.setLocalStateField("cursor", null);
      }
    },
  );
}

/** Something moved that is no part of the text. */
const moved = Annotation.define<null>();

type Shown = { name: string; colour: string; anchor: number; head: number; moves: number };

/**
 * Draws carets and selections of others. A caret shows its name for a moment whenever it moves.
 * @param source whose carets; of those the place of which is not known yet the last one is shown
 */
export function remoteCarets(source: CaretSource): Extension {
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet = RangeSet.empty;
      shown = new Map<string, Shown>();
      end: () => void;

      constructor(view: EditorView) {
        const look = () => view.dispatch({ annotations: moved.of(null) });
        this.end = source.subscribe(look);
        this.look(view.state.doc.length);
      }

      update({ docChanged, transactions, changes, state }: ViewUpdate) {
        if (!docChanged && !transactions.some((each) => each.annotation(moved) !== undefined)) return;
        if (docChanged)
          for (const caret of this.shown.values()) {
            caret.anchor = changes.mapPos(Math.min(caret.anchor, changes.length), -1);
            caret.head = changes.mapPos(Math.min(caret.head, changes.length), -1);
          }
        this.look(state.doc.length);
      }

      look(length: number) {
        const before = this.shown;
        this.shown = new Map();
        for (const { key, name, colour, place } of source.list()) {
          const known = before.get(key);
          if (!place && !known) continue;
          const anchor = Math.min(place?.anchor ?? known?.anchor ?? 0, length);
          const head = Math.min(place?.head ?? known?.head ?? 0, length);
          const stays = known?.head === head && known.anchor === anchor;
          const moves = (known?.moves ?? 0) + (stays ? 0 : 1);
          this.shown.set(key, { name, colour, anchor, head, moves });
        }
        const ranges = [...this.shown].flatMap(([key, caret]) => drawn(key, caret));
        this.decorations = Decoration.set(ranges, true);
      }

      destroy() {
        this.end();
      }
    },
    { decorations: ({ decorations }) => decorations },
  );
}

function drawn(key: string, { name, colour, anchor, head, moves }: Shown): Range<Decoration>[] {
  const widget = new CaretWidget(key, name, colour, moves);
  const caret = Decoration.widget({ widget, side: head > anchor ? -1 : 1 }).range(head);
  if (anchor === head) return [caret];
  const style = `background-color: color-mix(in srgb, ${colour} 24%, transparent)`;
  const [from, to] = anchor < head ? [anchor, head] : [head, anchor];
  return [Decoration.mark({ attributes: { style }, class: "caret-selection" }).range(from, to), caret];
}

class CaretWidget extends WidgetType {
  readonly key: string;
  readonly name: string;
  readonly colour: string;
  readonly moves: number;

  constructor(key: string, name: string, colour: string, moves: number) {
    super();
    this.key = key;
    this.name = name;
    this.colour = colour;
    this.moves = moves;
  }

  // Another element for each move: so its name shows anew.
  override eq({ key, name, colour, moves }: CaretWidget) {
    return key === this.key && name === this.name && colour === this.colour && moves === this.moves;
  }

  override toDOM(view: EditorView) {
    const caret = document.createElement("span");
    caret.className = "caret";
    caret.dataset.caret = this.name;
    caret.style.setProperty("--caret", this.colour);
    caret.setAttribute("aria-hidden", "true");
    const label = document.createElement("span");
    label.className = "caret-name";
    label.textContent = this.name;
    caret.append(label);
    // At the right edge there is room on the left only.
    view.requestMeasure({
      read: () => label.getBoundingClientRect().right > view.scrollDOM.getBoundingClientRect().right,
      write: (isOver) => void (isOver && caret.classList.add("caret-turned")),
    });
    return caret;
  }

  override ignoreEvent() {
    return true;
  }
}
