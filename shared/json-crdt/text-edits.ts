/**
 * One edit of a text: `del` characters are taken out at `at`, and `ins` is put there. Numbers are UTF-16
 * units. Several edits are made one after the other, each on the result of the one before. None begins or
 * ends inside a surrogate pair.
 */
export type TextEdit = [at: number, del: number, ins: string];

/** One part of a change as `Y.Text` takes it, from the text's start to its end. */
export type TextDelta = ({ retain: number } | { insert: string } | { delete: number })[];

/** Edits that do not fit a text. */
export class TextEditError extends Error {
  override name = "TextEditError";
  /** Index of the edit that does not fit. */
  readonly index: number;
  constructor(message: string, index: number) {
    super(`Edit ${index} ${message}.`);
    this.index = index;
  }
}

/**
 * Applies edits to a text: all of them or none.
 * @returns the new text
 * @throws TextEditError when an edit is out of range, splits a surrogate pair or inserts half of one
 */
export function applyTextEdits(text: string, edits: readonly TextEdit[]): string {
  return run(text, edits, () => {});
}

/**
 * The edits that undo others.
 * @param text the text before `edits`
 * @returns edits for the text after `edits`
 * @throws TextEditError like {@link applyTextEdits}
 */
export function invertTextEdits(text: string, edits: readonly TextEdit[]): TextEdit[] {
  const inverse: TextEdit[] = [];
  run(text, edits, ([at, , ins], deleted) => inverse.push([at, ins.length, deleted]));
  return inverse.reverse();
}

/** Makes edits one after the other; those that go forward, as most do, share one pass over the text. */
function run(
  text: string,
  edits: readonly TextEdit[],
  each: (edit: TextEdit, deleted: string) => void,
): string {
  let base = text;
  let done: string[] = [];
  // Characters in `done`, and how many of `base` they stand for.
  let length = 0;
  let used = 0;
  edits.forEach((edit, index) => {
    const [at, del, ins] = checked(edit, index);
    if (at < length) {
      base = done.join("") + base.slice(used);
      done = [];
      length = 0;
      used = 0;
    }
    const start = at - length + used;
    const end = start + del;
    if (end > base.length) throw new TextEditError("reaches behind the end of the text", index);
    // What lies at `used` was looked at with the edit before.
    if ((start > used && splitsPair(base, start)) || (del > 0 && splitsPair(base, end)))
      throw new TextEditError("begins or ends inside a surrogate pair", index);
    each(edit, base.slice(start, end));
    done.push(base.slice(used, start), ins);
    length = at + ins.length;
    used = end;
  });
  return done.join("") + base.slice(used);
}

function checked(edit: TextEdit, index: number): TextEdit {
  if (!Array.isArray(edit) || edit.length !== 3 || typeof edit[2] !== "string")
    throw new TextEditError("is not [at, del, ins]", index);
  for (const number of edit.slice(0, 2))
    if (!Number.isSafeInteger(number) || (number as number) < 0)
      throw new TextEditError("has an offset or a length that is not a whole number from 0", index);
  if (/\p{Surrogate}/u.test(edit[2])) throw new TextEditError("inserts half a surrogate pair", index);
  return edit;
}

/** Whether an offset is between the halves of a surrogate pair. */
export function splitsPair(text: string, offset: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, offset - 1), offset + 1));
}

/**
 * Moves edits over others that were made to the same text, so that they do to their result what they would
 * have done to the text: `apply(apply(text, over), moveTextEdits(edits, over))` has all insertions of both,
 * and lacks what either deleted.
 *
 * Two replicas that apply the same two changes in different order end with the same text when one of them
 * takes `"behind"` for the change that came later in the agreed order, the other `"ahead"` for the earlier.
 *
 * @param edits what is moved
 * @param over what was done meanwhile
 * @param side where an insertion of `edits` goes when one of `over` is at the same place; default "behind"
 * @returns edits in ascending order; none when nothing is left to do
 */
export function moveTextEdits(
  edits: readonly TextEdit[],
  over: readonly TextEdit[],
  side: "behind" | "ahead" = "behind",
): TextEdit[] {
  const mine = new Cursor(deltaOfEdits(edits));
  const theirs = new Cursor(deltaOfEdits(over));
  const moved: TextDelta = [];
  for (let part = mine.part; part !== undefined; part = mine.part) {
    const other = theirs.part;
    if (other && "insert" in other && (side === "behind" || !("insert" in part))) {
      moved.push({ retain: other.insert.length });
      theirs.take(other.insert.length);
    } else if ("insert" in part) {
      moved.push(part);
      mine.take(part.insert.length);
    } else {
      const length = Math.min(lengthOf(part), other ? lengthOf(other) : Number.POSITIVE_INFINITY);
      if (!other || "retain" in other) moved.push("retain" in part ? { retain: length } : { delete: length });
      mine.take(length);
      theirs.take(length);
    }
  }
  return editsOfDelta(moved);
}

