import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
import { ySyncAnnotation } from "y-codemirror.next";

/** Sets where what is being sent ends. */
export const holdBack = StateEffect.define<number>();

/** Where what is being sent ends: until the server has taken it out of the draft it stands at its beginning. */
export const heldBack = StateField.define<number>({
  create: () => 0,
  update(end, { changes, effects }) {
    // What is written right behind it is not sent with it.
    const now = changes.mapPos(end, -1);
    return effects.reduce((held, effect) => (effect.is(holdBack) ? effect.value : held), now);
  },
  provide: (field) =>
    EditorView.decorations.from(field, (end) =>
      end === 0 ? Decoration.none : Decoration.set(Decoration.replace({}).range(0, end)),
    ),
});

/** Hides what is being sent, and keeps the caret and what is typed behind it. */
export function hidingWhatIsSent(): Extension {
  return [
    heldBack,
    EditorState.changeFilter.of((change) => {
      const end = change.startState.field(heldBack);
      return end === 0 || change.annotation(ySyncAnnotation) !== undefined ? true : [0, end];
    }),
    EditorState.transactionFilter.of((change) => {
      const end = change.state.field(heldBack);
      const { main } = change.newSelection;
      if (end === 0 || main.from >= end) return change;
      const selection = { anchor: Math.max(end, main.anchor), head: Math.max(end, main.head) };
      return [change, { selection, sequential: true }];
    }),
  ];
}