function lengthOf(part: TextDelta[number]): number {
  if ("insert" in part) return part.insert.length;
  return "retain" in part ? part.retain : part.delete;
}

/** Reads a delta in parts of any length. */
class Cursor {
  part: TextDelta[number] | undefined;
  private readonly delta: TextDelta;
  private next = 0;

  constructor(delta: TextDelta) {
    this.delta = delta;
    this.part = delta[this.next++];
  }

  take(length: number): void {
    if (this.part === undefined) return;
    const left = lengthOf(this.part) - length;
    if (left === 0) this.part = this.delta[this.next++];
    else this.part = "retain" in this.part ? { retain: left } : { delete: left };
  }
}

/**
 * The edits of a `Y.Text` delta (of an event, or as `applyDelta` takes it). Formatting is left out.
 * @returns edits in ascending order
 * @throws TextEditError when it inserts anything but text; `index` is that of the part
 */
export function editsOfDelta(
  delta: readonly { retain?: number; insert?: unknown; delete?: number }[],
): TextEdit[] {
  const edits: TextEdit[] = [];
  let edit: TextEdit = [0, 0, ""];
  const close = () => {
    if (edit[1] > 0 || edit[2] !== "") edits.push(edit);
  };
  delta.forEach((part, index) => {
    if (part.insert !== undefined) {
      if (typeof part.insert !== "string") throw new TextEditError("inserts what is not text", index);
      edit[2] += part.insert;
    } else if (part.delete !== undefined) edit[1] += part.delete;
    else if (part.retain) {
      close();
      edit = [edit[0] + edit[2].length + part.retain, 0, ""];
    }
  });
  close();
  return edits;
}

/** A stretch of the text before the edits, or one that they put in. */
type Stretch = { base: number; length: number } | { text: string };

/**
 * The delta that does the same as edits, for `Y.Text.applyDelta`. What is put in where something is taken
 * out goes before it. Whether
 * the edits fit the text is not checked, as it is not needed.
 * @returns parts of at least one character, the last one not a retain
 * @throws TextEditError when an edit is none of any text
 */
export function deltaOfEdits(edits: readonly TextEdit[]): TextDelta {
  const stretches: Stretch[] = [{ base: 0, length: Number.POSITIVE_INFINITY }];
  // Where the last edit was: the next one is mostly behind it.
  let index = 0;
  let offset = 0;
  /** Makes a stretch begin at a place and goes there. */
  const seek = (at: number) => {
    if (at < offset) {
      index = 0;
      offset = 0;
    }
    for (; ; index++) {
      const length = stretchLength(stretches[index]!);
      if (at === offset) return;
      if (at < offset + length) break;
      offset += length;
    }
    stretches.splice(index, 1, ...split(stretches[index]!, at - offset));
    index++;
    offset = at;
  };
  edits.forEach((edit, i) => {
    const [at, del, ins] = checked(edit, i);
    seek(at);
    const start = index;
    seek(at + del);
    stretches.splice(start, index - start, ...(ins === "" ? [] : [{ text: ins }]));
    index = start;
    offset = at;
  });
  return deltaOfStretches(stretches);
}

function deltaOfStretches(stretches: readonly Stretch[]): TextDelta {
  const delta: TextDelta = [];
  let text = "";
  let at = 0;
  let kept = 0;
  for (const stretch of stretches) {
    if ("text" in stretch) {
      text += stretch.text;
      continue;
    }
    if (text !== "" || stretch.base > at) {
      if (kept > 0) delta.push({ retain: kept });
      if (text !== "") delta.push({ insert: text });
      if (stretch.base > at) delta.push({ delete: stretch.base - at });
      kept = 0;
    }
    text = "";
    kept += stretch.length;
    at = stretch.base + stretch.length;
  }
  return delta;
}

function stretchLength(stretch: Stretch): number {
  return "text" in stretch ? stretch.text.length : stretch.length;
}

function split(stretch: Stretch, at: number): [Stretch, Stretch] {
  if ("text" in stretch) return [{ text: stretch.text.slice(0, at) }, { text: stretch.text.slice(at) }];
  return [
    { base: stretch.base, length: at },
    { base: stretch.base + at, length: stretch.length - at },
  ];
}
